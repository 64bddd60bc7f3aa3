import { describe, expect, it } from "vitest";
import type { Store, StoreChange } from "../../src/store/store.ts";
import { draft } from "./inbox-suite.ts";
import { acquire } from "./leases-suite.ts";
import { type MakeStore, entry, put } from "./store-fixture.ts";

function collect(store: Store): {
  changes: StoreChange[];
  stop: () => void;
  heard: (what: string, key: string) => boolean;
} {
  const changes: StoreChange[] = [];
  const stop = store.onChange((change) => changes.push(change));
  return { changes, stop, heard: (what, key) => changes.some((c) => c.what === what && c.key === key) };
}

async function changeEverything(store: Store): Promise<void> {
  await put(store, "one", entry("s-1"));
  const lease = await acquire(store, "two");
  const address = { channel: "web", accountId: "default", chatId: "c", messageId: "m" };
  await store.inbox.admit({ key: "three", address, payload: 1, receivedAt: 1 });
  await store.outbox.enqueue("four", [draft("i")]);
  await store.handoffs.update("five", () => ({}));
  await store.leases.release(lease);
}

const EXPECTED = [
  ["entry", "agent:main:one"],
  ["lease", "agent:main:two"],
  ["inbox", "agent:main:three"],
  ["outbox", "agent:main:four"],
  ["handoff", "agent:main:five"],
] as const;

export function describeChanges(makeStore: MakeStore): void {
  describe("change feed", () => {
    it("reports its own changes", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const { heard, changes, stop } = collect(store);
      await changeEverything(store);
      await expect.poll(() => EXPECTED.every(([what, key]) => heard(what, key))).toBe(true);
      changes.length = 0;
      await store.delete("one");
      await store.handoffs.delete("five");
      await expect.poll(() => heard("entry", "agent:main:one")).toBe(true);
      await expect.poll(() => heard("handoff", "agent:main:five")).toBe(true);
      stop();
      changes.length = 0;
      await put(store, "one", entry("s-2"));
      expect(changes).toEqual([]);
    });

    it("reports changes of other handles", async () => {
      await using fixture = await makeStore();
      const second = await fixture.reopen();
      const { changes, heard } = collect(fixture.store);
      await changeEverything(second);
      await expect.poll(() => EXPECTED.every(([what, key]) => heard(what, key))).toBe(true);
      changes.length = 0;
      await second.delete("one");
      await second.handoffs.delete("five");
      await expect.poll(() => heard("handoff", "agent:main:five")).toBe(true);
      await put(second, "later", entry("s-3"));
      await expect.poll(() => heard("entry", "agent:main:later")).toBe(true);
    });

    it("reports neither refused changes nor earlier ones", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "before", entry("s-0"));
      const { changes } = collect(store);
      await expect(put(store, "wrong", entry(""))).rejects.toThrow("sessionId");
      await store.update("none", () => undefined);
      await store.handoffs.update("none", () => undefined);
      await store.handoffs.delete("none");
      await expect(store.handoffs.update("wrong", () => 5n)).rejects.toThrow("JSON");
      await put(store, "after", entry("s-1"));
      await expect.poll(() => changes).not.toEqual([]);
      expect(new Set(changes.map((change) => change.key))).toEqual(new Set(["agent:main:after"]));
    });

    it("continues when a listener throws", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      store.onChange(() => {
        throw new Error("a listener failed");
      });
      const { heard } = collect(store);
      await put(store, "one", entry("s-1"));
      await expect.poll(() => heard("entry", "agent:main:one")).toBe(true);
    });
  });
}
