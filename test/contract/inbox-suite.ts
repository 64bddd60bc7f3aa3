import { describe, expect, it } from "vitest";
import { type Admission, type OutboxDraft, GIVEN_UP_NOTE } from "../../src/store/queues.ts";
import type { Mutate } from "../../src/store/session-entry.ts";
import type { Store } from "../../src/store/store.ts";
import { acquire } from "./leases-suite.ts";
import { type MakeStore, entry, put, refusal } from "./store-fixture.ts";

const KEY = "agent:main:main";

function message(messageId: string, more: Partial<Admission> = {}): Admission {
  return {
    key: "main",
    address: { channel: "telegram", accountId: "default", chatId: "42", messageId },
    payload: { Body: `text of ${messageId}` },
    receivedAt: 500,
    ...more,
  };
}

const addToken: Mutate = (before) => before && { ...before, totalTokens: (before.totalTokens ?? 0) + 1 };

const START = { startSending: true };

export function draft(idempotencyKey: string): OutboxDraft {
  return {
    idempotencyKey,
    target: { channel: "telegram", accountId: "default", to: "42", chatType: "direct", threadId: 7 },
    payload: { text: `reply ${idempotencyKey}` },
  };
}

async function admitAll(store: Store, ...messageIds: string[]): Promise<number[]> {
  const ids: number[] = [];
  for (const messageId of messageIds) ids.push((await store.inbox.admit(message(messageId))).item.id);
  return ids;
}

