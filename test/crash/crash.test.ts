import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { describe, expect, test } from "vitest";
import { runCrashRounds, pointsOf } from "../../src/selftest/crash-rounds.ts";
import { programFile } from "../../src/selftest/run-child.ts";
import { STORE_KINDS } from "../support/agent-home.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const CHILD = programFile("crash-child");
/** Enough for every fault point of both stores; `npm run soak` kills thousands of times. */
const ROUNDS = 80;
const PATIENCE_MS = 180_000;

describe("processes killed while working", () => {
  test(
    "keep every acknowledged write once and in order, wherever the kill came",
    async () => {
      await using folder = await temporaryFolder();
      await using programs = await bundlePrograms({ "crash-child": CHILD });
      const options = { folder: folder.path, programs: programs.folder, seed: "npm test", rounds: ROUNDS };
      const result = await runCrashRounds(options);

      expect(result.failures).toEqual([]);
      expect(result.kills).toBeGreaterThanOrEqual(75);
      expect(result.random).toBeGreaterThan(0);
      expect(result.powerCuts).toBeGreaterThan(0);
      expect(result.acknowledged).toBeGreaterThan(result.kills);
      const everyPoint = STORE_KINDS.flatMap((kind) => pointsOf(kind).map((point) => `${kind}/${point}`));
      expect(Object.keys(result.byPoint).toSorted()).toEqual(everyPoint.toSorted());
      expect(result.unreached).toEqual([]);
    },
    PATIENCE_MS,
  );
});

/** As deep below the root as the sources, which find the package relative to themselves. */
const PARENT = join(import.meta.dirname, "..", "..", "dist");

interface BundledPrograms extends AsyncDisposable {
  folder: string;
}

/** Threads and processes that a program starts from its own folder must be listed too. */
async function bundlePrograms(sources: Readonly<Record<string, string>>): Promise<BundledPrograms> {
  await mkdir(PARENT, { recursive: true });
  const folder = await mkdtemp(join(PARENT, "programs-"));
  const remove = async (): Promise<void> => await rm(folder, { recursive: true, force: true });
  await using undo = new AsyncDisposableStack();
  undo.defer(remove);
  const bundle = await rolldown({
    input: { ...sources },
    platform: "node",
    checks: { ineffectiveDynamicImport: false },
    // Packages stay external, except one with many files that every program loads.
    external: (id) => /^[^./]/.test(id) && !/^zod(?:\/|$)/.test(id),
  });
  await bundle.write({ dir: folder, format: "esm" });
  await bundle.close();
  undo.move();
  return { folder, [Symbol.asyncDispose]: remove };
}
