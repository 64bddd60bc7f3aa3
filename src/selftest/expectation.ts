/**
 * What a home must contain, from the journal of the child processes. A child writes one JSON object a line: an intention
 * before each operation and an acknowledgement after it. The operation in flight at the kill may have happened or not.
 */
import { type Counter, type Operation, type OperationResult, SESSION_KEYS, textsOf } from "./operations.ts";

/** Plain data, so that the expected state can be compared with the found one. */
export interface HomeState {
  sessions: Record<string, SessionState>;
  /** By id of the inbox item. */
  items: Record<number, ItemState>;
}

export interface SessionState {
  state: "absent" | "live" | "archived";
  current: string | undefined;
  counted: Counter;
  handedOver: Counter;
  /** Texts of the transcript by session id. */
  windows: Record<string, string[]>;
}

export interface ItemState {
  number: number;
  key: string;
  state: string;
  /** The outbox item that answers it; undefined while it waits. */
  replyId?: number | undefined;
  delivered: boolean;
}

export interface Expectation {
  state: HomeState;
  /** Windows of interrupted resets: they may be listed, but never became current. */
  readonly strays: Set<string>;
  /** The highest epoch that was granted, by session. */
  readonly epochs: Map<string, number>;
  nextNumber: number;
}

const NEVER: Counter = { count: 0, lastNumber: 0 };

export function createExpectation(): Expectation {
  const absent = { state: "absent" as const, current: undefined, counted: NEVER, handedOver: NEVER };
  const sessions = Object.fromEntries(SESSION_KEYS.map((key) => [key, { ...absent, windows: {} }]));
  return { state: { sessions, items: {} }, strays: new Set(), epochs: new Map(), nextNumber: 1 };
}

export function expectJournal(expectation: Expectation, { acknowledged, leases, inFlight }: Journal): void {
  for (const { operation, result } of acknowledged) expectOperation(expectation.state, operation, result);
  for (const { key, epoch } of leases) {
    expectation.epochs.set(key, Math.max(epoch, expectation.epochs.get(key) ?? 0));
  }
  const last = inFlight ?? acknowledged.at(-1)?.operation;
  if (last !== undefined) expectation.nextNumber = last.number + 1;
}

export function sessionOf({ sessions }: HomeState, key: string): SessionState {
  const session = sessions[key];
  if (session === undefined) throw new Error(`No operation works on ${key}`);
  return session;
}

export function expectOperation(state: HomeState, operation: Operation, result: OperationResult): void {
  const { number, key } = operation;
  const session = sessionOf(state, key);
  const { sessionId, itemId, appended, answered = [], delivered = [] } = result;
  switch (operation.name) {
    case "open":
    case "reset":
      if (sessionId === undefined) break;
      Object.assign(session, { state: "live", current: sessionId });
      session.windows[sessionId] = [];
      break;
    case "count":
      session.counted = { count: session.counted.count + 1, lastNumber: number };
      break;
    case "append":
      session.windows[session.current ?? ""]?.push(...textsOf(operation).slice(0, appended));
      break;
    case "archive":
      session.state = "archived";
      break;
    case "restore":
      session.state = "live";
      break;
    case "admit":
      if (itemId !== undefined) state.items[itemId] = { number, key, state: "waiting", delivered: false };
      break;
    case "answer":
      for (const { itemId: id, replyId } of answered) Object.assign(state.items[id] ?? {}, { state: "done", replyId });
      break;
    case "deliver":
      for (const item of Object.values(state.items)) item.delivered ||= delivered.includes(item.replyId ?? -1);
      break;
    case "hand-over":
      session.handedOver = { count: session.handedOver.count + 1, lastNumber: number };
      break;
    case "compact":
    case "reopen":
      break;
  }
}

export type JournalLine =
  | { say: "ready" }
  | { say: "begin"; operation: Operation }
  /** A lease was granted for the current operation. */
  | { say: "leased"; key: string; epoch: number }
  | { say: "end"; result: OperationResult }
  | { say: "failed"; error: string };

export interface Journal {
  acknowledged: { operation: Operation; result: OperationResult }[];
  inFlight: Operation | undefined;
  leases: { key: string; epoch: number }[];
  /** Operations that failed without a reason. */
  failed: string[];
}

export function readJournal(lines: readonly JournalLine[]): Journal {
  const journal: Journal = { acknowledged: [], inFlight: undefined, leases: [], failed: [] };
  for (const line of lines) {
    const { inFlight: operation } = journal;
    if (line.say === "begin") journal.inFlight = line.operation;
    else if (line.say === "leased") journal.leases.push({ key: line.key, epoch: line.epoch });
    else if (line.say === "end" && operation !== undefined) {
      journal.acknowledged.push({ operation, result: line.result });
      journal.inFlight = undefined;
    } else if (line.say === "failed") {
      journal.failed.push(`operation ${operation?.number} (${operation?.name ?? "unknown"}) failed: ${line.error}`);
    }
  }
  return journal;
}
