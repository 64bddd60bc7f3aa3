/** A file system of a few megabytes that can really be full: `await using disk = await smallDisk(2)`. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SmallDisk extends AsyncDisposable {
  path: string;
  /** Leaves no room at all. Resolves to the way to make room again. */
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

/** Mounting needs privileges that not everybody has. */
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
