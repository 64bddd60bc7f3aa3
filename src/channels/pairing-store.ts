/**
 * Pending and approved senders: one small file per channel account. Invariants:
 * - It changes under a file lock and is replaced durably: the gateway offers codes while the owner
 *   approves them from another process.
 * - An unreadable file is an error, never an empty list, so approved people are not shut out silently.
 * - A code is on disk before it is sent, and valid once, for an hour. Strangers can neither fill the disk
 *   nor make the agent write to them more than once a minute.
 */
import { join } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { ensurePrivateFolder, readFileIfPresent, writeFileDurable } from "../base/files.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import { withFileLock } from "../base/lock-file.ts";

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
  /** When the code was last sent. */
  toldAt: number;
}

type PairingOffer = { kind: "told"; code: string; expiresAt: number } | { kind: "silent"; reason: string };

/** The messages to the sender and the owner say "one hour". */
const CODE_LIFETIME_MS = 60 * 60_000;
const RESEND_MS = 60_000;
const MAX_PENDING = 20;

/** The folder is created if it is missing. */
export function createPairingStore(options: { folder: string; channel: string; accountId: string; clock: Clock }) {
  const { folder, channel, accountId, clock } = options;
  const path = join(folder, `${encodeURIComponent(channel)}.${encodeURIComponent(accountId)}.json`);

  const change = async <T>(edit: (content: PairingFile) => { content: PairingFile; result: T }): Promise<T> => {
    await ensurePrivateFolder(folder);
    return await withFileLock(`${path}.lock`, {}, async () => {
      const before = withoutExpired(await readPairingFile(path), clock.now());
      const { content, result } = edit(before);
      if (content !== before) await writeFileDurable(path, `${JSON.stringify(content, undefined, 2)}\n`);
      return result;
    });
  };

  return {
    approved: async () => (await readPairingFile(path)).approved,
    /** Senders with a valid code. */
    pending: async () => withoutExpired(await readPairingFile(path), clock.now()).pending,
    /** Silent if the code was sent a moment ago, or too many senders are pending. */
    offer: async (sender: PairingSender) => await change((content) => offerCode(content, sender, clock.now())),
    /** Fails with `pairing-code-unknown` for an unknown or expired code. */
    approve: async (code: string) => await change((content) => approveCode(content, code, clock.now())),
    /** False if no sender with this id was approved. */
    revoke: async (id: string) =>
      await change((content) => {
        const approved = content.approved.filter((sender) => sender.id !== id);
        const isChanged = approved.length < content.approved.length;
        return { content: isChanged ? { ...content, approved } : content, result: isChanged };
      }),
  };
}

interface PairingFile {
  version: 1;
  approved: ApprovedSender[];
  pending: PairingRequest[];
}

async function readPairingFile(path: string): Promise<PairingFile> {
  const bytes = await readFileIfPresent(path);
  if (bytes === undefined) return { version: 1, approved: [], pending: [] };
  const content = parseJson(bytes.toString("utf8"));
  if (!isPairingFile(content)) {
    throw new HoldfastError("corrupt", "pairing-file-corrupt", `${path} is not a list of paired senders`, {
      hint: "Repair it or move it away; without it only the allow list counts, and people have to pair again.",
      data: { path },
    });
  }
  return content;
}

function isPairingFile(value: unknown): value is PairingFile {
  const { version, approved, pending } = isRecord(value) ? value : {};
  if (version !== 1 || !Array.isArray(approved) || !Array.isArray(pending)) return false;
  return approved.every((sender) => hasFields(sender, { id: "" })) && pending.every((one) => hasFields(one, REQUEST));
}

const REQUEST: PairingRequest = { id: "", code: "", expiresAt: 0, toldAt: 0 };

/** Whether the value has all fields of the example, with the same types. */
function hasFields(value: unknown, example: object): boolean {
  return isRecord(value) && Object.entries(example).every(([field, like]) => typeof value[field] === typeof like);
}

/** Returns the same object if nothing has expired, so that the file is not rewritten. */
function withoutExpired(content: PairingFile, now: number): PairingFile {
  const pending = content.pending.filter(({ expiresAt }) => expiresAt > now);
  return pending.length === content.pending.length ? content : { ...content, pending };
}

function offerCode(
  content: PairingFile,
  sender: PairingSender,
  now: number,
): { content: PairingFile; result: PairingOffer } {
  const known = content.pending.find(({ id }) => id === sender.id);
  if (known === undefined && content.pending.length >= MAX_PENDING) {
    return { content, result: { kind: "silent", reason: "too many strangers are waiting to be paired" } };
  }
  if (known !== undefined && Math.abs(now - known.toldAt) < RESEND_MS) {
    return { content, result: { kind: "silent", reason: "the pairing code was sent a moment ago" } };
  }
  const { code, expiresAt } = known ?? { code: newCode(content.pending), expiresAt: now + CODE_LIFETIME_MS };
  const request: PairingRequest = { ...sender, code, expiresAt, toldAt: now };
  const pending = [...content.pending.filter(({ id }) => id !== sender.id), request];
  return { content: { ...content, pending }, result: { kind: "told", code, expiresAt } };
}

/** Without characters that look alike. */
const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

function newCode(pending: readonly PairingRequest[]): string {
  for (;;) {
    const code = Array.from(nodeCrypto().randomBytes(8), (byte) => ALPHABET[byte % ALPHABET.length]).join("");
    if (!pending.some((request) => request.code === code)) return code;
  }
}

function approveCode(
  content: PairingFile,
  rawCode: string,
  now: number,
): { content: PairingFile; result: ApprovedSender } {
  const code = rawCode.trim().toUpperCase();
  const request = content.pending.find((candidate) => candidate.code === code);
  if (request === undefined) {
    throw new HoldfastError("not-found", "pairing-code-unknown", "Unknown or expired pairing code", {
      hint: "A code is valid for one hour. The person gets a new one by writing to the agent again.",
    });
  }
  const { id, username, name } = request;
  const result: ApprovedSender = { id, username, name, approvedAt: now };
  const approved = [...content.approved.filter((sender) => sender.id !== id), result];
  const pending = content.pending.filter((candidate) => candidate !== request);
  return { content: { ...content, approved, pending }, result };
}
