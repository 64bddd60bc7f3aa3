/** Works on a store, alone or with other processes, until it is done or killed. Reports acknowledged pending items. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "../../src/base/errors.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import { type ChildTasks, type TurnStep, childTask, report } from "./child.ts";
import { openStore } from "./stores.ts";

const CONCURRENT_UPDATES = 50;
/** One hand-off update per this many entry updates. */
const HANDOFF_EVERY = 10;
/** Long enough that the lease does not expire under any test clock. */
const A_CENTURY_MS = 100 * 365 * 86_400_000;

const KEY = "agent:main:main";

/** A line of the stand-in for a transcript. */
export interface WrittenTurn {
  turn: string;
  events: string[];
}

const argument = childTask("store");
const store = await openStore(argument.kind, { home: argument.home, historyLimit: 1000 });
const { history, systemEvents: events } = store;

switch (argument.task) {
  case "die-with-lease":
    await store.leases.acquire(argument.leased, { ttlMs: A_CENTURY_MS });
    process.kill(process.pid, "SIGKILL");
    break;
  case "count":
    await countUp(argument.name, argument.updates);
    break;
  case "contend":
    for (;;) await holdOnce(argument.name, argument.ttlMs);
  case "append":
    for (let step = argument.start; ; step++) {
      await history.append("group", { sender: "A", body: String(step), messageId: `m-${step}` });
      report(step);
    }
  case "enqueue":
    for (let step = 0; step < argument.count; step++) {
      await events.enqueueSystemEvent(KEY, `${argument.name}-${step}`);
      report(`${argument.name}-${step}`);
    }
    break;
  case "turns":
    for (let number = 0; number < argument.turns; number++) await runTurn(argument, number);
}
await store.close();

/** Half of the updates increment one entry shared by all children, the others entries of its own. */
async function countUp(name: string, updates: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < updates) {
      const index = next++;
      const key = index % 2 === 0 ? "shared" : `own-${name}-${index % 20}`;
      await whenFree(async () => await store.update(key, increment));
      if (index % HANDOFF_EVERY === 0)
        await whenFree(async () => await store.handoffs.update("shared", incrementState));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_UPDATES }, worker));
}

/** Other writers can keep a busy store locked past its timeout. Nothing was written then, so it retries. */
async function whenFree(task: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await task();
      return;
    } catch (error) {
      if (attempt === 5 || !(error instanceof HoldfastError) || error.kind !== "locked") throw error;
    }
  }
}

/** Takes the lease, writes under it until it is lost or for a while, and reports every acknowledged write. */
async function holdOnce(name: string, ttlMs: number): Promise<void> {
  const attempt = await store.leases.acquire(KEY, { ttlMs });
  if (!attempt.acquired) return await delay(5);
  const { lease } = attempt;
  report({ name, epoch: lease.epoch, acquired: true });
  try {
    for (let write = 0; write < 8; write++) {
      const line = `${name} ${lease.epoch} ${write}`;
      await store.update(KEY, (before) => appendLine(before, line), { lease });
      report({ name, epoch: lease.epoch, line });
      await delay(5);
    }
    await store.leases.release(lease);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "fenced") throw error;
    report({ name, epoch: lease.epoch, fenced: true });
  }
}

function appendLine(before: SessionEntry | undefined, line: string): SessionEntry {
  const { lines = [] } = (before ?? {}) as { lines?: string[] };
  const after = { sessionId: "s-1", updatedAt: Date.now(), ...before, lines: [...lines, line] };
  return after;
}

function incrementState(state: unknown): { count: number } {
  return { count: ((state as { count: number } | undefined)?.count ?? 0) + 1 };
}

function increment(current: SessionEntry | undefined): SessionEntry {
  return {
    ...(current ?? { sessionId: "s-1" }),
    updatedAt: Date.now(),
    inputTokens: (current?.inputTokens ?? 0) + 1,
  };
}

/** Like the real one: a turn that was written already is only acknowledged. */
async function runTurn(plan: Extract<ChildTasks["store"], { task: "turns" }>, number: number): Promise<void> {
  const reach = (step: TurnStep): void => {
    if (plan.dieInTurn === number && plan.dieAfter === step) process.kill(process.pid, "SIGKILL");
  };
  const turn = `turn-${number}`;
  if (!writtenTurns(plan.transcript).includes(turn)) {
    const name = `${plan.epoch}-${number}`;
    await events.enqueueSystemEvent(KEY, name);
    report(name);
    reach("enqueued");
    const batch = await events.drainSystemEvents(KEY, { id: turn, epoch: plan.epoch });
    reach("drained");
    const written: WrittenTurn = { turn, events: batch.events.map(({ text }) => text) };
    appendFileSync(plan.transcript, `${JSON.stringify(written)}\n`);
    reach("written");
  }
  await events.acknowledgeSystemEvents(KEY, turn);
  reach("acknowledged");
}

function writtenTurns(transcript: string): string[] {
  if (!existsSync(transcript)) return [];
  const lines = readFileSync(transcript, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as WrittenTurn).turn);
}
