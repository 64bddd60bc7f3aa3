/** Documents as files of one folder. Other tools and people read some of them. */
import { chmod } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import {
  PRIVATE_FOLDER,
  ensurePrivateFolder,
  fileExists,
  readFileIfPresent,
  readFolderIfPresent,
  removeFileIfPresent,
  setAside,
  syncFolder,
  writeFileDurable,
} from "../base/files.ts";
import type { Documents } from "./documents.ts";

/** The folder is created with the first write. */
export function createDocumentFiles(folder: string, clock: Clock = systemClock): Documents {
  const pathOf = (name: string): string => join(folder, basename(name));
  const read = async (name: string): Promise<string | undefined> => (await readFileIfPresent(pathOf(name)))?.toString();
  let isPrivate = false;
  const prepare = async (): Promise<void> => {
    await ensurePrivateFolder(folder);
    if (isPrivate) return;
    // Fails in a folder of another user. `holdfast doctor` reports it.
    await chmod(folder, PRIVATE_FOLDER).catch(() => undefined);
    isPrivate = true;
  };
  const write = async (name: string, text: string): Promise<void> => {
    await prepare();
    await writeFileDurable(pathOf(name), text);
  };

  return {
    async names() {
      const items = await readFolderIfPresent(folder);
      const files = items.filter((item) => item.isFile()).map(({ name }) => name);
      return files.filter((name) => name.endsWith(".json")).toSorted();
    },
    read,
    write,
    async add(name, text) {
      if (await fileExists(pathOf(name))) return false;
      await write(name, text);
      return true;
    },
    async update(name, edit) {
      // Most commands change no document.
      const { withFileLock } = await import("../base/lock-file.ts");
      await prepare();
      return await withFileLock(`${pathOf(name)}.lock`, { clock }, async () => {
        const { value, text } = edit(await read(name));
        if (text !== undefined) await writeFileDurable(pathOf(name), text);
        return value;
      });
    },
    async remove(name) {
      if (!(await fileExists(pathOf(name)))) return;
      await removeFileIfPresent(pathOf(name));
      await syncFolder(folder);
    },
    setAside: async (name, word) => void (await setAside(pathOf(name), word, clock.now())),
    locationOf: pathOf,
  };
}
