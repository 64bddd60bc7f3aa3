/** The `json` store after a kill at every named step of a write. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { FaultPoint } from "../../src/base/faults.ts";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import type { Window } from "../../src/store/store.ts";
import { createJsonStore } from "../../src/store/json/json-store.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import type { Acknowledged, JsonCrashTask } from "./json-child.ts";
import type { LeaseAttempt } from "../../src/store/queues.ts";

const POINTS: FaultPoint[] = [
  "lock.created",
  "json.loaded",
  "lease.read",
  "lease.taken",
  "file.temp-written",
  "file.temp-synced",
  "file.renamed",
  "json.sidecar.written",
  "json.written",
];
// The third write of `sessions.json` is the one that deletes a session.
const OCCURRENCES = [1, 3, 6];

const ROUNDS = POINTS.flatMap((point) => OCCURRENCES.map((occurrence) => ({ point, occurrence })));

it("keeps every acknowledged write once and in order", { timeout: 120_000 }, async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sessions.json");
  const history: History = { step: 0, epoch: 0, sessionIds: new Set(), admitted: new Set() };
  for (const round of ROUNDS) {
    const acknowledged = await runUntilKilled({ path, ...round, start: history.step + 1 });
    for (const one of acknowledged) remember(history, one);
    const found = await inspect(path, acknowledged);
    expect({ ...round, wrong: complaints(history, found) }).toEqual({ ...round, wrong: [] });
    history.step = found.step;
  }
  expect(history.step).toBeGreaterThan(POINTS.length);
});

/** Everything that was ever acknowledged. */
interface History {
  step: number;
  epoch: number;
  sessionIds: Set<string>;
  admitted: Set<string>;
}

function remember(history: History, one: Acknowledged): void {
  switch (one.what) {
    case "update":
      history.step = one.step;
      history.sessionIds.add(one.sessionId);
      break;
    case "admitted":
      history.admitted.add(`m-${one.step}`);
      break;
    case "lease":
      history.epoch = one.epoch;
      break;
    case "deleted":
      break;
  }
}

interface Found {
  step: number;
  windows: Window[];
  pending: string[];
  undeleted: SessionEntry[];
  lease: LeaseAttempt;
}

async function inspect(path: string, acknowledged: readonly Acknowledged[]): Promise<Found> {
  const store = await createJsonStore({ path, agentId: "main" });
  const undeleted: SessionEntry[] = [];
  for (const one of acknowledged) {
    const entry = one.what === "deleted" ? await store.get(one.key) : undefined;
    if (entry !== undefined) undeleted.push(entry);
  }
  const lease = await store.leases.acquire("main", { ttlMs: 1000 });
  if (lease.acquired) await store.leases.release(lease.lease);
  const found = {
    step: (await store.get("main"))?.inputTokens ?? 0,
    windows: await store.windows("main"),
    pending: (await store.inbox.pending()).map((item) => item.address.messageId),
    undeleted,
    lease,
  };
  await store.close();
  return found;
}

/** An unacknowledged write may be present or not; nothing else may differ. */
function complaints(history: History, { step, windows, pending, undeleted, lease }: Found): string[] {
  const ids = new Set(windows.map((window) => window.sessionId));
  const open = windows.filter((window) => window.closedAt === undefined);
  const acknowledged = pending.filter((id) => history.admitted.has(id));
  const checks: Record<string, boolean> = {
    "an update is lost": step !== history.step && step !== history.step + 1,
    "a window is lost": [...history.sessionIds].some((id) => !ids.has(id)),
    "a window is listed twice": ids.size !== windows.length,
    "not one window is open": open.length !== (step === 0 ? 0 : 1),
    "a message is there twice": new Set(pending).size !== pending.length,
    "a message is lost or out of order": acknowledged.join() !== [...history.admitted].join(),
    "a deleted session is back": undeleted.length > 0,
    "the lease is not given away": !lease.acquired || lease.lease.epoch <= history.epoch,
  };
  return Object.keys(checks).filter((name) => checks[name]);
}

async function runUntilKilled(task: JsonCrashTask): Promise<Acknowledged[]> {
  const script = fileURLToPath(new URL("./json-child.ts", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (signal !== "SIGKILL") throw new Error(`The child ended by itself (code ${code}) before ${task.point}`);
  const lines = output.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Acknowledged);
}
