import { describe, expect, it } from "vitest";
import { currentProcess } from "../../src/base/processes.ts";
import type { Lease, Leased } from "../../src/store/queues.ts";
import type { Store } from "../../src/store/store.ts";
import { startChild } from "../support/child.ts";
import { type MakeStore, entry, put, refusal } from "./store-fixture.ts";

const FENCED = { kind: "fenced", code: "lease-lost" };

export async function acquire(store: Store, leased: Leased = "main", ttlMs = 60_000): Promise<Lease> {
  const attempt = await store.leases.acquire(leased, { ttlMs });
  if (!attempt.acquired) throw new Error(`The lease is held by ${attempt.held.holder}`);
  return attempt.lease;
}

export function describeLeases(makeStore: MakeStore): void {
  describe("leases", () => {
    it("has one holder at a time", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const second = await fixture.reopen();
      expect(await store.leases.current("main")).toBeUndefined();
      const lease = await acquire(store);
      expect(lease).toMatchObject({
        key: "agent:main:main",
        epoch: 1,
        process: currentProcess(),
        expiresAt: clock.now() + 60_000,
      });
      for (const other of [store, second]) {
        expect(await other.leases.acquire("agent:main:main", { ttlMs: 1 })).toEqual({ acquired: false, held: lease });
        expect(await other.leases.current("main")).toEqual(lease);
      }
      expect((await acquire(second, "elsewhere")).epoch).toBe(1);
    });

    it("has separate leases for the connection and the deliveries of an account", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const route = { channel: "telegram", accountId: "default" };
      const connection = await acquire(store, { connection: route });
      await acquire(store, route);
      const second = await fixture.reopen();
      expect((await second.leases.acquire({ connection: route }, { ttlMs: 1 })).acquired).toBe(false);
      expect(await second.leases.renew(connection, { ttlMs: 60_000 })).toMatchObject({ key: connection.key });
      await second.leases.release(connection);
      expect((await acquire(second, { connection: route })).epoch).toBe(2);
    });

    it("gives a released lease to the next holder, with a higher epoch", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const first = await acquire(store);
      await store.leases.release(first);
      expect(await store.leases.current("main")).toBeUndefined();
      const second = await acquire(store);
      expect(second.epoch).toBe(2);
      expect(second.holder).not.toBe(first.holder);
      await store.leases.release(first);
      expect(await store.leases.current("main")).toEqual(second);
    });

    it("gives an expired lease to the next holder and fences off the old one", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const second = await fixture.reopen();
      const old = await acquire(store, "main", 1_000);
      clock.advance(999);
      expect((await second.leases.acquire("main", { ttlMs: 1 })).acquired).toBe(false);
      clock.advance(1);
      expect(await store.leases.current("main")).toBeUndefined();
      const taken = await acquire(second);
      expect(taken.epoch).toBe(old.epoch + 1);
      expect(await store.leases.renew(old, { ttlMs: 1_000 })).toBeUndefined();
      expect(await refusal(store.leases.assertCurrent(old))).toEqual(FENCED);
      await store.leases.release(old);
      expect(await second.leases.current("main")).toEqual(taken);
    });

    it("extends a lease, even an expired one that nobody took", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const lease = await acquire(store, "main", 1_000);
      clock.advance(5_000);
      await store.leases.assertCurrent(lease);
      const renewed = await store.leases.renew(lease, { ttlMs: 2_000 });
      expect(renewed).toEqual({ ...lease, expiresAt: clock.now() + 2_000 });
      expect(await store.leases.current("main")).toEqual(renewed);
    });

    it("reassigns the lease of a dead process at once", async () => {
      await using fixture = await makeStore();
      const { store, home } = fixture;
      await startChild("store", { kind: store.kind, home, task: "die-with-lease", leased: "main" }).ended();
      // A database needs a moment to notice.
      await expect.poll(() => store.leases.current("main")).toBeUndefined();
      expect(await store.leases.list()).toMatchObject([{ key: "agent:main:main", epoch: 1 }]);
      expect((await acquire(store)).epoch).toBe(2);
    });

    it("never lowers an epoch, not even when the session is deleted", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      const lease = await acquire(store);
      await store.delete("main", { lease });
      await store.leases.release(lease);
      expect((await acquire(store)).epoch).toBe(2);
    });

    it("lets exactly one of many contenders win", async () => {
      await using fixture = await makeStore();
      const second = await fixture.reopen();
      for (let round = 1; round <= 5; round++) {
        const attempts = await Promise.all(
          Array.from({ length: 8 }, (_, index) =>
            (index % 2 ? second : fixture.store).leases.acquire("main", { ttlMs: 1_000 }),
          ),
        );
        const winners = attempts.flatMap((attempt) => (attempt.acquired ? [attempt.lease] : []));
        expect(winners.map((lease) => lease.epoch)).toEqual([round]);
        fixture.clock.advance(1_000);
      }
    });

    it("separates an account's deliveries from sessions and other accounts", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const route = { channel: "telegram", accountId: "default" };
      const lease = await acquire(store, route);
      expect(await store.leases.acquire(route, { ttlMs: 1 })).toEqual({ acquired: false, held: lease });
      const others = [
        lease.key,
        ` :${lease.key}`,
        lease.key.toUpperCase(),
        `agent:main:${lease.key}`,
        "agent:main:delivery:telegram:default",
        { channel: "telegram", accountId: "second" },
        { channel: "telegram:default", accountId: "default" },
      ];
      for (const other of others) await store.leases.release(await acquire(store, other));
      await acquire(await fixture.openOther("other"), route);
      expect(await store.leases.list()).toEqual([lease]);

      expect(await store.leases.current(route)).toEqual(lease);
      const renewed = await store.leases.renew(lease, { ttlMs: 90_000 });
      expect(await store.leases.current(lease)).toEqual(renewed);
      await store.leases.assertCurrent(lease);
      await store.leases.release(lease);
      expect(await store.leases.current(route)).toBeUndefined();
      expect((await acquire(store, lease)).key).toBe(lease.key);
      expect(await refusal(store.leases.assertCurrent(lease))).toEqual(FENCED);
    });

    it("lists unreleased leases", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const one = await acquire(store, "one", 1_000);
      const two = await acquire(store, "two");
      await store.leases.release(await acquire(store, "three"));
      clock.advance(5_000);
      const listed = await store.leases.list();
      expect(listed.sort((a, b) => a.key.localeCompare(b.key))).toEqual([one, two]);
    });

    it("rejects every write with a stale epoch", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      await put(store, "main", entry("s-1"));
      const address = { channel: "web", accountId: "default", chatId: "c", messageId: "m" };
      const { item } = await store.inbox.admit({ key: "main", address, payload: 1, receivedAt: 1 });
      const stale = await acquire(store, "main", 1_000);
      clock.advance(1_000);
      const fresh = await acquire(await fixture.reopen());
      const draft = { idempotencyKey: "i", target: { channel: "web", accountId: "default", to: "x" }, payload: 1 };
      const writes: (() => Promise<unknown>)[] = [
        () => store.update("main", () => entry("s-2"), { lease: stale }),
        () => store.delete("main", { lease: stale }),
        () => store.inbox.claim(stale),
        () => store.inbox.requeue(stale),
        () => store.inbox.finish(stale, [item.id], [draft]),
        () => store.outbox.enqueue("main", [draft], { lease: stale }),
      ];
      for (const write of writes) expect(await refusal(write())).toEqual(FENCED);
      expect(await store.get("main")).toEqual(entry("s-1"));
      expect(await store.inbox.get(item.id)).toEqual(item);
      expect(await store.outbox.due(clock.now(), 10)).toEqual([]);
      await store.update("main", () => entry("s-2"), { lease: fresh });
      expect((await store.get("main"))?.sessionId).toBe("s-2");
    });

    it("rejects a released lease, and a lease of another key", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const lease = await acquire(store);
      const other = store.update("elsewhere", () => entry("s-1"), { lease });
      expect(await refusal(other)).toEqual({ kind: "usage", code: "lease-of-another-key" });
      await store.leases.release(lease);
      expect(await refusal(store.update("main", () => entry("s-1"), { lease }))).toEqual(FENCED);
      expect(await refusal(store.leases.assertCurrent(lease))).toEqual(FENCED);
      expect(await store.leases.renew(lease, { ttlMs: 1_000 })).toBeUndefined();
      expect((await store.list()).total).toBe(0);
    });
  });
}