export function describeInbox(makeStore: MakeStore): void {
  describe("inbox", () => {
    it("admits a message once across handles and states", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const first = await store.inbox.admit(message("m-1"));
      expect(first).toEqual({
        admitted: true,
        item: { ...message("m-1"), key: KEY, id: first.item.id, state: "queued", attempts: 0 },
      });
      const second = await fixture.reopen();
      const again = await second.inbox.admit(message("m-1", { key: "elsewhere", payload: "other" }));
      expect(again).toEqual({ admitted: false, item: first.item });
      await store.inbox.drop("main", [first.item.id], "not wanted");
      expect(await store.inbox.admit(message("m-1"))).toMatchObject({ admitted: false, item: { state: "dropped" } });
      const twins = await Promise.all([store.inbox.admit(message("m-2")), second.inbox.admit(message("m-2"))]);
      expect(twins.filter((twin) => twin.admitted)).toHaveLength(1);
    });

    it("finds the sessions with messages that no living process holds, the longest waiting first", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      for (const key of ["c", "a", "b"]) await store.inbox.admit(message(`in ${key}`, { key }));
      const held = await acquire(store, "a");
      expect(await store.inbox.unattended(9)).toEqual(["agent:main:c", "agent:main:b"]);
      expect(await store.inbox.unattended(1)).toEqual(["agent:main:c"]);
      await store.leases.release(held);
      const lease = await acquire(store, "c");
      await store.inbox.claim(lease);
      expect(await store.inbox.unattended(9)).toEqual(["agent:main:a", "agent:main:b"]);
      await store.leases.release(lease);
      // A process that died has left it running.
      expect(await store.inbox.unattended(9)).toEqual(["agent:main:c", "agent:main:a", "agent:main:b"]);
    });

    it("distinguishes messages by every part of their address", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const { address } = message("m");
      const addresses = [
        address,
        { ...address, channel: "signal" },
        { ...address, accountId: "second" },
        { ...address, chatId: "43" },
        { ...address, chatId: "4", messageId: "2m" },
      ];
      for (const other of addresses) {
        expect((await store.inbox.admit(message("m", { address: other }))).admitted).toBe(true);
      }
      expect(await store.inbox.pending()).toHaveLength(5);
    });

    it("keeps the order of admission", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await admitAll(store, "b", "a");
      await store.inbox.admit(message("x", { key: "elsewhere" }));
      await admitAll(store, "c");
      const order = async (key?: string) => (await store.inbox.pending(key)).map((item) => item.address.messageId);
      expect(await order()).toEqual(["b", "a", "x", "c"]);
      expect(await order("main")).toEqual(["b", "a", "c"]);
      expect(await order("elsewhere")).toEqual(["x"]);
    });

    it("claims the oldest items of the lease's key, each once", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const ids = await admitAll(store, "a", "b", "c");
      await store.inbox.admit(message("x", { key: "elsewhere" }));
      const lease = await acquire(store);
      const first = await store.inbox.claim(lease, { limit: 1 });
      expect(first).toMatchObject([{ id: ids[0], state: "running", attempts: 1 }]);
      const rest = await store.inbox.claim(lease);
      expect(rest.map((item) => item.id)).toEqual(ids.slice(1));
      expect(await store.inbox.claim(lease)).toEqual([]);
      expect((await store.inbox.pending("main")).map((item) => item.state)).toEqual(["running", "running", "running"]);
    });

    it("requeues items whose turn died", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const ids = await admitAll(store, "a", "b");
      await store.inbox.claim(await acquire(store, "main", 1_000), { limit: 1 });
      clock.advance(1_000);
      const lease = await acquire(store);
      expect(await store.inbox.requeue(lease)).toMatchObject([{ id: ids[0], state: "queued", attempts: 1 }]);
      expect(await store.inbox.claim(lease)).toMatchObject([
        { id: ids[0], attempts: 2 },
        { id: ids[1], attempts: 1 },
      ]);
    });

    it("claims by id only items queued under the key", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const [a = 0, b = 0, c = 0] = await admitAll(store, "a", "b", "c");
      const { item: foreign } = await store.inbox.admit(message("x", { key: "elsewhere" }));
      const lease = await acquire(store);
      const claimed = await store.inbox.claim(lease, { ids: [c, b, c, foreign.id, 9_999] });
      expect(claimed.map(({ id, state, attempts }) => ({ id, state, attempts }))).toEqual([
        { id: b, state: "running", attempts: 1 },
        { id: c, state: "running", attempts: 1 },
      ]);
      expect(await store.inbox.claim(lease, { ids: [b, c] })).toEqual([]);
      expect(await store.inbox.claim(lease, { ids: [] })).toEqual([]);
      expect(await store.inbox.claim(lease)).toMatchObject([{ id: a }]);
      expect(await store.inbox.get(foreign.id)).toMatchObject({ state: "queued" });
    });

    it("requeues single items, and does not count an excused attempt", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const [a = 0, b = 0] = await admitAll(store, "a", "b");
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      const [back] = await store.inbox.requeue(lease, { ids: [b], excuse: "the process ended" });
      expect(back).toMatchObject({ id: b, state: "queued", attempts: 0, note: "the process ended" });
      expect(await store.inbox.get(a)).toMatchObject({ state: "running", attempts: 1 });
      expect(await store.inbox.claim(lease)).toMatchObject([{ id: b, attempts: 1, note: "the process ended" }]);
    });

    it("remembers which messages started together, and separates them", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const [a = 0, b = 0, c = 0] = await admitAll(store, "a", "b", "c");
      const lease = await acquire(store);
      const together = await store.inbox.claim(lease, { ids: [a, b], turn: String(a) });
      expect(together.map(({ turn }) => turn)).toEqual([String(a), String(a)]);
      await store.inbox.claim(lease, { ids: [c] });
      await store.inbox.requeue(lease);
      const turns = async () => (await (await fixture.reopen()).inbox.pending()).map(({ turn }) => turn);
      expect(await turns()).toEqual([String(a), String(a), undefined]);
      await store.inbox.claim(lease, { ids: [a, b] });
      expect(await turns()).toEqual([String(a), String(a), undefined]);
      await store.inbox.requeue(lease, { ids: [a, b], excuse: "one by one", apart: true });
      const [first, second] = await turns();
      expect(new Set([first, second, String(a), String(b)]).size).toBe(4);
    });

    it("lists given-up messages, newest first", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const [a = 0, b = 0, c = 0] = await admitAll(store, "a", "b", "c");
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      expect(await store.inbox.givenUp(10)).toEqual([]);
      await store.inbox.finish(lease, [a], [], { note: GIVEN_UP_NOTE });
      await store.inbox.finish(lease, [b], [], { note: "failed" });
      await store.inbox.finish(lease, [c], [], { note: GIVEN_UP_NOTE });
      expect((await store.inbox.givenUp(10)).map(({ id }) => id)).toEqual([c, a]);
      expect(await store.inbox.givenUp(1)).toMatchObject([{ id: c, state: "done" }]);
    });

    it("ends items and enqueues the replies together", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const ids = await admitAll(store, "a", "b");
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      const replies = await store.inbox.finish(lease, ids, [draft("r-1"), draft("r-2")]);
      expect(replies.map((reply) => [reply.key, reply.idempotencyKey, reply.state])).toEqual([
        [KEY, "r-1", "pending"],
        [KEY, "r-2", "pending"],
      ]);
      const second = await fixture.reopen();
      expect(await second.inbox.pending()).toEqual([]);
      expect(await second.inbox.get(ids[0] ?? 0)).toMatchObject({ state: "done", attempts: 1 });
      expect(await second.outbox.due(clock.now(), 10)).toEqual(replies);
    });

    it("starts sending the first reply in the same commit, unless an earlier one waits", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const [a = 0, b = 0, c = 0] = await admitAll(store, "a", "b", "c");
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      const [first, second] = await store.inbox.finish(lease, [a], [draft("r-1"), draft("r-2")], START);
      expect(first).toMatchObject({ state: "sending", attempts: 1 });
      expect(second).toMatchObject({ state: "pending", attempts: 0 });
      expect(await store.outbox.get(first?.id ?? 0)).toEqual(first);
      expect(await store.outbox.startSending(first?.id ?? 0, 0)).toBe(false);
      // An earlier reply waits.
      expect(await store.inbox.finish(lease, [b], [draft("r-3")], START)).toEqual([]);
      expect(await store.outbox.due(Date.now(), 9)).toMatchObject([{}, {}, { state: "pending", attempts: 0 }]);
      // A repeated draft is not started again.
      await store.outbox.delivered(first?.id ?? 0);
      expect(await store.inbox.finish(lease, [c], [draft("r-1")], START)).toEqual([]);
    });

    it("records how an item ended", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const [a = 0, b = 0] = await admitAll(store, "a", "b");
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      await store.inbox.finish(lease, [a], [], { note: "answered" });
      await store.inbox.finish(lease, [b], [], { release: true });
      expect(await store.leases.current("main")).toBeUndefined();
      expect(await refusal(store.inbox.claim(lease))).toEqual({ kind: "fenced", code: "lease-lost" });
      expect(await store.inbox.get(a)).toMatchObject({ state: "done", note: "answered" });
      expect(await store.inbox.get(b)).not.toHaveProperty("note");
    });

    it("stores the result of an ended item for every process", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const ids = await admitAll(store, "a", "b", "c");
      const [a = 0, b = 0, c = 0] = ids;
      const ending = { text: "what was said", usage: { input: 3 }, left: undefined };
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      await store.inbox.finish(lease, [a, b], [], { note: "answered", ending });
      ending.text = "changed afterwards";
      await store.inbox.finish(lease, [c], []);
      const second = await fixture.reopen();
      for (const id of [a, b]) {
        const item = await second.inbox.get(id);
        expect(item).toMatchObject({ state: "done", note: "answered" });
        expect(item?.ending).toEqual({ text: "what was said", usage: { input: 3 } });
      }
      expect(await second.inbox.get(c)).not.toHaveProperty("ending");
      const { admitted, item } = await second.inbox.admit(message("a"));
      expect([admitted, item]).toEqual([false, await store.inbox.get(a)]);
    });

    it("changes the entry with the end, both or neither", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      const [a = 0, b = 0] = await admitAll(store, "a", "b");
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      await store.inbox.finish(lease, [a], [draft("r")], { entry: addToken });
      await store.inbox.finish(lease, [b], [], { entry: () => undefined, release: true });
      const second = await fixture.reopen();
      expect((await second.get("main"))?.totalTokens).toBe(1);
      expect(await second.inbox.pending()).toEqual([]);
      const late = store.inbox.finish(lease, [b], [], { entry: addToken });
      expect(await refusal(late)).toEqual({ kind: "fenced", code: "lease-lost" });
      expect((await second.get("main"))?.totalTokens).toBe(1);
    });

    it("changes the entry despite a concurrent update", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const second = await fixture.reopen();
      await put(store, "main", entry("s-1"));
      const ids = await admitAll(store, "a");
      const lease = await acquire(store);
      await store.inbox.claim(lease);
      const others = Array.from({ length: 20 }, async () => await second.update("main", addToken));
      const [replies] = await Promise.all([
        store.inbox.finish(lease, ids, [draft("r")], { entry: addToken, release: true }),
        ...others,
      ]);
      expect(replies).toMatchObject([{ idempotencyKey: "r" }]);
      expect((await store.get("main"))?.totalTokens).toBe(21);
    });

    it("claims a single new message together with the lease, otherwise none", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const none = await store.leases.acquire("main", { ttlMs: 60_000, claim: true });
      expect(none.acquired && none.claimed).toBeUndefined();
      if (none.acquired) await store.leases.release(none.lease);
      const [a = 0] = await admitAll(store, "a");
      await store.inbox.admit(message("x", { key: "elsewhere" }));
      const only = await store.leases.acquire("main", { ttlMs: 60_000, claim: true });
      expect(only).toMatchObject({ acquired: true, claimed: { id: a, state: "running", attempts: 1 } });
      if (!only.acquired) return;
      expect(await store.inbox.get(a)).toEqual(only.claimed);
      await store.inbox.requeue(only.lease, { excuse: "later" });
      await store.leases.release(only.lease);
      const begunBefore = await store.leases.acquire("main", { ttlMs: 60_000, claim: true });
      expect(begunBefore.acquired && begunBefore.claimed).toBeUndefined();
      if (!begunBefore.acquired) return;
      await store.inbox.claim(begunBefore.lease);
      await store.inbox.finish(begunBefore.lease, [a], [], { release: true });
      await admitAll(store, "b", "c");
      const withTwo = await store.leases.acquire("main", { ttlMs: 60_000, claim: true });
      expect(withTwo.acquired && withTwo.claimed).toBeUndefined();
      expect((await store.inbox.pending("main")).map(({ state }) => state)).toEqual(["queued", "queued"]);
    });

    it("ends no item when one of them cannot be ended", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const ids = await admitAll(store, "a", "b");
      const { item: foreign } = await store.inbox.admit(message("x", { key: "elsewhere" }));
      const lease = await acquire(store);
      await store.inbox.claim(lease, { limit: 1 });
      for (const id of [ids[1] ?? 0, foreign.id, 9_999]) {
        const finish = store.inbox.finish(lease, [ids[0] ?? 0, id], [draft("r")]);
        expect(await refusal(finish)).toEqual({ kind: "conflict", code: "inbox-item-not-running" });
      }
      expect((await store.inbox.pending()).map((item) => item.state)).toEqual(["running", "queued", "queued"]);
      expect(await store.outbox.due(clock.now(), 10)).toEqual([]);
    });

    it("drops queued items only, with a note", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const ids = await admitAll(store, "a", "b");
      const { item: foreign } = await store.inbox.admit(message("x", { key: "elsewhere" }));
      await store.inbox.claim(await acquire(store), { limit: 1 });
      const dropped = await store.inbox.drop("main", [...ids, foreign.id, 9_999], "queue full");
      expect(dropped).toMatchObject([{ id: ids[1], state: "dropped", note: "queue full" }]);
      expect((await store.inbox.pending()).map((item) => item.id)).toEqual([ids[0], foreign.id]);
      expect(await store.inbox.get(ids[1] ?? 0)).toEqual(dropped[0]);
      expect(await store.inbox.get(9_999)).toBeUndefined();
    });

    it("replies to dropped messages, and to no others", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const [a = 0, b = 0] = await admitAll(store, "a", "b");
      await store.inbox.claim(await acquire(store), { limit: 1 });
      const replies = [a, b].map((itemId) => ({ itemId, draft: draft(`dropped-${itemId}`) }));
      expect(await store.inbox.drop("main", [a, b], "queue full", replies)).toMatchObject([{ id: b }]);
      const due = await store.outbox.due(clock.now(), 10);
      expect(due.map(({ key, idempotencyKey }) => [key, idempotencyKey])).toEqual([[KEY, `dropped-${b}`]]);
    });

    it("prunes items that ended before a time, never waiting ones", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const admitAt = async (messageId: string, receivedAt: number) =>
        (await store.inbox.admit(message(messageId, { receivedAt }))).item.id;
      const ids = [await admitAt("a", 100), await admitAt("b", 101), await admitAt("c", 102)];
      await admitAt("running", 100);
      await admitAt("queued", 100);
      const lease = await acquire(store);
      await store.inbox.claim(lease, { limit: 4 });
      await store.inbox.finish(lease, ids, []);
      expect(await store.inbox.prune(102)).toBe(2);
      expect(await store.inbox.prune(102)).toBe(0);
      expect(await store.inbox.get(ids[0] ?? 0)).toBeUndefined();
      expect(await store.inbox.get(ids[2] ?? 0)).toMatchObject({ state: "done" });
      const states = (await store.inbox.pending()).map((item) => item.state);
      expect(states).toEqual(["running", "queued"]);
      // Ids are never reused, so the new item cannot be mistaken for the old one.
      const again = await store.inbox.admit(message("a"));
      expect(again.admitted).toBe(true);
      expect(again.item.id).toBeGreaterThan(Math.max(...ids));
    });

    it("reports changes after a prune", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const second = await fixture.reopen();
      const told: string[] = [];
      second.onChange(({ what, key }) => void told.push(`${what} ${key}`));
      const [a = 0] = await admitAll(store, "a");
      await store.inbox.drop("main", [a], "not wanted");
      await store.inbox.prune(Number.MAX_SAFE_INTEGER);
      await store.inbox.admit(message("b", { key: "elsewhere" }));
      await expect.poll(() => told, { timeout: 5_000 }).toContain("inbox agent:main:elsewhere");
    });
  });
}
