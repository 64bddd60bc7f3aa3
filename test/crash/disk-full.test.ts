import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/base/errors.ts";
import { canMount, smallDisk } from "../support/temp-folder.ts";
import { STORE_KINDS } from "../support/agent-home.ts";
import { createTestClock } from "../support/time.ts";
import { openWorkload } from "./workload.ts";

const MEGABYTES = 3;
const A_MINUTE_MS = 60_000;

/** Where nothing can be mounted, injected-errors.test.ts still tests the same error. */
describe.skipIf(!canMount()).each(STORE_KINDS)("a full disk (%s)", (kind) => {
  test("refuses writes that do not fit, keeps acknowledged ones, and works again with free space", async () => {
    await using disk = await smallDisk(MEGABYTES);
    const clock = createTestClock();
    await using work = await openWorkload({ home: disk.path, kind, choice: { seed: "full" }, clock });
    for (let count = 0; count < 30; count++) await work.next();

    const makeRoom = await disk.fill();
    const refusals: unknown[] = [];
    for (let count = 0; count < 15; count++) {
      await work.next().catch((error: unknown) => refusals.push(error));
      clock.advance(A_MINUTE_MS);
      expect(await work.problems({ onlyRead: true })).toEqual([]);
    }
    expect(refusals.length).toBeGreaterThan(0);
    for (const error of refusals) {
      expect(error).toBeInstanceOf(HoldfastError);
      expect(error).toMatchObject({ kind: "unavailable", code: "disk-full" });
    }

    await makeRoom();
    for (let count = 0; count < 30; count++) await work.next();
    expect(await work.problems()).toEqual([]);
  });
});
