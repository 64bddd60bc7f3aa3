/** The checker of the crash tests must find deliberate damage. */
import { appendFile, readFile, readdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { AgentHandle } from "../../src/session/agent-handle.ts";
import { SESSION_KEYS, textsOf } from "../../src/selftest/operations.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { type Workload, openWorkload } from "./workload.ts";
import { foldersOf } from "../support/stores.ts";

const [KEY] = SESSION_KEYS;
/** A seed whose operations leave the session live, with several windows and messages in the last one. */
const CHOICE = { seed: "checker-1", lean: ["append", "append", "reset", "admit"] as const, leanKey: KEY };

const DAMAGES: Record<string, (agent: AgentHandle) => Promise<unknown>> = {
  "a message that is gone": async (agent) => {
    const path = await currentTranscript(agent);
    const lines = (await readFile(path, "utf8")).split("\n");
    await writeFile(path, [...lines.slice(0, -2), ""].join("\n"));
  },
  "a message that is there twice": async (agent) => {
    const path = await currentTranscript(agent);
    await appendFile(path, `${(await readFile(path, "utf8")).split("\n").at(-2)}\n`);
  },
  "half a line that ends": async (agent) => await appendFile(await currentTranscript(agent), '{"type":"mess\n'),
  "an empty transcript": async (agent) => await truncate(await currentTranscript(agent)),
  "a gap in an archive": async (agent) => {
    const path = await currentTranscript(agent);
    const lines = (await readFile(path, "utf8")).split("\n");
    const [removed, next] = lines.slice(-3, -1).map((line) => JSON.parse(line) as { parentId: string });
    const relinked = JSON.stringify({ ...next, parentId: removed?.parentId });
    await writeFile(`${path}.bak.1`, [...lines.slice(0, -3), relinked, ""].join("\n"));
  },
  "a lost count": async (agent) =>
    await agent.store.update(KEY, (entry) => entry && { ...entry, selftest: { count: 1000, lastNumber: 1 } }),
  "a window that is gone": async (agent) => {
    const [oldest] = await agent.store.windows(KEY);
    if (oldest !== undefined) await agent.store.removeWindow(KEY, oldest.sessionId);
  },
  "a session that is gone": async (agent) => await agent.store.delete(KEY),
  "a session that nobody opened": async (agent) =>
    await agent.store.update("agent:main:test:dm:zoe", () => ({ sessionId: "s-1", updatedAt: 1 })),
  "a message that was given up": async ({ store }) => {
    const pending = await store.inbox.pending();
    for (const { key, id } of pending) await store.inbox.drop(key, [id], "on purpose");
  },
  "a reply to nothing": async ({ store }) => {
    const target = { channel: "test", accountId: "default", to: "ada" };
    await store.outbox.enqueue(KEY, [{ idempotencyKey: "stray", target, payload: {} }]);
  },
  "a hand-off that nobody left": async ({ store }) =>
    await store.handoffs.update(KEY, () => ({ count: 1000, lastNumber: 1 })),
  "a lease that is held": async ({ store }) => await store.leases.acquire(KEY, { ttlMs: 60_000 }),
  "half a sessions.json": async (agent) => await truncate(join(foldersOf(agent).sessions, "sessions.json"), 10),
};

test.each(Object.keys(DAMAGES))("the checker finds %s", async (name) => {
  await using folder = await temporaryFolder();
  await using work = await openWorkload({ home: folder.path, kind: "json", choice: CHOICE, clock: systemClock });
  await workUntilReady(work);
  expect(await work.problems()).toEqual([]);
  await DAMAGES[name]?.(work.agent);
  expect(await work.problems()).not.toEqual([]);
});

/** Until there is something of everything to damage. */
async function workUntilReady(work: Workload): Promise<void> {
  for (let count = 0; count < 100; count++) {
    const operation = await work.next();
    const windows = await work.agent.store.windows(KEY);
    const pending = await work.agent.store.inbox.pending();
    const hasMessages = operation.name === "append" && operation.key === KEY && textsOf(operation).length > 2;
    if (count > 15 && windows.length > 1 && pending.length > 0 && hasMessages) return;
  }
  throw new Error("The mix of operations never came to a state worth damaging");
}

async function currentTranscript(agent: AgentHandle): Promise<string> {
  const entry = await agent.store.get(KEY);
  const names = await readdir(foldersOf(agent).sessions);
  const name = names.find((candidate) => candidate === `${entry?.sessionId}.jsonl`);
  return join(foldersOf(agent).sessions, name ?? "missing");
}
