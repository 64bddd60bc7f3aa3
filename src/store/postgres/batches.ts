/**
 * Joins calls that wait at the same time into one statement, so that many sessions share one round trip and one commit.
 * A call is not answered before its commit. If a batch is refused, its halves are sent again, until only the refused
 * calls fail. As a single statement, a batch is never half done, and a paused process cannot hold it open.
 */
import { HoldfastError, hasCode } from "../../base/errors.ts";
import type { Connection, Row, Value } from "./connection.ts";
import { OUTCOME_UNKNOWN } from "./postgres-errors.ts";

export interface Call {
  /** An expression. `$1` is the first of `values`. */
  sql: string;
  values: readonly Value[];
  /** True if a repetition is harmless, as for reads. */
  isRepeatable: boolean;
  /**
   * What a write is about. Calls with the same subject run in the order in which they came, and all nodes lock
   * subjects in the same order. Optional.
   */
  subject?: string | undefined;
}

interface BatchOptions extends Pick<Connection, "query"> {
  /** The statement for these expressions, which are separated by commas. Its row has the column `results`. */
  statement: (expressions: string) => string;
  /** How many batches may run at the same time. More calls wait for each other. */
  maxRunning: number;
  /** Called with the row of a batch before its calls are answered. Optional. */
  onAnswer?: ((row: Row) => void) | undefined;
  /** Called when a batch was sent and its answer lost. Optional. */
  onLost?: (() => void) | undefined;
}

interface WaitingCall extends Call {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** Each answer continues a turn, and too many at once would block all other work. */
const MAX_CALLS = 48;
const MAX_BYTES = 1024 * 1024;

/** Resolves to the result of the call's expression as JSON. */
export function createBatches({ query, statement, maxRunning, onAnswer, onLost }: BatchOptions) {
  let waiting: WaitingCall[] = [];
  let running = 0;
  const busy = new Set<string>();
  let isDue = false;

  const send = async (calls: readonly WaitingCall[]): Promise<void> => {
    const { expressions, values } = join(calls);
    try {
      const isRepeatable = calls.every((call) => call.isRepeatable);
      const [row = {}] = await query(statement(expressions), values, { isRepeatable, onLost });
      onAnswer?.(row);
      const results = row["results"] as unknown as unknown[];
      for (const [index, { resolve }] of calls.entries()) resolve(results[index]);
    } catch (error) {
      await failed(calls, error);
    }
  };
  const failed = async (calls: readonly WaitingCall[], error: unknown): Promise<void> => {
    const isUnknown = hasCode(error, OUTCOME_UNKNOWN);
    // What is wrong with the server is wrong for every call.
    const isFinal = calls.length === 1 || (!isUnknown && error instanceof HoldfastError && error.kind !== "usage");
    const again = isFinal ? [] : calls.filter(({ isRepeatable }) => isRepeatable || !isUnknown);
    for (const call of calls) if (!again.includes(call)) call.reject(error);
    const half = isUnknown ? again.length : Math.ceil(again.length / 2);
    for (const part of [again.slice(0, half), again.slice(half)]) if (part.length > 0) await send(part);
  };
  const next = (): void => {
    isDue = false;
    while (running < maxRunning) {
      const calls = chooseCalls(waiting, busy);
      if (calls.size === 0) return;
      waiting = waiting.filter((call) => !calls.has(call));
      const subjects = [...calls].flatMap(({ subject }) => subject ?? []);
      running++;
      for (const subject of subjects) busy.add(subject);
      void send([...calls].toSorted(bySubject)).finally(() => {
        running--;
        for (const subject of subjects) busy.delete(subject);
        plan();
      });
    }
  };
  /** Later in this turn of the event loop: the calls that follow from one answer are sent together. */
  const plan = (): void => {
    if (isDue || running >= maxRunning || waiting.length === 0) return;
    isDue = true;
    setImmediate(next);
  };

  return async (call: Call): Promise<unknown> =>
    await new Promise((resolve, reject) => {
      waiting.push({ ...call, resolve, reject });
      plan();
    });
}

function bySubject({ subject: a = "" }: Call, { subject: b = "" }: Call): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function join(calls: readonly Call[]): { expressions: string; values: Value[] } {
  const values: Value[] = [];
  const expressions = calls.map(({ sql, values: own }) => {
    const before = values.length;
    values.push(...own);
    return sql.replace(/\$(\d+)/g, (_place, nr) => `$${Number(nr) + before}`);
  });
  return { expressions: expressions.join(", "), values };
}

/** The calls of the next batch, in the order in which they came. */
function chooseCalls<T extends Call>(waiting: readonly T[], busy: ReadonlySet<string>): ReadonlySet<T> {
  const chosen = new Set<T>();
  let bytes = 0;
  for (const call of waiting) {
    if (call.subject !== undefined && busy.has(call.subject)) continue;
    bytes += call.values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
    if (chosen.size === MAX_CALLS || (bytes > MAX_BYTES && chosen.size > 0)) break;
    chosen.add(call);
  }
  return chosen;
}

function sizeOf(value: Value): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}
