/**
 * Who may talk to an agent, the same for every channel, and the file of pending and approved senders.
 * - An empty allow list without pairing admits no one.
 * - A code is offered only in a direct chat; in a group it would invite everyone who reads it.
 * - Whether commands such as `/new` are obeyed depends on the person, never on the group.
 * - Pairing uses the platform's id. A username can change hands, so it counts only in the owner's allow list.
 * - The file changes under a lock: the gateway offers codes while the owner approves them from another process. An
 *   unreadable file is an error, never an empty list, so approved people are not shut out silently.
 * - A code is on disk before it is sent, and valid once, for an hour. Strangers can neither fill the disk nor make
 *   the agent write to them more than once a minute.
 */
import type { Logger } from "../base/log.ts";
import { isDeepStrictEqual } from "node:util";
import { nodeCrypto } from "../base/builtin.ts";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import type { Documents } from "../store/documents.ts";

export interface AccessOptions {
  /** Ids, usernames (`@ada` or `ada`), ids of groups, or `*` for everybody. Default: none. */
  allowFrom?: readonly string[] | undefined;
  /** Default: unknown senders are ignored and no sender counts as paired. */
  pairing?:
    | {
        store: PairingStore;
        /** False: approved senders keep their access, new ones are ignored. */
        offers: boolean;
      }
    | undefined;
}

export interface AccessRequest {
  /** `telegram`, `discord`, …; allow list entries may begin with it (`telegram:123`). */
  channel: string;
  sender: AccessSender;
  /** The platform's ids of the group; the allow list may admit all its members. Undefined: a direct chat. */
  groupIds?: readonly string[] | undefined;
}

export interface AccessSender {
  /** Every id of the person; pairing remembers the first. */
  ids: readonly [string, ...string[]];
  /** Without `@`. */
  username?: string | undefined;
  /** Shown to the owner who approves. */
  name?: string | undefined;
}

/**
 * Checks the allow list, then approved senders; undefined for a message that is not for the agent. Sends a
 * stranger the pairing code with `reply`. A failure to send it is only logged: they can write again.
 */
export async function screenSender(
  request: AccessRequest,
  { allowFrom, pairing, logger }: AccessOptions & { logger: Logger },
  reply: (text: string, code: string) => Promise<unknown>,
): Promise<{ commandAuthorized: boolean } | undefined> {
  const { channel, sender } = request;
  const standing = standingOf(request, allowFrom);
  if (standing === "known") return { commandAuthorized: true };
  // The file of approved senders is read only for senders whom the configuration does not name.
  const approved = (await pairing?.store.approved()) ?? [];
  if (approved.some(({ id }) => sender.ids.includes(id))) return { commandAuthorized: true };
  if (standing === "member") return { commandAuthorized: false };
  const reason = await offerPairing(request, { pairing, logger }, reply);
  logger.debug("message ignored", { channel, senderId: sender.ids[0], reason });
  return undefined;
}

/** Returns why the message is ignored. */
async function offerPairing(
  { channel, sender: { ids, username, name }, groupIds }: AccessRequest,
  { pairing, logger }: AccessOptions & { logger: Logger },
  reply: (text: string, code: string) => Promise<unknown>,
): Promise<string> {
  if (groupIds !== undefined) return "neither the sender nor the group is on the allow list";
  if (pairing?.offers !== true) return "the sender is not on the allow list and pairing is off";
  const offer = await pairing.store.offer({ id: ids[0], username, name });
  if (offer.kind === "silent") return offer.reason;
  await reply(pairingText(channel, offer.code), offer.code).catch((error: unknown) => {
    logger.warn("cannot send the pairing code to a stranger", { channel, error });
  });
  return "a pairing code was sent";
}

function pairingText(channel: string, code: string): string {
  return [
    "This agent only answers people its owner has approved.",
    `Your pairing code is ${code}. Give it to the owner, who approves it with:`,
    `holdfast channels approve ${channel} ${code}`,
    "The code is valid for one hour. Write again once you are approved.",
  ].join("\n");
}

/** By the allow list only. `known`: it names the sender. `member`: it names the sender's group. */
export function standingOf(
  { channel, sender, groupIds = [] }: AccessRequest,
  allowFrom: readonly string[] = [],
): "known" | "member" | "stranger" {
  const entries = allowFrom.map((entry) => withoutChannel(entry.trim(), channel)).filter((entry) => entry !== "");
  if (entries.some((entry) => namesSender(entry, sender))) return "known";
  return entries.some((entry) => groupIds.includes(entry)) ? "member" : "stranger";
}

/** `telegram:123` and `telegram:group:-100` mean the same as the bare ids. */
function withoutChannel(entry: string, channel: string): string {
  const prefix = `${channel}:`;
  if (!entry.toLowerCase().startsWith(prefix)) return entry;
  return entry.slice(prefix.length).replace(/^(?:group|channel|dm|direct|user):/i, "");
}

function namesSender(entry: string, { ids, username }: AccessSender): boolean {
  if (entry === "*" || ids.includes(entry)) return true;
  // On some platforms a name may consist of digits: a number in the list is always an id.
  if (username === undefined || username === "" || /^[+-]?\d+$/.test(entry)) return false;
  return entry.replace(/^@/, "").toLowerCase() === username.toLowerCase();
}

