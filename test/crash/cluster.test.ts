/** A cluster of three gateways that meets the usual faults. `npm run soak -- cluster` takes longer. */
import { expect, it } from "vitest";
import { runCluster } from "./cluster.ts";

it("three gateways answer everything once and in order, whatever fails", { timeout: 120_000 }, async () => {
  const report = await runCluster({ faults: ["kill", "black-hole", "cut", "terminate", "restart"], seed: 19 });
  expect(report.failures).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(50);
});
