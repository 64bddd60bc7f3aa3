/**
 * Works on a `json` store until it reaches a fault point for the nth time and is killed there. Prints
 * each acknowledged operation as a JSON object on its own line. Its argument is a JsonCrashTask.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { type FaultPoint, installFaultAction } from "../../src/base/faults.ts";
import { createJsonStore } from "../../src/store/json/json-store.ts";

export interface JsonCrashTask {
  path: string;
  point: FaultPoint;
  occurrence: number;
  /** The number of the first step. */
  start: number;
}

export type Acknowledged =
  | { what: "update"; step: number; sessionId: string }
  | { what: "admitted"; step: number }
  | { what: "lease"; epoch: number }
  | { what: "deleted"; key: string };

const { path, point, occurrence, start } = JSON.parse(process.argv[2] ?? "") as JsonCrashTask;

let seen = 0;
installFaultAction((reached) => {
  if (reached !== point || ++seen < occurrence) return;
  process.kill(process.pid, "SIGKILL");
  for (;;);
});

const store = await createJsonStore({ path, agentId: "main" });
const address = { channel: "web", accountId: "default", chatId: "c" };
for (let step = start; ; step++) {
  const attempt = await store.leases.acquire("main", { ttlMs: 60_000 });
  if (!attempt.acquired) throw new Error("The lease of a dead process was not given away");
  acknowledge({ what: "lease", epoch: attempt.lease.epoch });

  await store.inbox.admit({
    key: "main",
    address: { ...address, messageId: `m-${step}` },
    payload: step,
    receivedAt: 1,
  });
  acknowledge({ what: "admitted", step });

  // Every second update opens another window.
  const sessionId = `s-${Math.floor(step / 2)}`;
  const { lease } = attempt;
  await store.update("main", () => ({ sessionId, updatedAt: step, inputTokens: step }), { lease });
  acknowledge({ what: "update", step, sessionId });

  await store.update(`temporary-${step}`, () => ({ sessionId: `t-${step}`, updatedAt: step }));
  await store.delete(`temporary-${step}`);
  acknowledge({ what: "deleted", key: `temporary-${step}` });
  await store.leases.release(lease);
  // Node saves compiled code at exit, which a killed process never reaches.
  flushCompileCache();
}

function acknowledge(what: Acknowledged): void {
  writeSync(1, `${JSON.stringify(what)}\n`);
}
