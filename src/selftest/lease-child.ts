/**
 * A process that contends for one session. It waits for the lease, writes repeatedly and reports every step. After a
 * refused write it also tries the other kind of write. Its argument is a LeaseTask as JSON; it runs until it is killed.
 */
import { flushCompileCache } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { HoldfastError } from "../base/errors.ts";
import { type AgentHandle, transcriptName } from "../session/agent-handle.ts";
import { type HeldLease, withSessionLease } from "../session/lease.ts";
import { sessionNotFound } from "../session/window.ts";
import type { StoreKind } from "../store/store.ts";
import { type CountedEntry, createRandom } from "./operations.ts";
import { openHome, say } from "./run-child.ts";

export interface LeaseTask {
  home: string;
  kind: StoreKind;
  key: string;
  seed: string;
  ttlMs: number;
}

export type LeaseLine =
  /** `holds`: it keeps the lease until it is killed or loses it. */
  | { say: "acquired"; epoch: number; holds: boolean }
  | { say: "appended"; epoch: number; text: string }
  | { say: "updated"; epoch: number }
  | { say: "refused"; epoch: number; what: "append" | "update" }
  | { say: "violation"; epoch: number; what: string };

const tell: (line: LeaseLine) => void = say;
const task = JSON.parse(process.argv[2] ?? "") as LeaseTask;
const random = createRandom(task.seed);
const WAIT_MS = 3_600_000;
const STEPS_BEFORE_RELEASE = 3;
const PAUSE_MS = 3;
const WRITES = { append, update };
type Write = keyof typeof WRITES;

await contend();

async function contend(): Promise<never> {
  const agent = await openHome(task.home, task.kind, { view: false, durability: "none" });
  // Node saves compiled code at exit, which a killed process never reaches.
  flushCompileCache();
  for (;;) {
    await withSessionLease(agent, task.key, { ttlMs: task.ttlMs, waitMs: WAIT_MS }, async (held) => {
      const { epoch } = held.lease;
      const holds = random.chance(0.8);
      tell({ say: "acquired", epoch, holds });
      const refused = await write(agent, held, holds ? Number.POSITIVE_INFINITY : STEPS_BEFORE_RELEASE);
      if (refused !== undefined) await tryTheOther(agent, held, refused);
    });
    await delay(PAUSE_MS);
  }
}

/** Returns the kind of write that was refused, if any. */
async function write(agent: AgentHandle, held: HeldLease, steps: number): Promise<Write | undefined> {
  for (let step = 0; step < steps; step++) {
    if (!(await attempt("append", agent, held, step))) return "append";
    if (!(await attempt("update", agent, held, step))) return "update";
    await delay(PAUSE_MS);
  }
  return undefined;
}

async function tryTheOther(agent: AgentHandle, held: HeldLease, refused: Write): Promise<void> {
  if (!(await attempt(refused === "append" ? "update" : "append", agent, held, -1))) return;
  const what = `${refused} was refused, and the other write was accepted`;
  tell({ say: "violation", epoch: held.lease.epoch, what });
}

async function attempt(what: Write, agent: AgentHandle, held: HeldLease, step: number): Promise<boolean> {
  try {
    await WRITES[what](agent, held, step);
    return true;
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "fenced") throw error;
    tell({ say: "refused", epoch: held.lease.epoch, what });
    return false;
  }
}

/** Opens the log each time, as every turn does. */
async function append(agent: AgentHandle, held: HeldLease, step: number): Promise<void> {
  const entry = await agent.store.get(task.key);
  if (entry === undefined) throw sessionNotFound(task.key);
  const { epoch } = held.lease;
  const text = `${epoch}.${step}`;
  await using log = await agent.store.transcripts.open(transcriptName(entry), { held });
  await log.append([{ type: "message", message: { role: "user", content: text, timestamp: agent.clock.now() } }]);
  tell({ say: "appended", epoch, text });
}

/** Stores the epoch of the writer in the entry. */
async function update(agent: AgentHandle, held: HeldLease): Promise<void> {
  const { epoch } = held.lease;
  await agent.store.update(
    task.key,
    (current: CountedEntry | undefined) => {
      if (current === undefined) return undefined;
      const { count = 0 } = current.selftest ?? {};
      const counted: CountedEntry = { ...current, selftest: { count: count + 1, lastNumber: epoch } };
      return counted;
    },
    { lease: held.lease },
  );
  tell({ say: "updated", epoch });
}
