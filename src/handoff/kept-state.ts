/**
 * A state in the store: sealed with a checksum when it is written and checked when it is read. A state of another
 * program or version, or one that was edited or torn, is not used.
 */
import { nodeCrypto } from "../base/builtin.ts";
import { isRecord } from "../base/json-record.ts";
import type { HandoffConfig } from "../config/config.ts";
import { isLine } from "./items.ts";
import { STATE_VERSION, type SessionState } from "./state.ts";

export function sealState(state: Omit<SessionState, "checksum">): SessionState {
  const rest: Partial<SessionState> = { ...state };
  delete rest.checksum;
  return { ...state, checksum: checksumOf(rest) };
}

/** Undefined if it is not a state of this version, or not as it was sealed. */
export function readState(kept: unknown): SessionState | undefined {
  if (!isRecord(kept) || kept["version"] !== STATE_VERSION) return undefined;
  const { checksum, ...rest } = kept;
  return checksum === checksumOf(rest) ? (kept as unknown as SessionState) : undefined;
}

/** Also from an invalid state: a cleared hand-off must not come back after an edit. */
export function clearedAtOf(kept: unknown): string | undefined {
  const instant = isRecord(kept) ? kept["clearedAt"] : undefined;
  return typeof instant === "string" && !Number.isNaN(Date.parse(instant)) ? instant : undefined;
}

/** Has something to continue, in any project. `items` are of one project. */
export function isSubstantial({ items, carried }: Pick<SessionState, "items" | "carried">): boolean {
  return carried.open.length > 0 || items.some(isLine);
}

/** Has something to continue that is not only inherited. */
export function isSubstantialItself(state: SessionState): boolean {
  const { goesOn, isAbout, open } = state.carried;
  if (goesOn === true) return isSubstantial(state);
  // Greetings and "where were we?" add nothing, whatever the agent answers.
  if (isAbout !== true) return false;
  if (hasFinished(state)) return isSubstantial(state);
  const own = state.items.filter(({ sessionId }) => sessionId === undefined);
  const others = open.filter((project) => project !== state.project);
  return isSubstantial({ items: own, carried: { ...state.carried, open: others } });
}

/** An inherited line of the project is gone. */
function hasFinished({ carried, items, project }: SessionState): boolean {
  return carried.inherited.some((line) => {
    if (line.project !== project) return false;
    return !items.some(({ kind, entryId }) => kind === line.kind && entryId === line.entryId);
  });
}

/** Substantial and not cleared. */
export function isTellable(state: Pick<SessionState, "items" | "carried" | "resumeAvailable">): boolean {
  return state.resumeAvailable && isSubstantial(state);
}

/** Not offered to any session yet. */
export function isOpenHandoff(state: SessionState, now: number): boolean {
  return isTellable(state) && state.resumeOfferedAt === null && !isExpired(state, now);
}

export function isExpired(state: Pick<SessionState, "expiresAt">, now: number): boolean {
  return !(now <= Date.parse(state.expiresAt));
}

/** When a state expires whose last message came then. */
export function expiryOf(lastMessageAt: string, now: number, { expiresHours }: HandoffConfig): string {
  const last = Date.parse(lastMessageAt);
  // A message from the future, after the clock was set back, must not postpone the expiry.
  const from = Number.isNaN(last) ? now : Math.min(last, now);
  return new Date(from + expiresHours * 3_600_000).toISOString();
}

const RECENTLY_MS = 5 * 60_000;

/** Offered so recently that only a person's request repeats it. */
export function wasOffered({ resumeOfferedAt }: Pick<SessionState, "resumeOfferedAt">, now: number): boolean {
  if (resumeOfferedAt === null) return false;
  // If the clock was set back, an offer seems to come from the future.
  return Math.abs(now - Date.parse(resumeOfferedAt)) < RECENTLY_MS;
}

/** Independent of the order of members, which a store may change. */
function checksumOf(value: unknown): string {
  return nodeCrypto()
    .createHash("sha256")
    .update(JSON.stringify(ordered(value)))
    .digest("hex");
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, ordered(value[name])]));
}
