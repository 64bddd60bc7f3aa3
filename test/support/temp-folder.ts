/** Scratch folders that are gone when the test ends: `await using folder = await temporaryFolder()`. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
  join(...parts: string[]): string;
}

export interface TemporaryFolderOptions {
  /** For tests that depend on the speed of a disk. Default: in memory if possible. */
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

export interface SmallDisk extends AsyncDisposable {
  path: string;
  /** Fills the disk. Resolves to a function that frees the space. */
  fill(): Promise<() => Promise<void>>;
}

export async function smallDisk(megabytes: number): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-disk-"));
  mount(path, megabytes);
  return {
    path,
    async fill() {
      const ballast = join(path, "ballast");
      // Page by page, so that the last one fits exactly.
      for (const size of [1_000_000, 100_000, 4096]) {
        for (let full = false; !full;) {
          full = await writeFile(ballast, Buffer.alloc(size), { flag: "a" }).then(
            () => false,
            () => true,
          );
        }
      }
      return async () => await rm(ballast);
    },
    [Symbol.asyncDispose]: async () => {
      execFileSync("umount", [path]);
      await rm(path, { recursive: true });
    },
  };
}

/** Mounting needs privileges. */
export function canMount(): boolean {
  const path = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
  try {
    mount(path, 1);
    execFileSync("umount", [path]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(path, { recursive: true });
  }
}

function mount(path: string, megabytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path], { stdio: "ignore" });
}
