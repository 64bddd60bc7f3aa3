/** The worker thread that writes, with its own connection. Started by `thread-client.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { reportError } from "../../base/errors.ts";
import { connect } from "./database.ts";
import type { ThreadAnswer, ThreadMessage, ThreadOptions } from "./thread-client.ts";
import { createWriter } from "./writes.ts";

const { path, writer: name } = workerData as ThreadOptions;
const database = connect(path, name);
const writer = createWriter(database, (changes) => {
  if (changes.length > 0) answer({ changes: [...changes] });
});

parentPort?.on("message", (message: ThreadMessage) => {
  if (message === "close") {
    database.close();
    parentPort?.close();
    return;
  }
  for (const { id, task } of message) {
    const done = "viewPath" in task ? writer.writeView(task.viewPath) : writer.add(task);
    done.then(
      (value) => answer({ id, value }),
      (error: unknown) => answer({ id, error: reportError(error) }),
    );
  }
});

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
