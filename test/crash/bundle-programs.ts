/**
 * Joins programs into few files, as the build does with the command line: `await using programs = await
 * bundlePrograms({ child: path })`. For tests that start a program again and again: looking for its hundred
 * modules takes longer than what it does until it is killed.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";

/** As deep below the root as the sources are, which look for the package from where they lie. */
const PARENT = join(import.meta.dirname, "..", "..", "dist");

export interface BundledPrograms extends AsyncDisposable {
  folder: string;
}

/** Threads and processes that a program starts from beside itself have to be named, too. */
export async function bundlePrograms(sources: Readonly<Record<string, string>>): Promise<BundledPrograms> {
  await mkdir(PARENT, { recursive: true });
  const folder = await mkdtemp(join(PARENT, "programs-"));
  const remove = async (): Promise<void> => await rm(folder, { recursive: true, force: true });
  await using undo = new AsyncDisposableStack();
  undo.defer(remove);
  const bundle = await rolldown({
    input: { ...sources },
    platform: "node",
    checks: { ineffectiveDynamicImport: false },
    // Packages stay where they are, but for the one of many files that every program loads.
    external: (id) => /^[^./]/.test(id) && !/^zod(?:\/|$)/.test(id),
  });
  await bundle.write({ dir: folder, format: "esm" });
  await bundle.close();
  undo.move();
  return { folder, [Symbol.asyncDispose]: remove };
}
