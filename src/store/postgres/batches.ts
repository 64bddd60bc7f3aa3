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
  /** Calls are sent in this order, so that all nodes lock rows in the same order. */
  order: string;
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
    while (waiting.length > 0 && running < maxRunning) {
      const calls = waiting.slice(0, fitting(waiting));
      waiting = waiting.slice(calls.length);
      running++;
      const ordered = calls.toSorted((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0));
      void send(ordered).finally(() => {
        running--;
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

function join(calls: readonly Call[]): { expressions: string; values: Value[] } {
  const values: Value[] = [];
  const expressions = calls.map(({ sql, values: own }) => {
    const before = values.length;
    values.push(...own);
    return sql.replace(/\$(\d+)/g, (_place, nr) => `$${Number(nr) + before}`);
  });
  return { expressions: expressions.join(", "), values };
}

/** How many calls fit into one batch: at least one. */
function fitting(calls: readonly Call[]): number {
  let bytes = 0;
  const index = calls.findIndex(({ values }) => {
    for (const value of values) bytes += sizeOf(value);
    return bytes > MAX_BYTES;
  });
  return Math.min(MAX_CALLS, index === -1 ? calls.length : Math.max(1, index));
}

function sizeOf(value: Value): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}
