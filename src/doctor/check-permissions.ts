/** Conversations are private: folders 0700, files 0600. One finding a folder, however many files it has. */
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../base/files.ts";
import type { Diagnosis } from "./finding.ts";
import { inParallel, listFolder, lookAt } from "./folders.ts";

export async function* checkPermissions(folders: readonly string[]): AsyncGenerator<Diagnosis> {
  // Windows has no such modes.
  if (process.platform === "win32") return;
  for (const folder of folders) {
    const facts = await lookAt(folder);
    if (facts === undefined) continue;
    if (facts.mode !== PRIVATE_FOLDER) {
      yield {
        finding: {
          severity: "warning",
          message: `The folder has mode ${octal(facts.mode)} instead of ${octal(PRIVATE_FOLDER)}`,
          path: folder,
          fix: `set the mode to ${octal(PRIVATE_FOLDER)}`,
        },
        mend: async () => await chmod(folder, PRIVATE_FOLDER),
      };
    }
    const open = await filesWithOtherModes(folder);
    const [first] = open;
    if (first === undefined) continue;
    yield {
      finding: {
        severity: "warning",
        message: `${countFiles(open.length)} in the folder ${open.length === 1 ? "has" : "have"} another mode than ${octal(PRIVATE_FILE)}: ${first.name} (${octal(first.mode)})${open.length === 1 ? "" : ", …"}`,
        path: folder,
        fix: `set the mode to ${octal(PRIVATE_FILE)}`,
      },
      mend: async () => {
        for (const { name } of open) await chmod(join(folder, name), PRIVATE_FILE);
      },
    };
  }
}

async function filesWithOtherModes(folder: string): Promise<{ name: string; mode: number }[]> {
  const names = (await listFolder(folder)).filter((item) => item.isFile()).map(({ name }) => name);
  const files = await inParallel(names, async (name) => ({ name, mode: (await lookAt(join(folder, name)))?.mode }));
  return files.flatMap(({ name, mode }) => (mode === undefined || mode === PRIVATE_FILE ? [] : [{ name, mode }]));
}

function countFiles(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}
