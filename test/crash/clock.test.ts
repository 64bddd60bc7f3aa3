import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temp-folder.ts";
import { STORE_KINDS, createAgentHome } from "../support/agent-home.ts";
import { createTestClock } from "../support/time.ts";
import { openStore } from "../support/stores.ts";
import { openWorkload } from "./workload.ts";
import { createRandom } from "../../src/selftest/operations.ts";

const AN_HOUR_MS = 3_600_000;
const KEY = "agent:main:test:dm:ada";
const LEASE = { ttlMs: 30_000 };

describe.each(STORE_KINDS)("a clock that jumps (%s)", (kind) => {
  test.each(["one", "two", "three"])("by hours between operations changes no acknowledged write (%s)", async (seed) => {
    await using folder = await temporaryFolder();
    const clock = createTestClock();
    const random = createRandom(seed);
    await using work = await openWorkload({ home: folder.path, kind, choice: { seed }, clock });
    for (let count = 0; count < 60; count++) {
      await work.next();
      if (random.chance(0.5)) clock.advance(random.whole(-12, 12) * AN_HOUR_MS);
    }
    expect(await work.problems()).toEqual([]);
  });

  test("back leaves released leases free and epochs rising", async () => {
    await using fixture = await createAgentHome(kind);
    const { leases } = fixture.agent.store;
    fixture.clock.advance(5 * AN_HOUR_MS);
    const first = await leases.acquire(KEY, LEASE);
    if (!first.acquired) throw new Error("A new session is free");
    await leases.release(first.lease);
    fixture.clock.advance(-9 * AN_HOUR_MS);
    const second = await leases.acquire(KEY, LEASE);
    expect(second).toMatchObject({ acquired: true, lease: { epoch: first.lease.epoch + 1 } });
  });

  test("forward lets another process take over, and the old holder stays rejected when it jumps back", async () => {
    await using fixture = await createAgentHome(kind);
    const { store } = fixture.agent;
    await store.update(KEY, () => ({ sessionId: "s-1", updatedAt: 1 }));
    const first = await store.leases.acquire(KEY, LEASE);
    if (!first.acquired) throw new Error("A new session is free");
    fixture.clock.advance(3 * AN_HOUR_MS);
    const other = await fixture.another();
    expect(await other.store.leases.acquire(KEY, LEASE)).toMatchObject({ acquired: true });
    fixture.clock.advance(-6 * AN_HOUR_MS);
    await expect(store.leases.assertCurrent(first.lease)).rejects.toMatchObject({ kind: "fenced" });
    const write = store.update(KEY, (entry) => entry && { ...entry, label: "late" }, { lease: first.lease });
    await expect(write).rejects.toMatchObject({ kind: "fenced" });
    expect(await store.leases.renew(first.lease, LEASE)).toBeUndefined();
  });

  test("between two machines may cost the slower one its lease, never an update", async () => {
    await using folder = await temporaryFolder();
    const slow = await openStore(kind, { home: folder.path, clock: createTestClock() });
    const fastClock = createTestClock();
    fastClock.advance(2 * AN_HOUR_MS);
    const fast = await openStore(kind, { home: folder.path, clock: fastClock });
    const stores = [slow, fast] as const;
    let accepted = 0;
    for (let turn = 0; turn < 40; turn++) {
      const store = stores[turn % 2 === 0 ? 0 : 1];
      const attempt = await store.leases.acquire(KEY, LEASE);
      if (!attempt.acquired) continue;
      const { lease } = attempt;
      await store.update(
        KEY,
        (entry) => ({ sessionId: "s-1", updatedAt: turn, inputTokens: (entry?.inputTokens ?? 0) + 1 }),
        { lease },
      );
      accepted++;
      if (turn % 3 !== 0) await store.leases.release(lease);
    }
    expect((await slow.get(KEY))?.inputTokens).toBe(accepted);
    expect(accepted).toBeGreaterThan(1);
    await Promise.all(stores.map(async (store) => await store.close()));
  });
});
