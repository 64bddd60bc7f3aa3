/**
 * Counts tokens once per message. Claude Code writes a line per content block, each with the id and the whole usage of
 * its message, and a fork copies such lines into another file. So usage is kept by message id while a file is read, and
 * then summed by day and model.
 */

export interface MessageUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `cacheWrite` cached for an hour, at another price. */
  cacheWriteHour: number;
  model?: string | undefined;
  /** In ms. */
  at?: number | undefined;
}

/** By message id, in order of first appearance. */
export type UsageLedger = Map<string, MessageUsage>;

/** Keeps the line with the most output: lines of one message may have been written while it grew. */
export function recordUsage(ledger: UsageLedger, messageId: string, usage: MessageUsage): void {
  const known = ledger.get(messageId);
  if (known === undefined || usage.output > known.output) ledger.set(messageId, usage);
}

/** The usage of a model on one local day. A tuple, because the index stores many of them as JSON. */
export type DayUsage = [
  day: string,
  model: string,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  cacheWriteHour: number,
  messages: number,
];

export type UsageSums = ReturnType<typeof emptySums>;

export function emptySums() {
  return {
    /** Sums over all messages, each counted once. */
    usage: [] as DayUsage[],
    /** The latest messages. Later lines may still belong to them. */
    recent: [] as [messageId: string, usage: MessageUsage][],
    /** The latest timestamp of a message that is not in `recent`; 0 when there is none. */
    settledAt: 0,
  };
}

/** The lines of a message follow each other, except with parallel writers. */
const RECENT_MESSAGES = 5;

/**
 * Adds the messages of newly read lines to the sums. The lines of a message may be on both sides of the place where the
 * last scan stopped, so the latest messages are remembered. Returns false when a line may belong to an older message,
 * as its timestamp shows: then the file has to be read from its start.
 */
export function settleUsage(sums: UsageSums, ledger: UsageLedger): boolean {
  const recent: UsageLedger = new Map(sums.recent);
  const startsAfresh = sums.usage.length === 0;
  for (const [messageId, usage] of ledger) {
    const known = recent.get(messageId);
    if (known !== undefined && usage.output <= known.output) continue;
    if (known !== undefined) addToDay(sums.usage, known, -1);
    else if (!startsAfresh && (usage.at ?? 0) <= sums.settledAt) return false;
    addToDay(sums.usage, usage, 1);
    recent.set(messageId, usage);
  }
  if (ledger.size === 0) return true;
  sums.usage = sums.usage.filter((sum) => sum[7] > 0).sort((a, b) => (a[0] + a[1] < b[0] + b[1] ? -1 : 1));
  const messages = [...recent];
  const forgotten = messages.slice(0, -RECENT_MESSAGES);
  for (const [, { at = Number.MAX_SAFE_INTEGER }] of forgotten) sums.settledAt = Math.max(sums.settledAt, at);
  sums.recent = messages.slice(-RECENT_MESSAGES);
  return true;
}

export function sumByDay(messages: Iterable<MessageUsage>): DayUsage[] {
  const sums: DayUsage[] = [];
  for (const usage of messages) addToDay(sums, usage, 1);
  return sums;
}

/** `sign` -1 removes the message again. */
function addToDay(sums: DayUsage[], usage: MessageUsage, sign: 1 | -1): void {
  const day = usage.at === undefined ? "" : localDay(usage.at);
  const model = usage.model ?? "";
  let sum = sums.find((candidate) => candidate[0] === day && candidate[1] === model);
  if (sum === undefined) {
    sum = [day, model, 0, 0, 0, 0, 0, 0];
    sums.push(sum);
  }
  sum[2] += sign * usage.input;
  sum[3] += sign * usage.output;
  sum[4] += sign * usage.cacheRead;
  sum[5] += sign * usage.cacheWrite;
  sum[6] += sign * usage.cacheWriteHour;
  sum[7] += sign;
}

/** No time zone changes its offset within a quarter of an hour. */
const QUARTER_MS = 15 * 60_000;
let knownQuarter = Number.NaN;
let knownDay = "";

/** `2026-11-15` in the local time zone. */
export function localDay(at: number): string {
  const quarter = Math.floor(at / QUARTER_MS);
  if (quarter === knownQuarter) return knownDay;
  const date = new Date(at);
  knownQuarter = quarter;
  knownDay = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return knownDay;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
