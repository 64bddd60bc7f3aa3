import { describe, expect, it } from "vitest";
import type { OutboxDraft, OutboxItem } from "../../src/store/queues.ts";
import type { Store } from "../../src/store/store.ts";
import { draft } from "./inbox-suite.ts";
import { acquire } from "./leases-suite.ts";
import { type MakeStore, refusal } from "./store-fixture.ts";

async function enqueue(store: Store, key: string, ...idempotencyKeys: string[]): Promise<OutboxItem[]> {
  return await store.outbox.enqueue(key, idempotencyKeys.map(draft));
}

async function enqueueOne(store: Store, idempotencyKey: string): Promise<OutboxItem> {
  const [item] = await enqueue(store, "main", idempotencyKey);
  if (item === undefined) throw new Error("Nothing was enqueued.");
  return item;
}

function draftTo(idempotencyKey: string, channel: string, accountId: string): OutboxDraft {
  const plain = draft(idempotencyKey);
  return { ...plain, target: { ...plain.target, channel, accountId } };
}

export function describeOutbox(makeStore: MakeStore): void {
  describe("outbox", () => {
    it("keeps a delivery once per idempotency key", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const item = await enqueueOne(store, "i-1");
      expect(item).toEqual({
        ...draft("i-1"),
        id: item.id,
        key: "agent:main:main",
        createdAt: clock.now(),
        state: "pending",
        attempts: 0,
        dueAt: clock.now(),
      });
      clock.advance(5);
      const second = await fixture.reopen();
      const again = await second.outbox.enqueue("main", [{ ...draft("i-1"), payload: "other" }, draft("i-2")]);
      expect(again[0]).toEqual(item);
      expect(again[1]?.idempotencyKey).toBe("i-2");
      expect(await store.outbox.due(clock.now(), 10)).toEqual(again);
      await store.outbox.delivered(item.id);
      expect(await enqueueOne(store, "i-1")).toMatchObject({ id: item.id, state: "delivered" });
    });

    it("accepts a fenced write of the newest holder", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const lease = await acquire(store);
      expect(await store.outbox.enqueue("main", [draft("i")], { lease })).toHaveLength(1);
    });

    it("returns due items in order, and none of a key after one that is not due", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const now = clock.now();
      const [a1, a2, a3] = await enqueue(store, "a", "a1", "a2", "a3");
      await enqueue(store, "b", "b1");
      const due = async (at: number, limit = 10) =>
        (await store.outbox.due(at, limit)).map((item) => item.idempotencyKey);
      expect(await due(now)).toEqual(["a1", "a2", "a3", "b1"]);
      expect(await due(now, 2)).toEqual(["a1", "a2"]);
      await store.outbox.retry(a2?.id ?? 0, now + 1_000, "rate limited");
      expect(await due(now)).toEqual(["a1", "b1"]);
      expect(await due(now + 1_000)).toEqual(["a1", "a2", "a3", "b1"]);
      await store.outbox.failed(a2?.id ?? 0, "gone");
      expect(await due(now)).toEqual(["a1", "a3", "b1"]);
      await store.outbox.delivered(a1?.id ?? 0, "platform-1");
      expect(await due(now)).toEqual(["a3", "b1"]);
      expect(await store.outbox.get(a1?.id ?? 0)).toMatchObject({ state: "delivered", deliveredId: "platform-1" });
      expect(await store.outbox.get(a2?.id ?? 0)).toMatchObject({ state: "failed", note: "gone" });
      expect(await store.outbox.get(a3?.id ?? 0)).toMatchObject({ state: "pending", attempts: 0 });
      expect(await store.outbox.get(9_999)).toBeUndefined();
      expect(await store.outbox.find("a1")).toMatchObject({ id: a1?.id, deliveredId: "platform-1" });
      expect(await store.outbox.find("a4")).toBeUndefined();
    });

    it("returns the items of one route, whatever waits for others", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const now = clock.now();
      const [cli, t1, d1] = await store.outbox.enqueue("main", [
        draftTo("cli", "cli", "default"),
        draftTo("t1", "telegram", "default"),
        draftTo("d1", "discord", "default"),
        draftTo("t2", "telegram", "work"),
        draftTo("t3", "telegram", "default"),
      ]);
      const due = async (channel: string, accountId: string, limit = 10) =>
        (await store.outbox.due(now, limit, { channel, accountId })).map((item) => item.idempotencyKey);
      expect(await due("telegram", "default")).toEqual(["t1", "t3"]);
      expect(await due("telegram", "default", 1)).toEqual(["t1"]);
      expect(await due("telegram", "work")).toEqual(["t2"]);
      expect(await due("signal", "default")).toEqual([]);
      await store.outbox.retry(cli?.id ?? 0, now + 1_000, "later");
      await store.outbox.retry(d1?.id ?? 0, now + 500, "later");
      expect(await due("telegram", "default")).toEqual(["t1", "t3"]);
      expect((await store.outbox.due(now, 10)).map((item) => item.idempotencyKey)).toEqual(["t1", "t2", "t3"]);
      await store.outbox.retry(t1?.id ?? 0, now + 700, "later");
      expect(await due("telegram", "default")).toEqual([]);
      expect(await due("telegram", "work")).toEqual(["t2"]);
      await store.outbox.delivered(d1?.id ?? 0);
      const routes = await store.outbox.routes();
      expect(
        routes.toSorted((a, b) => `${a.channel} ${a.accountId}`.localeCompare(`${b.channel} ${b.accountId}`)),
      ).toEqual([
        { channel: "cli", accountId: "default", waiting: 1, dueAt: now + 1_000 },
        { channel: "telegram", accountId: "default", waiting: 2, dueAt: now },
        { channel: "telegram", accountId: "work", waiting: 1, dueAt: now },
      ]);
    });

    it("lists failed items, newest first", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      expect(await store.outbox.failures(10)).toEqual([]);
      const items = await enqueue(store, "main", "a", "b", "c", "pending");
      for (const { id, idempotencyKey } of items.slice(0, 3)) await store.outbox.failed(id, `no ${idempotencyKey}`);
      expect(await store.outbox.failures(2)).toMatchObject([
        { idempotencyKey: "c", state: "failed", note: "no c" },
        { idempotencyKey: "b", note: "no b" },
      ]);
    });

    it("deletes settled items, and never waiting ones", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const [a, b] = await enqueue(store, "main", "delivered", "failed", "pending");
      await store.outbox.delivered(a?.id ?? 0);
      await store.outbox.failed(b?.id ?? 0, "gone");
      expect(await store.outbox.prune(clock.now())).toBe(0);
      expect(await store.outbox.prune(clock.now() + 1)).toBe(2);
      expect(await store.outbox.get(a?.id ?? 0)).toBeUndefined();
      expect((await store.outbox.due(clock.now(), 10)).map((item) => item.idempotencyKey)).toEqual(["pending"]);
      const again = await enqueueOne(store, "delivered");
      expect(again).toMatchObject({ state: "pending" });
      expect(again.id).toBeGreaterThan(b?.id ?? 0);
    });

    it("starts one attempt once", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const second = await fixture.reopen();
      const { id } = await enqueueOne(store, "i");
      const starts = await Promise.all(
        Array.from({ length: 6 }, (_, index) => (index % 2 ? second : store).outbox.startSending(id, 0)),
      );
      expect(starts.filter(Boolean)).toHaveLength(1);
      expect(await store.outbox.due(clock.now(), 10)).toMatchObject([{ id, state: "sending", attempts: 1 }]);
      expect(await store.outbox.startSending(id, 0)).toBe(false);
      expect(await store.outbox.startSending(id, 1)).toBe(true);
      await store.outbox.retry(id, clock.now(), "network");
      expect(await store.outbox.get(id)).toMatchObject({ state: "pending", attempts: 2, note: "network" });
      expect(await store.outbox.startSending(id, 2)).toBe(true);
      await store.outbox.delivered(id);
      expect(await store.outbox.startSending(id, 3)).toBe(false);
      expect(await store.outbox.startSending(9_999, 0)).toBe(false);
    });

    it("never sends a delivered item again", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const { id } = await enqueueOne(store, "i");
      await store.outbox.delivered(id, "p");
      const settled = { kind: "conflict", code: "already-delivered" };
      expect(await refusal(store.outbox.retry(id, 0, "late"))).toEqual(settled);
      expect(await refusal(store.outbox.failed(id, "late"))).toEqual(settled);
      await store.outbox.delivered(id);
      expect(await store.outbox.get(id)).toMatchObject({ state: "delivered", deliveredId: "p" });
      const missing = { kind: "not-found", code: "outbox-item-not-found" };
      expect(await refusal(store.outbox.delivered(9_999))).toEqual(missing);
      expect(await refusal(store.outbox.retry(9_999, 0, "x"))).toEqual(missing);
      expect(await refusal(store.outbox.failed(9_999, "x"))).toEqual(missing);
    });
  });
}
