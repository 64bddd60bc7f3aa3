/** How much disk `npm ci --omit=dev` takes, from the lockfile and the packages installed here. */
import { lstat, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const BLOCK_BYTES = 512;

interface LockedPackage {
  dev?: boolean | undefined;
  devOptional?: boolean | undefined;
  peer?: boolean | undefined;
}

export async function productionMegabytes(): Promise<number> {
  const lock = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const folders = Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, peer }]) => path !== "" && !(dev ?? devOptional ?? peer ?? false))
    .map(([path]) => join(ROOT, path));
  const sizes = await Promise.all(folders.map(folderBytes));
  return sizes.reduce((sum, bytes) => sum + bytes, 0) / 1024 / 1024;
}

/** Excludes nested packages, which have their own lines. A package for another platform is not installed. */
async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      if (entry.name === "node_modules") return 0;
      const path = join(folder, entry.name);
      return entry.isDirectory() ? await folderBytes(path) : (await lstat(path)).blocks * BLOCK_BYTES;
    }),
  );
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}
