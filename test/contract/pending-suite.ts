/** Group history and system events, which wait for the next turn of a key. */
import { describe, expect, it } from "vitest";
import type { GroupHistory, Store, SystemEvents } from "../../src/store/store.ts";
import type { MakeStore } from "./store-fixture.ts";

const KEY = "agent:main:main";

async function say(history: GroupHistory, key: string, ...texts: string[]): Promise<void> {
  for (const body of texts) await history.append(key, { sender: "A", body });
}

async function bodies(history: GroupHistory, key: string, id = "look", epoch = 1): Promise<string[]> {
  return (await history.take(key, { id, epoch })).map(({ body }) => body);
}

async function drained({ systemEvents }: Store, id: string, epoch = 1): Promise<string[]> {
  return (await systemEvents.drainSystemEvents(KEY, { id, epoch })).events.map(({ text }) => text);
}

async function enqueue(events: SystemEvents, ...texts: string[]): Promise<boolean[]> {
  const queued: boolean[] = [];
  for (const text of texts) queued.push(await events.enqueueSystemEvent(KEY, text));
  return queued;
}

export function describePending(makeStore: MakeStore): void {
  describe("group history", () => {
    it("survives a restart, in order and complete", async () => {
      await using fixture = await makeStore();
      const entry = { sender: "Ada", body: "x\ny", timestamp: 7, messageId: "m1" };
      await fixture.store.history.append("g", entry);
      await say(fixture.store.history, "g", "2");
      const { history } = await fixture.reopen();
      expect(await history.take("agent:main:g", { id: "t", epoch: 1 })).toEqual([entry, { sender: "A", body: "2" }]);
      expect(await bodies(history, "other")).toEqual([]);
    });

    it("keeps the newest 50 entries per key", async () => {
      await using fixture = await makeStore();
      const numbers = Array.from({ length: 60 }, (_, index) => String(index));
      await Promise.all(numbers.map(async (body) => await say(fixture.store.history, "g", body)));
      expect(await bodies(fixture.store.history, "g")).toEqual(numbers.slice(10));
    });

    it("keeps as many entries as configured, or none", async () => {
      await using fixture = await makeStore();
      const two = await fixture.reopen({ historyLimit: 2 });
      await say(two.history, "h", "1", "2", "3");
      expect(await bodies(two.history, "h")).toEqual(["2", "3"]);
      const none = await fixture.reopen({ historyLimit: 0 });
      await say(none.history, "off", "1");
      expect(await bodies(none.history, "off")).toEqual([]);
    });

    it("keeps the 1000 keys that were used last", async () => {
      await using fixture = await makeStore();
      const { history } = fixture.store;
      await say(history, "a", "1");
      await say(history, "b", "1");
      await say(history, "a", "2");
      const others = Array.from({ length: 999 }, (_, index) => `k${index}`);
      await Promise.all(others.map(async (key) => await say(history, key, "1")));
      expect(await bodies(history, "b")).toEqual([]);
      expect(await bodies(history, "a")).toEqual(["1", "2"]);
    });

    it("stores a message once", async () => {
      await using fixture = await makeStore();
      const { history } = fixture.store;
      const message = { sender: "A", body: "1", messageId: "m" };
      expect(await history.append("g", message)).toBe(true);
      expect(await history.append("g", message)).toBe(false);
      expect(await history.append("h", message)).toBe(true);
      expect(await bodies(history, "g")).toEqual(["1"]);
    });

    it("removes exactly the entries that a reply has seen", async () => {
      await using fixture = await makeStore();
      const { history } = fixture.store;
      await say(history, "g", "before");
      expect(await bodies(history, "g", "t1")).toEqual(["before"]);
      await say(history, "g", "during");
      expect(await bodies(history, "g", "t1")).toEqual(["before"]);
      expect(await history.clear("g", "t1")).toBe(true);
      expect(await history.clear("g", "t1")).toBe(false);
      expect(await bodies(history, "g", "t2")).toEqual(["during"]);
      await history.forget("g");
      expect(await bodies(history, "g", "t3")).toEqual([]);
    });

    it("truncates a body longer than any chat message", async () => {
      await using fixture = await makeStore();
      const { history } = fixture.store;
      await say(history, "g", `${"x".repeat(4095)}😀${"y".repeat(100)}`);
      const [body = ""] = await bodies(history, "g");
      expect(body).toMatch(/^x{4095}\ufffd… \(101 more characters\)$/);
    });
  });

  describe("system events", () => {
    it("wait for their session across a restart", async () => {
      await using fixture = await makeStore();
      await enqueue(fixture.store.systemEvents, " Model switched. ");
      await fixture.store.systemEvents.enqueueSystemEvent("agent:main:other", "not here");
      const { systemEvents } = await fixture.reopen();
      expect(await systemEvents.drainSystemEvents("main", { id: "t", epoch: 1 })).toEqual({
        id: "t",
        events: [{ at: fixture.clock.now(), text: "Model switched." }],
        dropped: 0,
      });
    });

    it("are reported once if the turn acknowledges them, and again if it does not", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await enqueue(store.systemEvents, "a");
      expect(await drained(store, "t1")).toEqual(["a"]);
      await enqueue(store.systemEvents, "b");
      expect(await drained(store, "t1")).toEqual(["a"]);
      expect(await drained(store, "t2")).toEqual(["a", "b"]);
      expect(await store.systemEvents.acknowledgeSystemEvents(KEY, "t1")).toBe(false);
      expect(await store.systemEvents.acknowledgeSystemEvents(KEY, "t2")).toBe(true);
      expect(await drained(store, "t3")).toEqual([]);
      expect(await store.systemEvents.acknowledgeSystemEvents(KEY, "t3")).toBe(false);
    });

    it("that arrive during a turn wait for the next one", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await enqueue(store.systemEvents, "a");
      await drained(store, "t1");
      await enqueue(store.systemEvents, "a");
      await store.systemEvents.acknowledgeSystemEvents(KEY, "t1");
      expect(await drained(store, "t2")).toEqual(["a"]);
    });

    it("skip empty and repeated texts", async () => {
      await using fixture = await makeStore();
      const queued = await enqueue(fixture.store.systemEvents, "a", "a", " ", "b", "a");
      expect(queued).toEqual([true, false, false, true, true]);
      expect(await drained(fixture.store, "t")).toEqual(["a", "b", "a"]);
    });

    it("report once how many were dropped", async () => {
      await using fixture = await makeStore();
      const { systemEvents } = fixture.store;
      const drain = async (id: string) => {
        const { events, dropped } = await systemEvents.drainSystemEvents(KEY, { id, epoch: 1 });
        return [dropped, ...events.map(({ text }) => text)];
      };
      const numbers = Array.from({ length: 50 }, (_, index) => String(index));
      await enqueue(systemEvents, ...numbers.slice(0, 22));
      expect(await drain("t1")).toEqual([2, ...numbers.slice(2, 22)]);
      // The items of a turn are not dropped, because its repetition needs them.
      await enqueue(systemEvents, ...numbers.slice(22, 43));
      expect(await drain("t1")).toEqual([2, ...numbers.slice(2, 22)]);
      await systemEvents.acknowledgeSystemEvents(KEY, "t1");
      expect(await drain("t2")).toEqual([1, ...numbers.slice(23, 43)]);
      await systemEvents.acknowledgeSystemEvents(KEY, "t2");
      await enqueue(systemEvents, "last");
      expect(await drain("t3")).toEqual([0, "last"]);
    });

    it("are refused to a process that lost its lease", async () => {
      await using fixture = await makeStore();
      const [paused, newer] = [fixture.store, await fixture.reopen()];
      await enqueue(paused.systemEvents, "a");
      expect(await drained(paused, "t1", 4)).toEqual(["a"]);
      expect(await drained(newer, "t2", 5)).toEqual(["a"]);
      await expect(drained(paused, "t1", 4)).rejects.toMatchObject({ kind: "fenced", code: "turn-fenced" });
      expect(await paused.systemEvents.acknowledgeSystemEvents(KEY, "t1")).toBe(false);
      expect(await newer.systemEvents.acknowledgeSystemEvents(KEY, "t2")).toBe(true);
    });

    it("are deleted with their session only", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await enqueue(store.systemEvents, "a");
      await store.systemEvents.enqueueSystemEvent("other", "b");
      await store.systemEvents.forgetSystemEvents(KEY);
      expect(await drained(store, "t")).toEqual([]);
      const other = await store.systemEvents.drainSystemEvents("other", { id: "t", epoch: 1 });
      expect(other.events).toMatchObject([{ text: "b" }]);
    });
  });

  it("refuses pending items of other agents", async () => {
    await using fixture = await makeStore();
    const { history, systemEvents } = fixture.store;
    const key = "agent:other:main";
    await expect(history.append(key, { sender: "A", body: "x" })).rejects.toMatchObject({ kind: "forbidden" });
    await expect(systemEvents.enqueueSystemEvent(key, "x")).rejects.toMatchObject({ kind: "forbidden" });
  });
}
