/**
 * A process that kills itself at the nth passing of a fault point while it works on a transcript:
 * `transcript-crash-child.ts <path> <task> <point> <n>`. Prints the text of each acknowledged entry.
 */
import { writeSync } from "node:fs";
import { type FaultPoint, installFaultAction } from "../../src/base/faults.ts";
import { compactTranscript } from "../../src/transcript/compact.ts";
import { createTranscript, openTranscriptLog } from "../../src/transcript/log.ts";
import { userDraft } from "./transcripts.ts";

const [path = "", task = "", point = "", passing = "1"] = process.argv.slice(2);
/** The lease is held all the time. */
const fence = (): void => undefined;
let left = Number(passing);
installFaultAction((passed: FaultPoint) => {
  if (passed === point && --left === 0) process.kill(process.pid, "SIGKILL");
});

if (task === "compact") {
  await compactTranscript(path, { maxEntries: 3 });
} else {
  const log =
    task === "create"
      ? await createTranscript({ path, sessionId: "sid", cwd: "/", durability: "entry", fence })
      : await openTranscriptLog({ path, durability: "entry", fence });
  for (let index = 0; index < 10; index++) {
    await log.append([userDraft(`new ${index}`)]);
    writeSync(1, `new ${index}\n`);
  }
  await log.close();
}
