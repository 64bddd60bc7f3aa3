/** Writes an export to stdout, or to a file that is replaced only when all of it was written. */
import { rm } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileError } from "../base/errors.ts";
import { replaceFile, sweepFolder, temporaryPath } from "../base/files.ts";
import { writeNewFile } from "../transcript/rewrite.ts";
import { talk } from "./output.ts";

export async function writeExport(pieces: AsyncIterable<string>, output: string | undefined): Promise<void> {
  if (output === undefined) {
    await pipeline(pieces, process.stdout, { end: false });
    return;
  }
  const target = resolve(output);
  await sweepFolder(dirname(target), basename(target));
  const temporary = temporaryPath(target);
  try {
    await writeNewFile(temporary, async (write) => {
      for await (const piece of pieces) await write(piece);
    });
    await replaceFile(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(error, "write", target);
  }
  talk(`Written to ${output}`);
}
