/**
 * The program that gets killed. It performs random operations on one agent and writes each intention and each result
 * to stdout, until it kills itself at the n-th hit of a fault point or its parent kills it. Its argument is a CrashTask
 * as JSON.
 */
import { flushCompileCache } from "node:module";
import { type FaultPoint, installFaultAction } from "../base/faults.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { StoreKind } from "../store/store.ts";
import { type Workplace, perform, type Choice, chooseOperation } from "./perform.ts";
import type { JournalLine } from "./expectation.ts";
import { errorText, openHome, say } from "./run-child.ts";

export interface CrashTask extends Choice {
  home: string;
  kind: StoreKind;
  firstNumber: number;
  /** Operations before the child ends without being killed. */
  operations: number;
  /** Default: the parent kills. */
  dieAt?: { point: FaultPoint; hit: number } | undefined;
}

const tell: (line: JournalLine) => void = say;
const task = JSON.parse(process.argv[2] ?? "") as CrashTask;

await work();

async function work(): Promise<void> {
  const place = await openWorkplace();
  // Node saves compiled code at exit, which a killed process never reaches.
  flushCompileCache();
  armFaultPoint();
  tell({ say: "ready" });
  for (let number = task.firstNumber; number < task.firstNumber + task.operations; number++) {
    const operation = await chooseOperation(place.agent, number, task);
    tell({ say: "begin", operation });
    try {
      tell({ say: "end", result: await perform(place, operation) });
    } catch (error) {
      tell({ say: "failed", error: errorText(error) });
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
    onLease: ({ key, epoch }) => tell({ say: "leased", key, epoch }),
  };
  return place;
}

async function open(): Promise<AgentHandle> {
  return await openHome(task.home, task.kind, { view: true });
}

function armFaultPoint(): void {
  const { dieAt } = task;
  if (dieAt === undefined) return;
  let hits = 0;
  installFaultAction((point) => {
    if (point !== dieAt.point || ++hits < dieAt.hit) return;
    process.kill(process.pid, "SIGKILL");
    // The signal may take a moment; nothing may run after the fault point.
    for (;;);
  });
}
