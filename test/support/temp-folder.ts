/** A folder that is gone when the test ends: `await using folder = await temporaryFolder()`. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
  join(...parts: string[]): string;
}

export interface TemporaryFolderOptions {
  /** For tests in which the time that a disk takes is part of what is tested. Left out: in memory if possible. */
  onDisk?: boolean;
}

export async function temporaryFolder({ onDisk = false }: TemporaryFolderOptions = {}): Promise<TemporaryFolder> {
  const parent = onDisk ? tmpdir() : (process.env["HOLDFAST_TEST_SCRATCH"] ?? tmpdir());
  const path = await mkdtemp(join(parent, "holdfast-test-"));
  return {
    path,
    join: (...parts) => join(path, ...parts),
    [Symbol.asyncDispose]: async () => {
      await rm(path, { recursive: true, force: true });
    },
  };
}

/** `files`: path below the folder → content. */
export async function folderWith(files: Record<string, string>): Promise<TemporaryFolder> {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(folder.join(path)), { recursive: true });
    await writeFile(folder.join(path), content);
  }
  return folder;
}
