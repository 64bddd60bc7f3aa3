/**
 * A worker thread with its own connection, started by `thread-client.ts`. A store in `thread` mode has two: one writes,
 * the other does long reads and never takes the write lock, so neither waits for the other.
 */
import { parentPort, workerData } from "node:worker_threads";
import { reportError } from "../../base/errors.ts";
import { connect } from "./database.ts";
import { createBatcher } from "./executor.ts";
import { listAsJson, listSessions } from "./list-query.ts";
import { listHandoffs } from "./session-rows.ts";
import { type ThreadAnswer, type ThreadMessage, type ThreadOptions, type ThreadTask } from "./thread-client.ts";
import { writeView } from "./view-file.ts";
import { createApplyBatch } from "./writes.ts";

const { path, writer } = workerData as ThreadOptions;
const database = connect(path, writer);

const apply = createApplyBatch(database);
const batcher = createBatcher((commands) => {
  const { outcomes, changes } = apply(commands);
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
      (error: unknown) => answer({ id, error: reportError(error) }),
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
