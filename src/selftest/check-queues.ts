/** Compares inbox and outbox with the acknowledged operations: no message is lost or duplicated, and each has one reply. */
import type { AgentHandle } from "../session/agent-handle.ts";
import { type Expectation, type ExpectedItem, expectItem } from "./expectation.ts";
import { type Operation, addressOf, replyKeyOf } from "./operations.ts";
import { admit } from "./perform.ts";
import type { InboxItem, OutboxItem } from "../store/queues.ts";

const ALL = 1_000_000;

export async function checkQueues(
  { store, clock }: AgentHandle,
  expectation: Expectation,
  inFlight: Operation | undefined,
): Promise<string[]> {
  const pending = await store.inbox.pending();
  const due = await store.outbox.due(clock.now() + ALL, ALL);
  const problems: string[] = [];

  for (const item of pending) {
    if (expectation.items.has(item.id)) continue;
    if (inFlight?.name === "admit" && item.address.messageId === String(inFlight.number)) {
      expectItem(expectation, inFlight, item.id);
    } else problems.push(`inbox item ${item.id} was never admitted`);
  }
  for (const [id, expected] of expectation.items) {
    const item = await store.inbox.get(id);
    if (inFlight?.name === "answer" && inFlight.key === expected.key) adoptReply(expected, item, due);
    problems.push(...checkItem(id, expected, item), ...(await checkReply({ store }, id, expected, inFlight)));
  }
  return [...problems, ...checkOrder(pending), ...checkReplies(due, expectation)];
}

/** Platforms may deliver a message twice; the second delivery must change nothing. */
export async function checkRedelivery(
  agent: AgentHandle,
  expectation: Expectation,
  inFlight: Operation | undefined,
): Promise<string[]> {
  const problems: string[] = [];
  const [lastId, last] = [...expectation.items].at(-1) ?? [];
  if (lastId !== undefined && last !== undefined) {
    const again = await admit(agent, { ...last, name: "admit" });
    if (again.admitted || again.itemId !== lastId) problems.push(`message ${last.number} was admitted twice`);
  }
  const numbers = [...expectation.items.values()].map(({ number }) => number);
  const isOpen = inFlight?.name === "admit" && !numbers.includes(inFlight.number);
  if (isOpen) expectItem(expectation, inFlight, (await admit(agent, inFlight)).itemId);
  return problems;
}

/** An item that is done must have its reply. */
function adoptReply(expected: ExpectedItem, item: InboxItem | undefined, due: readonly OutboxItem[]): void {
  if (expected.replyId !== undefined || item?.state !== "done") return;
  const reply = due.find(({ idempotencyKey }) => idempotencyKey === replyKeyOf(item.id));
  if (reply !== undefined) expected.replyId = reply.id;
}

function checkItem(id: number, expected: ExpectedItem, item: InboxItem | undefined): string[] {
  if (item === undefined) return [`inbox item ${id} is lost`];
  if (item.address.messageId !== addressOf({ ...expected, name: "admit" }).messageId) {
    return [`inbox item ${id} is not the message that was admitted`];
  }
  const allowed = expected.replyId === undefined ? ["queued", "running"] : ["done"];
  if (allowed.includes(item.state)) return [];
  return [
    `inbox item ${id} is ${item.state}, and its reply ${expected.replyId === undefined ? "is missing" : "exists"}`,
  ];
}

async function checkReply(
  { store }: Pick<AgentHandle, "store">,
  itemId: number,
  expected: ExpectedItem,
  inFlight: Operation | undefined,
): Promise<string[]> {
  if (expected.replyId === undefined) return [];
  const reply = await store.outbox.get(expected.replyId);
  if (reply === undefined) return [`the reply to inbox item ${itemId} is lost`];
  if (reply.idempotencyKey !== replyKeyOf(itemId)) return [`outbox item ${reply.id} answers another message`];
  if (inFlight?.name === "deliver" && reply.state === "delivered") expected.delivered = true;
  if (expected.delivered !== (reply.state === "delivered")) {
    const acknowledged = `${expected.delivered ? "" : "not "}acknowledged as delivered`;
    return [`outbox item ${reply.id} is ${reply.state}; it was ${acknowledged}`];
  }
  return [];
}

function checkOrder(pending: readonly InboxItem[]): string[] {
  const numbers = pending.map(({ address }) => Number(address.messageId));
  const isAscending = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0));
  return isAscending ? [] : [`messages wait out of order: ${numbers.join(", ")}`];
}

function checkReplies(due: readonly OutboxItem[], expectation: Expectation): string[] {
  const replies = new Set([...expectation.items.values()].map(({ replyId }) => replyId));
  const keys = due.map(({ idempotencyKey }) => idempotencyKey);
  return [
    ...(new Set(keys).size < keys.length ? ["a reply is in the outbox twice"] : []),
    ...due.filter(({ id }) => !replies.has(id)).map(({ id }) => `outbox item ${id} answers nothing that has ended`),
  ];
}
