/**
 * A state as it lies in the store: sealed with a checksum on the way in, looked at before it is believed on
 * the way out. What another program, a version of tomorrow or a torn write left there is nobody's state.
 */
import { nodeCrypto } from "../base/builtin.ts";
import { isRecord } from "../base/json-record.ts";
import { STATE_VERSION, SUMMARY_KINDS, type SessionState, type SummaryItem } from "./state.ts";

export type UnsealedState = Omit<SessionState, "checksum">;

export function sealState(state: UnsealedState | SessionState): SessionState {
  const rest: Partial<SessionState> = { ...state };
  delete rest.checksum;
  return { ...(rest as UnsealedState), checksum: checksumOf(rest) };
}

/** Undefined for what is no state of this version, or not the one that was sealed. */
export function readState(kept: unknown): SessionState | undefined {
  if (!isRecord(kept) || kept["version"] !== STATE_VERSION) return undefined;
  const { checksum, ...rest } = kept;
  return checksum === checksumOf(rest) ? (kept as unknown as SessionState) : undefined;
}

/** Whoever changes a state may forget what was read, not what a person wanted to be forgotten. */
export function clearedAtOf(kept: unknown): string | undefined {
  const instant = isRecord(kept) ? kept["clearedAt"] : undefined;
  return typeof instant === "string" && !Number.isNaN(Date.parse(instant)) ? instant : undefined;
}

/** What is left of any project; its lines, `items`, are of one alone. */
type LeftState = Pick<SessionState, "items" | "carried">;

/** Something to go on with, in any project. */
export function isSubstantial({ items, carried }: LeftState): boolean {
  return carried.open.length > 0 || items.some(isLine);
}

/** Of a section, not a mere fact. */
export function isLine({ kind }: Pick<SummaryItem, "kind">): boolean {
  return SECTION_KINDS.has(kind);
}

const SECTION_KINDS: ReadonlySet<string> = new Set(SUMMARY_KINDS.filter((kind) => kind !== "topic"));

export function isAnythingLeft({ items, carried }: LeftState): boolean {
  return carried.open.length > 0 || items.some(isLine);
}

/** Whether there is anything that somebody could be told. What was cleared leaves only its place. */
export function isTellable(state: LeftState & Pick<SessionState, "resumeAvailable">): boolean {
  return state.resumeAvailable && isAnythingLeft(state);
}

/** Something to go on with is left, and no session was told of it yet. */
export function isOpenHandoff(state: SessionState, now: number): boolean {
  return isTellable(state) && isSubstantial(state) && state.resumeOfferedAt === null && !isExpired(state, now);
}

/** What was worked on last comes first. */
export function projectsIn({ carried }: LeftState): string[] {
  return carried.open;
}

export function isExpired(state: Pick<SessionState, "expiresAt">, now: number): boolean {
  return !(now <= Date.parse(state.expiresAt));
}

const RECENTLY_MS = 5 * 60_000;

/** Offered so recently that it is offered again only if a person asks. */
export function wasOffered({ resumeOfferedAt }: Pick<SessionState, "resumeOfferedAt">, now: number): boolean {
  if (resumeOfferedAt === null) return false;
  // After the clock was set back, an offer may seem to come from the future.
  return Math.abs(now - Date.parse(resumeOfferedAt)) < RECENTLY_MS;
}

/** Of the content, however the store orders its members. */
function checksumOf(value: unknown): string {
  return nodeCrypto().createHash("sha256").update(orderedJson(value)).digest("hex");
}

function orderedJson(value: unknown): string {
  return JSON.stringify(ordered(value));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, ordered(value[name])]));
}
