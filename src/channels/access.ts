/**
 * Who may talk to an agent, the same for every channel. Invariants:
 * - An empty allow list without pairing admits no one.
 * - A code is offered only in a direct chat; in a group it would invite everyone who reads it.
 * - Whether commands such as `/new` are obeyed depends on the person, never on the group.
 * - Pairing uses the platform's id. A username can change hands, so it counts only in the owner's allow list.
 */
import type { Logger } from "../base/log.ts";
import type { PairingStore } from "./pairing-store.ts";

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
  chatType: "direct" | "group" | "channel";
  /** The platform's ids of the group; the allow list may admit all its members. */
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
  let decided = decideAccess(request, allowFrom);
  // The file of approved senders is read only for senders whom the configuration does not name.
  if (pairing !== undefined && !(decided.decision === "allow" && decided.commandAuthorized)) {
    const approvedIds = (await pairing.store.approved()).map(({ id }) => id);
    decided = decideAccess(request, allowFrom, approvedIds, pairing.offers);
  }
  if (decided.decision === "allow") return { commandAuthorized: decided.commandAuthorized };
  let reason = decided.decision === "ignore" ? decided.reason : "a pairing code was sent";
  if (decided.decision === "offer" && pairing !== undefined) {
    const offer = await pairing.store.offer({ id: sender.ids[0], username: sender.username, name: sender.name });
    if (offer.kind === "silent") reason = offer.reason;
    else {
      await reply(pairingText(channel, offer.code), offer.code).catch((error: unknown) => {
        logger.warn("cannot send the pairing code to a stranger", { channel, error });
      });
    }
  }
  logger.debug("message ignored", { channel, senderId: sender.ids[0], reason });
  return undefined;
}

function pairingText(channel: string, code: string): string {
  return [
    "This agent only answers people its owner has approved.",
    `Your pairing code is ${code}. Give it to the owner, who approves it with:`,
    `holdfast channels approve ${channel} ${code}`,
    "The code is valid for one hour. Write again once you are approved.",
  ].join("\n");
}

type AccessDecision =
  | { decision: "allow"; commandAuthorized: boolean }
  | { decision: "offer" }
  | { decision: "ignore"; reason: string };

/** The rules only: no file, no clock. */
export function decideAccess(
  request: AccessRequest,
  allowFrom: readonly string[] = [],
  approvedIds: readonly string[] = [],
  offersPairing = false,
): AccessDecision {
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
