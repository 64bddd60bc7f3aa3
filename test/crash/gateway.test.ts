/** A gateway killed at every named step of a turn; `npm run soak` does more rounds. */
import { expect, test } from "vitest";
import { TURN_STEPS, runGatewayRounds } from "./gateway-rounds.ts";

test("a gateway killed at every step of a turn answers everything in order, and repeats only deliveries with unknown outcome", async () => {
  const report = await runGatewayRounds({ kills: TURN_STEPS, seed: 4 });
  expect(report).toMatchObject({ failures: [], kills: TURN_STEPS.length });
  expect(report.duplicates).toBeLessThanOrEqual(report.repeatedAttempts);
  expect(report.repeatedUpdates).toBeGreaterThan(0);
}, 240_000);
