import { describe, expect, test } from "vitest";
import { runCrashRounds, pointsOf } from "../../src/selftest/crash-rounds.ts";
import { programFile } from "../../src/selftest/run-child.ts";
import { bundlePrograms } from "./bundle-programs.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { STORE_KINDS } from "../support/agent-home.ts";

const CHILD = programFile("crash-child");
const ROUNDS = 210;
const PATIENCE_MS = 180_000;

describe("processes killed in the middle of their work", () => {
  test(
    "everything acknowledged is there, in order, once, wherever the kill came",
    async () => {
      await using folder = await temporaryFolder();
      await using programs = await bundlePrograms({ "crash-child": CHILD });
      const options = { folder: folder.path, programs: programs.folder, seed: "npm test", rounds: ROUNDS };
      const result = await runCrashRounds(options);

      expect(result.failures).toEqual([]);
      expect(result.kills).toBeGreaterThanOrEqual(200);
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