export type PairingStore = ReturnType<typeof createPairingStore>;

export interface PairingSender {
  id: string;
  username?: string | undefined;
  name?: string | undefined;
}

export interface ApprovedSender extends PairingSender {
  approvedAt: number;
}

export interface PairingRequest extends PairingSender {
  code: string;
  expiresAt: number;
  toldAt: number;
}

type PairingOffer = { kind: "told"; code: string; expiresAt: number } | { kind: "silent"; reason: string };

/** The messages to the sender and the owner say "one hour". */
const CODE_LIFETIME_MS = 60 * 60_000;
const RESEND_MS = 60_000;
const MAX_PENDING = 20;

export interface PairingStoreOptions {
  documents: Documents;
  channel: string;
  accountId: string;
  clock: Clock;
}

export function createPairingStore({ documents, channel, accountId, clock }: PairingStoreOptions) {
  const name = `${encodeURIComponent(channel)}.${encodeURIComponent(accountId)}.json`;
  const parse = (text: string | undefined): PairingFile =>
    parsePairing(text, { path: documents.locationOf(name), now: clock.now() });
  const read = async (): Promise<PairingFile> => parse(await documents.read(name));
  const change = async <T>(edit: (content: PairingFile) => T): Promise<T> =>
    await documents.update(name, (before) => {
      const content = parse(before);
      const value = edit(content);
      const isSame = isDeepStrictEqual(content, parse(before));
      return { value, text: isSame ? undefined : `${JSON.stringify(content, undefined, 2)}\n` };
    });

  return {
    approved: async () => (await read()).approved,
    pending: async () => (await read()).pending,
    /** Silent if the code was sent a moment ago, or too many senders are pending. */
    offer: async (sender: PairingSender) => await change((content) => offerCode(content, sender, clock.now())),
    /** Fails with `pairing-code-unknown` for an unknown or expired code. */
    approve: async (code: string) => await change((content) => approveCode(content, code, clock.now())),
    revoke: async (id: string) =>
      await change((content) => {
        const count = content.approved.length;
        content.approved = content.approved.filter((sender) => sender.id !== id);
        return content.approved.length < count;
      }),
  };
}

interface PairingFile {
  version: 1;
  approved: ApprovedSender[];
  pending: PairingRequest[];
}

/** Without expired codes. */
function parsePairing(text: string | undefined, { path, now }: { path: string; now: number }): PairingFile {
  if (text === undefined) return { version: 1, approved: [], pending: [] };
  const content = parseJson(text);
  if (isPairingFile(content)) {
    return { ...content, pending: content.pending.filter(({ expiresAt }) => expiresAt > now) };
  }
  throw new HoldfastError("corrupt", "pairing-file-corrupt", `${path} is not a list of paired senders`, {
    hint: "Repair it or move it away; without it only the allow list counts, and people have to pair again.",
    data: { path },
  });
}

function isPairingFile(value: unknown): value is PairingFile {
  const { version, approved, pending } = isRecord(value) ? value : {};
  if (version !== 1 || !Array.isArray(approved) || !Array.isArray(pending)) return false;
  return approved.every((sender) => hasFields(sender, { id: "" })) && pending.every((one) => hasFields(one, REQUEST));
}

const REQUEST: PairingRequest = { id: "", code: "", expiresAt: 0, toldAt: 0 };

function hasFields(value: unknown, example: object): boolean {
  return isRecord(value) && Object.entries(example).every(([field, like]) => typeof value[field] === typeof like);
}

function offerCode(content: PairingFile, sender: PairingSender, now: number): PairingOffer {
  const known = content.pending.find(({ id }) => id === sender.id);
  if (known === undefined && content.pending.length >= MAX_PENDING) {
    return { kind: "silent", reason: "too many strangers are waiting to be paired" };
  }
  if (known !== undefined && Math.abs(now - known.toldAt) < RESEND_MS) {
    return { kind: "silent", reason: "the pairing code was sent a moment ago" };
  }
  const { code, expiresAt } = known ?? { code: newCode(content.pending), expiresAt: now + CODE_LIFETIME_MS };
  const others = content.pending.filter((request) => request !== known);
  content.pending = [...others, { ...sender, code, expiresAt, toldAt: now }];
  return { kind: "told", code, expiresAt };
}

/** Without characters that look alike. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

function newCode(pending: readonly PairingRequest[]): string {
  for (;;) {
    const code = Array.from(nodeCrypto().randomBytes(8), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
    if (!pending.some((request) => request.code === code)) return code;
  }
}

function approveCode(content: PairingFile, rawCode: string, now: number): ApprovedSender {
  const code = rawCode.trim().toUpperCase();
  const request = content.pending.find((candidate) => candidate.code === code);
  if (request === undefined) {
    throw new HoldfastError("not-found", "pairing-code-unknown", "Unknown or expired pairing code", {
      hint: "A code is valid for one hour. The person gets a new one by writing to the agent again.",
    });
  }
  const { id, username, name } = request;
  const approved: ApprovedSender = { id, username, name, approvedAt: now };
  content.approved = [...content.approved.filter((sender) => sender.id !== id), approved];
  content.pending = content.pending.filter((candidate) => candidate !== request);
  return approved;
}
