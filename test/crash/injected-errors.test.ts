import { afterEach, describe, expect, test } from "vitest";
import { type FaultPoint, installFaultAction } from "../../src/base/faults.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { STORE_KINDS } from "../support/agent-home.ts";
import { createTestClock } from "../support/time.ts";
import { openWorkload } from "./workload.ts";
import { leanOf, pointsOf } from "../../src/selftest/crash-rounds.ts";

/** Points that are reached only after a crash; the crash tests cover them. */
const AFTER_A_CRASH: ReadonlySet<FaultPoint> = new Set([
  "transcript.torn.saved",
  "transcript.torn.cut",
  "lock.takeover.claimed",
]);
const MOST_OPERATIONS = 80;
const OPERATIONS_AFTERWARDS = 12;
const A_MINUTE_MS = 60_000;

afterEach(() => installFaultAction(undefined));

describe.each(STORE_KINDS)("a disk error (%s)", (kind) => {
  const points = pointsOf(kind).filter((point) => !AFTER_A_CRASH.has(point));

  test.each(points.map((point, index) => ({ point, code: index % 2 === 0 ? "EIO" : "ENOSPC" })))(
    "$code at $point leaves everything acknowledged in place and the process able to work",
    async ({ point, code }) => {
      await using folder = await temporaryFolder();
      const lean = leanOf(point, kind);
      const choice = { seed: point, lean };
      const clock = createTestClock();
      await using work = await openWorkload({ home: folder.path, kind, choice, clock });
      const fault = failOnce(point, code, 3);

      for (let count = 0; !fault.happened() && count < MOST_OPERATIONS; count++) {
        await work.next().catch((error: unknown) => {
          // Any other error is a real failure.
          if (!String(error).includes(code)) throw error;
        });
      }
      expect(fault.happened()).toBe(true);
      // A lease whose holder never learned of it, or could not release it, ends when it expires.
      clock.advance(A_MINUTE_MS);
      expect(await work.problems()).toEqual([]);

      for (let count = 0; count < OPERATIONS_AFTERWARDS; count++) await work.next();
      expect(await work.problems()).toEqual([]);
    },
  );
});

function failOnce(point: FaultPoint, code: string, hit: number): { happened: () => boolean } {
  let hits = 0;
  installFaultAction((reached) => {
    if (reached === point && ++hits === hit) throw Object.assign(new Error(`${code}: injected`), { code });
  });
  return { happened: () => hits >= hit };
}
