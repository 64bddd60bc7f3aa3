/**
 * The program that gets killed. It works on one agent with a random mix of operations, says what it
 * is about to do and what it has done, and goes on until it dies: by its own hand at the n-th hit of
 * a fault point, or by its parent's at any instant. Its one argument is a CrashTask as JSON.
 */
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { type FaultPoint, installFaultAction } from "../base/faults.ts";
import { silentLogger } from "../base/log.ts";
import { openAgent } from "../compose.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { StoreKind } from "../store/store.ts";
import { type Choice, chooseOperation } from "./choose-operation.ts";
import type { JournalLine } from "./journal.ts";
import { type Workplace, perform } from "./perform.ts";

export interface CrashTask extends Choice {
  home: string;
  kind: StoreKind;
  firstNumber: number;
  /** How many operations to do before giving up waiting for death. */
  operations: number;
  /** Left out: the parent kills. */
  dieAt?: { point: FaultPoint; hit: number };
}

const task = JSON.parse(process.argv[2] ?? "") as CrashTask;

await work();

async function work(): Promise<void> {
  const place = await openWorkplace();
  // Node keeps compiled code when a process ends; this one will not be given the time.
  flushCompileCache();
  armFaultPoint();
  say({ say: "ready" });
  for (let number = task.firstNumber; number < task.firstNumber + task.operations; number++) {
    const operation = await chooseOperation(place.agent, number, task);
    say({ say: "begin", operation });
    try {
      const result = await perform(place, operation);
      say({ say: "end", number, result });
    } catch (error) {
      say({ say: "failed", number, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
      break;
    }
  }
  await place.agent.store.close();
}

async function openWorkplace(): Promise<Workplace> {
  const place: Workplace = {
    agent: await open(),
    reopen: async () => {
      await place.agent.store.close();
      place.agent = await open();
    },
    onLease: ({ key, epoch }) => say({ say: "leased", key, epoch }),
  };
  return place;
}

async function open(): Promise<AgentHandle> {
  const config = { ...DEFAULT_CONFIG, store: { kind: task.kind, view: true } };
  return await openAgent({ home: task.home, config, logger: silentLogger });
}

function armFaultPoint(): void {
  const { dieAt } = task;
  if (dieAt === undefined) return;
  let hits = 0;
  installFaultAction((point) => {
    if (point !== dieAt.point || ++hits < dieAt.hit) return;
    process.kill(process.pid, "SIGKILL");
    // The signal may take a moment, and nothing may happen after the fault point.
    for (;;);
  });
}

/** Written at once and in one piece; `process.stdout` would buffer what a killed process then never says. */
function say(line: JournalLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
