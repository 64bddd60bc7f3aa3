/**
 * Who may talk to an agent, the same for every channel. Invariants:
 * - Nobody is let in by default: an empty allow list and no pairing admits no one.
 * - A code is only ever offered in a direct chat; in a group it would invite everybody who reads it.
 * - Whether commands such as `/new` are obeyed depends on the person, never on the group they write in.
 * - Pairing goes by the platform's id. A username can change hands, so it counts only where the owner
 *   has written it into the allow list.
 */
import type { PairingStore } from "./pairing-store.ts";

export interface AccessOptions {
  /** Ids, usernames (`@ada` or `ada`), ids of groups, or `*` for everybody. Left out: nobody. */
  allowFrom?: readonly string[] | undefined;
  /** Left out: strangers are ignored and nobody counts as paired. */
  pairing?: PairingOptions | undefined;
}

export interface PairingOptions {
  store: PairingStore;
  /** False: those who were approved stay welcome, new ones are ignored. */
  offers: boolean;
}

export interface AccessRequest {
  /** `telegram`, `discord`, …; allow list entries may begin with it (`telegram:123`). */
  channel: string;
  sender: AccessSender;
  chatType: "direct" | "group" | "channel";
  /** The group as the platform names it; the allow list may admit all who write there. */
  groupIds?: readonly string[] | undefined;
}

export interface AccessSender {
  /** Every id of the person; the first is the one that pairing remembers. */
  ids: readonly [string, ...string[]];
  /** Without `@`. */
  username?: string | undefined;
  /** For the owner who has to decide. */
  name?: string | undefined;
}

export type AccessVerdict =
  | { kind: "allowed"; commandAuthorized: boolean }
  | { kind: "ignored"; reason: string }
  /** A stranger who should be told this text, once. */
  | { kind: "offered"; code: string; text: string };

/** The whole way: allow list, then those who were approved, then the offer of a code. */
export async function checkAccess(request: AccessRequest, options: AccessOptions): Promise<AccessVerdict> {
  const { allowFrom, pairing } = options;
  const byList = decideAccess({ request, allowFrom, approvedIds: [], offersPairing: false });
  // The list on disk is only read for those whom the configuration does not name.
  if (pairing === undefined || (byList.decision === "allow" && byList.commandAuthorized)) return verdictOf(byList);
  const approved = await pairing.store.approved();
  const approvedIds = approved.map(({ id }) => id);
  const decided = decideAccess({ request, allowFrom, approvedIds, offersPairing: pairing.offers });
  return decided.decision === "offer" ? await offer(request, pairing.store) : verdictOf(decided);
}

export interface AccessQuestion {
  request: AccessRequest;
  allowFrom?: readonly string[] | undefined;
  approvedIds: readonly string[];
  offersPairing: boolean;
}

export type AccessDecision =
  | { decision: "allow"; commandAuthorized: boolean }
  | { decision: "offer" }
  | { decision: "ignore"; reason: string };

/** The rules alone: no file, no clock. */
export function decideAccess({ request, allowFrom = [], approvedIds, offersPairing }: AccessQuestion): AccessDecision {
  const { channel, sender, chatType, groupIds = [] } = request;
  const entries = allowFrom.map((entry) => withoutChannel(entry.trim(), channel)).filter((entry) => entry !== "");
  const isKnown =
    entries.some((entry) => namesSender(entry, sender)) || approvedIds.some((id) => sender.ids.includes(id));
  if (isKnown) return { decision: "allow", commandAuthorized: true };
  const isGroup = chatType !== "direct";
  if (isGroup && entries.some((entry) => groupIds.includes(entry))) {
    return { decision: "allow", commandAuthorized: false };
  }
  if (isGroup) return { decision: "ignore", reason: "neither the sender nor the group is on the allow list" };
  return offersPairing
    ? { decision: "offer" }
    : { decision: "ignore", reason: "the sender is not on the allow list and pairing is off" };
}

/** `telegram:123` and `telegram:group:-100` name the same as the bare ids. */
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

function verdictOf(decided: AccessDecision): AccessVerdict {
  if (decided.decision === "allow") return { kind: "allowed", commandAuthorized: decided.commandAuthorized };
  return { kind: "ignored", reason: decided.decision === "ignore" ? decided.reason : "pairing is off" };
}

async function offer({ channel, sender }: AccessRequest, store: PairingStore): Promise<AccessVerdict> {
  const offered = await store.offer({ id: sender.ids[0], username: sender.username, name: sender.name });
  if (offered.kind === "silent") return { kind: "ignored", reason: offered.reason };
  return { kind: "offered", code: offered.code, text: pairingText(channel, offered.code) };
}

function pairingText(channel: string, code: string): string {
  return [
    "This agent answers only people its owner has approved.",
    `Your pairing code is ${code}. Give it to the owner, who approves it with:`,
    `holdfast channels approve ${channel} ${code}`,
    "The code is good for one hour. Then write again.",
  ].join("\n");
}
