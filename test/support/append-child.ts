/**
 * A process that appends to a transcript without a lease: `append-child.ts <path> <name> <count>`.
 * Prints the id of each acknowledged entry. SIGXFSZ is handled so that a file size limit of the
 * process shows itself as an error of write(), as a full disk does.
 */
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { reportError } from "../../src/base/errors.ts";
import { userDraft } from "./transcripts.ts";

process.on("SIGXFSZ", () => undefined);
const [path = "", name = "", count = "0", text = ""] = process.argv.slice(2);

try {
  await using log = await openTranscriptLog({ path, fence: name === "fenced" ? () => undefined : undefined });
  for (let index = 0; index < Number(count); index++) {
    const [entry] = await log.append([userDraft(`${name} ${index} ${text}`)]);
    process.stdout.write(`${entry?.id}\n`);
  }
} catch (error) {
  process.stdout.write(`${JSON.stringify(reportError(error))}\n`);
  process.exitCode = 1;
}
