/**
 * A worker thread with a connection of its own. A store in `thread` mode runs two: one that writes,
 * and one for long reads, so that neither waits for the other; the second one never takes the write lock. Started by `thread-client.ts`.
 */
import { parentPort, workerData } from "node:worker_threads";
import { createBatcher } from "./executor.ts";
import { applyBatch } from "./batch.ts";
import { connect } from "./database.ts";
import { listHandoffs } from "./handoff-rows.ts";
import { listAsJson, listSessions } from "./list-query.ts";
import type { ThreadAnswer, ThreadMessage, ThreadOptions, ThreadTask } from "./thread-client.ts";
import { writeView } from "./view-file.ts";
import { toWire } from "./wire-error.ts";

const { path, writer } = workerData as ThreadOptions;
const database = connect(path, writer);

const batcher = createBatcher((commands) => {
  const { outcomes, changes } = applyBatch(database, commands);
  if (changes.length > 0) answer({ changes });
  return outcomes;
});

parentPort?.on("message", (message: ThreadMessage) => {
  if (message === "close") {
    database.close();
    parentPort?.close();
    return;
  }
  for (const { id, task } of message) {
    perform(task).then(
      (value) => answer({ id, value }),
      (error: unknown) => answer({ id, error: toWire(error) }),
    );
  }
});

async function perform(task: ThreadTask): Promise<unknown> {
  if (task.do === "write") return await batcher.add(task.command);
  if (task.do === "list") return listSessions(database, task.query);
  if (task.do === "list-json") return listAsJson(database, task.query);
  if (task.do === "list-handoffs") return listHandoffs(database, task.limit);
  return await writeView(path, task.viewPath);
}

let answers: ThreadAnswer[] = [];

function answer(one: ThreadAnswer): void {
  if (answers.length === 0) process.nextTick(sendAnswers);
  answers.push(one);
}

function sendAnswers(): void {
  const sent = answers;
  answers = [];
  parentPort?.postMessage(sent);
}
