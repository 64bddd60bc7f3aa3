import { describe, expect, test } from "vitest";
import { runCrashRounds } from "../../src/selftest/crash-rounds.ts";
import { pointsOf } from "../../src/selftest/kill-plan.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { STORE_KINDS } from "../support/test-agent.ts";

const ROUNDS = 210;
const PATIENCE_MS = 180_000;

describe("processes killed in the middle of their work", () => {
  test(
    "everything acknowledged is there, in order, once, wherever the kill came",
    async () => {
      await using folder = await temporaryFolder();
      const result = await runCrashRounds({ folder: folder.path, seed: "npm test", rounds: ROUNDS });

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
