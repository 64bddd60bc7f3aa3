/** A cluster of three gateways that meets every kind of fault once. `npm run soak -- cluster` takes longer. */
import { expect, it } from "vitest";
import { CLUSTER_FAULTS, runCluster } from "./cluster.ts";

it("three gateways answer everything once and in order, whatever fails", { timeout: 120_000 }, async () => {
  const report = await runCluster({ faults: CLUSTER_FAULTS, seed: 19 });
  expect(report.failures).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(100);
});
