/**
 * Tokens, counted once per message. Claude Code writes a line per content block, each with the id and
 * the whole usage of its message, and a fork copies such lines into another file. So usage is kept by
 * message id while a file is read, and summed by day and model when it has been read.
 */

export interface MessageUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour, which has a price of its own. */
  cacheWriteHour: number;
  model?: string;
  /** In ms. */
  at?: number;
}

/** By message id, in the order of their first lines. */
export type UsageLedger = Map<string, MessageUsage>;

export interface TokenCount {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Lines of one message may have been written while it grew: the one with the most output is complete. */
export function recordUsage(ledger: UsageLedger, messageId: string, usage: MessageUsage): void {
  const known = ledger.get(messageId);
  if (known === undefined || usage.output > known.output) ledger.set(messageId, usage);
}

export function mergeUsage(target: UsageLedger, added: UsageLedger): void {
  for (const [messageId, usage] of added) recordUsage(target, messageId, usage);
}

export function sumUsage(ledger: UsageLedger): TokenCount {
  const total: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const usage of ledger.values()) {
    total.input += usage.input;
    total.output += usage.output;
    total.cacheRead += usage.cacheRead;
    total.cacheWrite += usage.cacheWrite;
  }
  return total;
}

/** What a model used on one local day. A tuple, because an index holds many of them as JSON. */
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

/** A message and its usage. A tuple for the same reason. */
export type RecentMessage = [
  messageId: string,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  cacheWriteHour: number,
  model: string | null,
  at: number | null,
];

export function toRecent(messageId: string, usage: MessageUsage): RecentMessage {
  const { input, output, cacheRead, cacheWrite, cacheWriteHour, model = null, at = null } = usage;
  return [messageId, input, output, cacheRead, cacheWrite, cacheWriteHour, model, at];
}

export function fromRecent(recent: RecentMessage): MessageUsage {
  const [, input, output, cacheRead, cacheWrite, cacheWriteHour, model, at] = recent;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    cacheWriteHour,
    ...(model === null ? {} : { model }),
    ...(at === null ? {} : { at }),
  };
}

export function sumByDay(messages: Iterable<MessageUsage>): DayUsage[] {
  const sums: DayUsage[] = [];
  for (const usage of messages) addToDay(sums, usage, 1);
  return sums;
}

/** `sign` is -1 to take a message out again. */
export function addToDay(sums: DayUsage[], usage: MessageUsage, sign: 1 | -1): void {
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

/** No zone changes its offset within a quarter of an hour. */
const QUARTER_MS = 15 * 60_000;
let knownQuarter = Number.NaN;
let knownDay = "";

/** `2026-11-15`, where this process is. */
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
