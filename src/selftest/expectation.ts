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

/** Adds the acknowledged operations of a child to the expectation. */
export function expectJournal(expectation: Expectation, lines: readonly JournalLine[]) {
  const { state, epochs } = expectation;
  let acknowledged = 0;
  let inFlight: Operation | undefined;
  /** Operations that failed without a reason. */
  const failed: string[] = [];
  for (const line of lines) {
    if (line.say === "begin") {
      inFlight = line.operation;
      expectation.nextNumber = inFlight.number + 1;
    } else if (line.say === "leased") {
      epochs.set(line.key, Math.max(line.epoch, epochs.get(line.key) ?? 0));
    } else if (line.say === "end" && inFlight !== undefined) {
      expectOperation(state, inFlight, line.result);
      acknowledged += 1;
      inFlight = undefined;
    } else if (line.say === "failed") {
      failed.push(`operation ${inFlight?.number} (${inFlight?.name ?? "unknown"}) failed: ${line.error}`);
    }
  }
  return { acknowledged, inFlight, failed };
}
