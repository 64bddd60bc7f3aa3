/**
 * Works on the pending items of a store until it is killed or done. Prints acknowledged items, one JSON value per
 * line. Its argument is a PendingChildTask.
 */
import { appendFileSync, existsSync, readFileSync, writeSync } from "node:fs";
import type { StoreKind } from "../../src/store/store.ts";
import { openStore } from "../support/stores.ts";

export type PendingChildTask = { kind: StoreKind; home: string } & (
  | { task: "append"; start: number }
  | { task: "enqueue"; name: string; count: number }
  | { task: "turns"; epoch: number; turns: number; transcript: string; dieAfter?: TurnStep; dieInTurn?: number }
);

export type TurnStep = "enqueued" | "drained" | "written" | "acknowledged";

/** A line of the stand-in for a transcript. */
export interface WrittenTurn {
  turn: string;
  events: string[];
}

const task = JSON.parse(process.argv[2] ?? "") as PendingChildTask;
const store = await openStore(task.kind, { home: task.home, historyLimit: 1000 });
const { history, systemEvents: events } = store;
const KEY = "agent:main:main";

if (task.task === "append") {
  for (let step = task.start; ; step++) {
    await history.append("group", { sender: "A", body: String(step), messageId: `m-${step}` });
    say(step);
  }
} else if (task.task === "enqueue") {
  for (let step = 0; step < task.count; step++) {
    await events.enqueueSystemEvent(KEY, `${task.name}-${step}`);
    say(`${task.name}-${step}`);
  }
} else {
  for (let number = 0; number < task.turns; number++) await runTurn(task, number);
}
await store.close();

/** As the real one: what was written already is not written again, only acknowledged. */
async function runTurn(plan: Extract<PendingChildTask, { task: "turns" }>, number: number): Promise<void> {
  const reach = (step: TurnStep): void => {
    if (plan.dieInTurn === number && plan.dieAfter === step) process.kill(process.pid, "SIGKILL");
  };
  const turn = `turn-${number}`;
  if (!writtenTurns(plan.transcript).includes(turn)) {
    const name = `${plan.epoch}-${number}`;
    await events.enqueueSystemEvent(KEY, name);
    say(name);
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

function say(what: unknown): void {
  writeSync(1, `${JSON.stringify(what)}\n`);
}
