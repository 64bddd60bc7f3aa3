/** A thread that reads files for the search index. `read-threads.ts` starts and ends it. */
import { parentPort } from "node:worker_threads";
import { AHEAD, type NumberedJob, type Reading, readJob } from "./read-threads.ts";
import { createWordReader } from "./text-words.ts";

/** What waits for a message survives garbage collections, so messages are small. */
const MESSAGE_CHARACTERS = 32 * 1024;

const words = createWordReader();
const groups: NumberedJob[][] = [];
let isRunning = false;
let allowed = AHEAD;
let mayContinue: (() => void) | undefined;

parentPort?.on("message", (message: NumberedJob[] | "more") => {
  if (message === "more") {
    allowed += 1;
    mayContinue?.();
  } else {
    groups.push(message);
    if (!isRunning) void run();
  }
});

async function run(): Promise<void> {
  isRunning = true;
  for (let group = groups.shift(); group !== undefined; group = groups.shift()) await readGroup(group);
  isRunning = false;
}

async function readGroup(group: readonly NumberedJob[]): Promise<void> {
  let readings: Reading[] = [];
  let size = 0;
  for (const job of group) {
    for await (const reading of readJob(job, words)) {
      readings.push(reading);
      for (const { passages } of reading.part?.steps ?? []) for (const { text } of passages) size += text.length;
      if (size < MESSAGE_CHARACTERS) continue;
      await send(readings, false);
      [readings, size] = [[], 0];
    }
  }
  await send(readings, true);
}

async function send(readings: Reading[], endsGroup: boolean): Promise<void> {
  if (allowed === 0) await new Promise<void>((resolve) => (mayContinue = resolve));
  mayContinue = undefined;
  allowed -= 1;
  parentPort?.postMessage({ readings, endsGroup });
}
