/** Chooses and performs operations with the public functions of the session layer. */
import { type AgentHandle, transcriptName } from "../session/agent-handle.ts";
import { archiveSession, listArchives, restoreSession } from "../session/archive.ts";
import { type HeldLease, withSessionLease } from "../session/lease.ts";
import { openWindow, resetSession, sessionNotFound } from "../session/window.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import {
  type Answered,
  type CountedEntry,
  type Counter,
  type Operation,
  type OperationResult,
  addressOf,
  replyKeyOf,
  textsOf,
  OPERATION_NAMES,
  type OperationName,
  SESSION_KEYS,
  type Random,
  createRandom,
} from "./operations.ts";
import { compactSession } from "../session/transcript-changes.ts";
import type { Lease } from "../store/queues.ts";

export interface Workplace {
  agent: AgentHandle;
  /** Closes the agent, which updates the view, and opens it again. */
  reopen(): Promise<void>;
  readonly onLease: (lease: Lease) => void;
}

/** Few, so that a short session has entries to remove. */
const KEPT_ENTRIES = 4;

export async function perform(place: Workplace, operation: Operation): Promise<OperationResult> {
  return (await PERFORMERS[operation.name](place, operation)) ?? {};
}

type Performer = (place: Workplace, operation: Operation) => Promise<OperationResult | undefined | void>;

const PERFORMERS: Record<Operation["name"], Performer> = {
  open: async ({ agent }, { key }) =>
    await openWindow(agent, { key, previous: undefined, reason: "initial" }).then(windowOf),
  count: async ({ agent }, operation) => await count(agent, operation),
  append: async (place, operation) =>
    await underLease(place, operation.key, async (held) => await append(place.agent, operation, held)),
  reset: async (place, { key }) =>
    await underLease(place, key, async ({ lease }) =>
      windowOf((await resetSession(place.agent, key, { lease })).entry),
    ),
  compact: async ({ agent }, { key }) => void (await compactSession(agent, key, { maxLines: KEPT_ENTRIES })),
  archive: async (place, { key }) =>
    await underLease(place, key, async ({ lease }) => void (await archiveSession(place.agent, key, { lease }))),
  restore: async ({ agent }, { key }) => await restore(agent, key),
  admit: async ({ agent }, operation) => ({ itemId: (await admit(agent, operation)).itemId }),
  answer: async (place, { key }) =>
    await underLease(place, key, async ({ lease }) => ({ answered: await answer(place.agent, lease) })),
  deliver: async ({ agent }) => ({ delivered: await deliver(agent) }),
  "hand-over": async ({ agent }, operation) => await handOver(agent, operation),
  reopen: async (place) => await place.reopen(),
};

function windowOf(entry: SessionEntry | undefined): OperationResult {
  return entry === undefined ? {} : { sessionId: entry.sessionId };
}

async function underLease<T>(
  { agent, onLease }: Workplace,
  key: string,
  task: (held: HeldLease) => Promise<T>,
): Promise<T> {
  return await withSessionLease(agent, key, {}, async (held) => {
    onLease(held.lease);
    return await task(held);
  });
}

async function count(agent: AgentHandle, { key, number }: Operation): Promise<void> {
  await agent.store.update(key, (current: CountedEntry | undefined) => {
    if (current === undefined) return undefined;
    const counted: CountedEntry = {
      ...current,
      updatedAt: agent.clock.now(),
      selftest: { count: (current.selftest?.count ?? 0) + 1, lastNumber: number },
    };
    return counted;
  });
}

async function handOver({ store }: AgentHandle, { key, number }: Operation): Promise<void> {
  await store.handoffs.update(key, (state): Counter => {
    const { count } = (state ?? { count: 0 }) as Pick<Counter, "count">;
    return { count: count + 1, lastNumber: number };
  });
}

/** Appends message by message and then syncs, as a turn does. */
async function append(agent: AgentHandle, operation: Operation, held: HeldLease): Promise<OperationResult> {
  const entry = await agent.store.get(operation.key);
  if (entry === undefined) throw sessionNotFound(operation.key);
  await using log = await agent.store.transcripts.open(transcriptName(entry), { held });
  for (const text of textsOf(operation)) {
    const message = { role: "user" as const, content: [{ type: "text" as const, text }], timestamp: agent.clock.now() };
    await log.append([{ type: "message", message }]);
  }
  await log.sync();
  return { sessionId: entry.sessionId };
}

async function restore(agent: AgentHandle, key: string): Promise<void> {
  const newest = (await listArchives(agent)).find((record) => record.key === key);
  if (newest === undefined) throw sessionNotFound(key);
  await restoreSession(agent, newest.id);
}

export async function admit(agent: AgentHandle, operation: Operation): Promise<{ itemId: number; admitted: boolean }> {
  const { item, admitted } = await agent.store.inbox.admit({
    key: operation.key,
    address: addressOf(operation),
    payload: { number: operation.number },
    receivedAt: agent.clock.now(),
  });
  return { itemId: item.id, admitted };
}

async function answer(agent: AgentHandle, lease: Lease): Promise<Answered[]> {
  const { inbox } = agent.store;
  await inbox.requeue(lease);
  const ids = (await inbox.claim(lease)).map(({ id }) => id);
  const target = { channel: "test", accountId: "default", to: lease.key };
  const drafts = ids.map((id) => ({ idempotencyKey: replyKeyOf(id), target, payload: { answers: id } }));
  const replies = await inbox.finish(lease, ids, drafts);
  return ids.map((itemId, index) => ({ itemId, replyId: replies[index]?.id ?? 0 }));
}

const DELIVERY_BATCH = 3;

async function deliver({ store, clock }: AgentHandle): Promise<number[]> {
  const delivered: number[] = [];
  for (const { id, attempts } of await store.outbox.due(clock.now(), DELIVERY_BATCH)) {
    if (!(await store.outbox.startSending(id, attempts))) continue;
    await store.outbox.delivered(id, `message-${id}`);
    delivered.push(id);
  }
  return delivered;
}

export interface Choice {
  seed: string;
  /** Operations that lead to a fault point; chosen every second time. */
  lean?: readonly [OperationName, ...OperationName[]] | undefined;
  /** The session to use every second time. */
  leanKey?: string | undefined;
}

export async function chooseOperation(agent: AgentHandle, number: number, choice: Choice): Promise<Operation> {
  const random = createRandom(choice.seed, number);
  const leaning = random.chance(0.5);
  const name = leaning && choice.lean !== undefined ? random.pick(choice.lean) : randomName(random);
  const key = leaning && choice.leanKey !== undefined ? choice.leanKey : random.pick(SESSION_KEYS);
  if (NEED_NO_SESSION.has(name)) return { number, name, key };
  if ((await agent.store.get(key)) !== undefined) return { number, name, key };
  const isArchived = (await listArchives(agent)).some((record) => record.key === key);
  return { number, name: isArchived ? "restore" : "open", key };
}

const NEED_NO_SESSION: ReadonlySet<OperationName> = new Set(["reopen", "deliver", "admit", "hand-over"]);

/** Mostly messages, as in real conversations. */
function randomName(random: Random): OperationName {
  return random.chance(0.4) ? random.pick(["append", "count"]) : random.pick(OPERATION_NAMES);
}
