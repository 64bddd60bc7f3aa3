/**
 * What must be in a home, according to what was acknowledged. The checker moves it forward by what
 * it finds of an operation that was in flight: from then on that is expected too.
 */
import type { Journal } from "./journal.ts";
import { type HandedOver, type Operation, type OperationResult, SESSION_KEYS, textsOf } from "./operations.ts";

export interface ExpectedSession {
  readonly key: string;
  state: "absent" | "live" | "archived";
  count: number;
  /** Number of the operation that counted last. */
  lastNumber: number;
  /** The session id that the key points at. */
  current: string | undefined;
  /** Every session id that the key has pointed at, with the texts of its transcript in order. */
  readonly windows: Map<string, string[]>;
  /** Windows of resets that were killed half way: they may be listed, and the key never came to them. */
  readonly strays: Set<string>;
  /** What the session's hand-off holds. */
  handedOver: HandedOver;
  /** The highest epoch that anybody was given. */
  epoch: number;
}

export interface ExpectedItem {
  readonly number: number;
  readonly key: string;
  /** The outbox item that answers it; missing while it waits. */
  replyId?: number;
  delivered: boolean;
}

export interface Expectation {
  readonly sessions: ReadonlyMap<string, ExpectedSession>;
  /** By id of the inbox item. */
  readonly items: Map<number, ExpectedItem>;
  nextNumber: number;
}

export function createExpectation(): Expectation {
  const sessions = SESSION_KEYS.map((key): [string, ExpectedSession] => [
    key,
    {
      key,
      state: "absent",
      count: 0,
      lastNumber: 0,
      current: undefined,
      windows: new Map(),
      strays: new Set(),
      handedOver: { count: 0, lastNumber: 0 },
      epoch: 0,
    },
  ]);
  return { sessions: new Map(sessions), items: new Map(), nextNumber: 1 };
}

/** Takes in what a child has acknowledged. */
export function expectJournal(expectation: Expectation, journal: Journal): void {
  for (const { operation, result } of journal.acknowledged) expectOperation(expectation, operation, result);
  for (const { key, epoch } of journal.leases) {
    const session = sessionOf(expectation, key);
    session.epoch = Math.max(session.epoch, epoch);
  }
  if (journal.inFlight !== undefined) expectation.nextNumber = journal.inFlight.number + 1;
}

export function sessionOf(expectation: Expectation, key: string): ExpectedSession {
  const session = expectation.sessions.get(key);
  if (session === undefined) throw new Error(`No operation works on ${key}`);
  return session;
}

function expectOperation(expectation: Expectation, operation: Operation, result: OperationResult): void {
  const session = sessionOf(expectation, operation.key);
  expectation.nextNumber = operation.number + 1;
  switch (operation.name) {
    case "open":
    case "reset":
      if (result.sessionId !== undefined) expectWindow(session, result.sessionId);
      break;
    case "count":
      session.count++;
      session.lastNumber = operation.number;
      break;
    case "append":
      session.windows.get(session.current ?? "")?.push(...textsOf(operation));
      break;
    case "archive":
      session.state = "archived";
      break;
    case "restore":
      session.state = "live";
      break;
    case "admit":
      if (result.itemId !== undefined) expectItem(expectation, operation, result.itemId);
      break;
    case "answer":
      for (const { itemId, replyId } of result.answered ?? []) expectReply(expectation, itemId, replyId);
      break;
    case "deliver":
      for (const item of expectation.items.values()) {
        if (item.replyId !== undefined && result.delivered?.includes(item.replyId)) item.delivered = true;
      }
      break;
    case "hand-over":
      session.handedOver = { count: session.handedOver.count + 1, lastNumber: operation.number };
      break;
    case "compact":
    case "reopen":
      break;
  }
}

export function expectWindow(session: ExpectedSession, sessionId: string): void {
  session.state = "live";
  session.current = sessionId;
  session.strays.delete(sessionId);
  session.windows.set(sessionId, []);
}

export function expectItem(expectation: Expectation, { number, key }: Operation, itemId: number): void {
  expectation.items.set(itemId, { number, key, delivered: false });
}

function expectReply(expectation: Expectation, itemId: number, replyId: number): void {
  const item = expectation.items.get(itemId);
  if (item === undefined) throw new Error(`Inbox item ${itemId} was answered and never admitted`);
  item.replyId = replyId;
}
