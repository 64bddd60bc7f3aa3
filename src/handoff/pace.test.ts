import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createPacer } from "./pace.ts";

const { signal: NEVER } = new AbortController();

describe("the pace of background work", () => {
  it("leaves nearly all time to running turns", async () => {
    const pacer = createPacer();
    pacer.busy();
    const pace = pacer.begin(NEVER);
    const worked = work(10);
    const began = performance.now();
    await pace.rest();
    // A timer may be early by less than a millisecond; no rest is longer than a quarter of a second.
    expect(performance.now() - began).toBeGreaterThan(Math.min(worked * 19, 250) - 2);
  });

  it("is at full speed when no turn runs or somebody waits for it", async () => {
    const pacer = createPacer();
    const pace = pacer.begin(NEVER);
    work(20);
    const idle = performance.now();
    await pace.rest();
    expect(performance.now() - idle).toBeLessThan(300);

    pacer.busy();
    work(100);
    const began = performance.now();
    const resting = pace.rest();
    await pacer.hurried(async () => await resting);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it("ends when the work is aborted", async () => {
    const pacer = createPacer();
    const giveUp = new AbortController();
    const pace = pacer.begin(giveUp.signal);
    giveUp.abort(new Error("not wanted"));
    await expect(pace.rest()).rejects.toThrow("not wanted");
    pacer.busy();
    await delay(1);
    await expect(pacer.begin(NEVER).rest()).resolves.toBeUndefined();
  });
});

/** Resolves to how long it really took. */
function work(ms: number): number {
  const began = performance.now();
  while (performance.now() - began < ms);
  return performance.now() - began;
}
