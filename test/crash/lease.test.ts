import { describe, expect, test } from "vitest";
import { runLeaseRounds } from "../../src/selftest/lease-rounds.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { STORE_KINDS } from "../support/agent-home.ts";

const TAKEOVERS = 4;
const PATIENCE_MS = 120_000;

describe.each(STORE_KINDS)("four processes contending for a session (%s)", (kind) => {
  test(
    "one takes over from a killed or paused holder, and the paused one is rejected when it resumes",
    async () => {
      await using folder = await temporaryFolder();
      const result = await runLeaseRounds({ folder: folder.path, seed: "npm test", kind, takeovers: TAKEOVERS });

      expect(result.problems).toEqual([]);
      expect(result.killed).toBe(TAKEOVERS / 2);
      expect(result.paused).toBe(TAKEOVERS / 2);
      expect(result.acknowledged).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});
