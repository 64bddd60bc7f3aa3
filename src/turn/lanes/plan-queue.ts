/**
 * What a session's queue asks for next. A turn that was begun before, by this process or one that died,
 * is begun again with the very same messages: its transcript holds them already, and a message that came
 * later would be taken for written.
 */
import type { QueueConfig } from "../../config/config.ts";
import type { InboxItem } from "../../store/store.ts";
import { type WaitingItem, isQuick } from "./classify.ts";

export interface QueuePlan {
  /** To be dealt with at once, without a turn. */
  quick: WaitingItem[];
  /** More than may wait. */
  shed: WaitingItem[];
  /** What comes next, together; empty when nothing waits for a turn. */
  next: WaitingItem[];
  /** Not before this instant (ms). */
  notBefore: number;
  /** How many wait for a turn after this plan, those that come next included. */
  waiting: number;
}

export interface PlanRequest {
  /** Queued, in order of admission. */
  queued: readonly WaitingItem[];
  settings: QueueConfig;
  /** Whether a turn of the session runs: what waits cannot begin. */
  isRunning: boolean;
  now: number;
}

export function planQueue({ queued, settings, isRunning, now }: PlanRequest): QueuePlan {
  const quick = queued.filter(isQuick);
  const inOrder = queued.filter((waiting) => !isQuick(waiting));
  const shed = chooseShed(inOrder, settings, isRunning);
  const left = inOrder.filter((waiting) => !shed.includes(waiting));
  const next = chooseNext(left, settings);
  return { quick, shed, next, notBefore: beginsAt(next, settings, now), waiting: left.length };
}

export function wasBegun({ attempts, note }: InboxItem): boolean {
  return attempts > 0 || note !== undefined;
}

/** Of those that wait, not counting the one that can begin now. Commands are never shed. */
function chooseShed(inOrder: readonly WaitingItem[], settings: QueueConfig, isRunning: boolean): WaitingItem[] {
  const candidates = inOrder.filter(({ need, item }) => need.what === "turn" && !wasBegun(item));
  const begun = inOrder.some(({ item }) => wasBegun(item));
  const allowed = settings.cap + (isRunning || begun ? 0 : 1);
  const tooMany = Math.max(0, candidates.length - allowed);
  if (tooMany === 0) return [];
  return settings.drop === "new" ? candidates.slice(-tooMany) : candidates.slice(0, tooMany);
}

/** One message, or all that can go into one turn where the mode says so. */
function chooseNext(left: readonly WaitingItem[], { mode }: QueueConfig): WaitingItem[] {
  const [head] = left;
  if (head === undefined) return [];
  const isTogether = mode === "collect" || mode === "interrupt";
  if (!isTogether || !canJoin(head)) return [head];
  const end = left.findIndex((waiting) => !canJoin(waiting) || !isAlike(waiting, head));
  return left.slice(0, end === -1 ? undefined : end);
}

function canJoin({ need }: WaitingItem): boolean {
  return need.what === "turn" && !need.alone;
}

/** Answers go to one place. */
function isAlike(a: WaitingItem, b: WaitingItem): boolean {
  return (
    wasBegun(a.item) === wasBegun(b.item) &&
    a.deliver === b.deliver &&
    a.item.address.channel === b.item.address.channel &&
    a.item.address.accountId === b.item.address.accountId &&
    a.item.address.chatId === b.item.address.chatId
  );
}

/** A flood does not put the turn off for ever. */
const LONGEST_DEBOUNCES = 10;

function beginsAt(next: readonly WaitingItem[], { mode, debounceMs }: QueueConfig, now: number): number {
  const [first] = next;
  const last = next.at(-1);
  if (mode !== "collect" || first === undefined || last === undefined) return now;
  if (!canJoin(first) || wasBegun(first.item)) return now;
  const quiet = last.item.receivedAt + debounceMs;
  const longest = first.item.receivedAt + debounceMs * LONGEST_DEBOUNCES;
  // A time of receipt in the future is another machine's idea of the time.
  return Math.min(quiet, longest, now + debounceMs);
}
