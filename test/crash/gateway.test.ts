/** A gateway that is killed at every named step of a turn; `npm run soak` goes on for longer. */
import { expect, test } from "vitest";
import { TURN_STEPS, runGatewayRounds } from "./gateway-rounds.ts";

test("a gateway killed at every step of a turn answers everything, in order, and repeats only what it cannot know", async () => {
  const report = await runGatewayRounds({ kills: TURN_STEPS, seed: 4 });
  expect(report).toMatchObject({ failures: [], kills: TURN_STEPS.length });
  expect(report.duplicates).toBeLessThanOrEqual(report.repeatedAttempts);
  expect(report.repeatedUpdates).toBeGreaterThan(0);
}, 120_000);
