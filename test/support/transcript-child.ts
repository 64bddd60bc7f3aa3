/**
 * Works on a transcript and reports each acknowledged entry. `append` reports ids and, without a lease, shares the
 * file with other processes; the other tasks report texts until they are killed at a fault point.
 */
import { reportError } from "../../src/base/errors.ts";
import { compactTranscript } from "../../src/transcript/compact.ts";
import { createTranscript, openTranscriptLog } from "../../src/transcript/log.ts";
import { childTask, dieAt, report } from "./child.ts";
import { userDraft } from "./transcripts.ts";

const task = childTask("transcript");
const { path } = task;
/** The lease is held all the time. */
const fence = (): void => undefined;

if (task.task === "append") {
  // A limit on the file size then is an error of write(), as a full disk is.
  process.on("SIGXFSZ", () => undefined);
  try {
    await using log = await openTranscriptLog({ path, fence: task.name === "fenced" ? fence : undefined });
    for (let index = 0; index < task.count; index++) {
      const [entry] = await log.append([userDraft(`${task.name} ${index} ${task.text ?? ""}`)]);
      report(entry?.id);
    }
  } catch (error) {
    report(reportError(error));
    process.exitCode = 1;
  }
} else {
  dieAt(task.point, task.occurrence);
  if (task.task === "compact") await compactTranscript(path, { maxEntries: 3 });
  else await appendUntilKilled(task.task === "create");
}

async function appendUntilKilled(isNew: boolean): Promise<void> {
  await using log = isNew
    ? await createTranscript({ path, sessionId: "sid", cwd: "/", durability: "entry", fence })
    : await openTranscriptLog({ path, durability: "entry", fence });
  for (let index = 0; index < 10; index++) {
    await log.append([userDraft(`new ${index}`)]);
    report(`new ${index}`);
  }
}
