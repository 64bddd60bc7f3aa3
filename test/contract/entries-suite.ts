import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../../src/store/session-entry.ts";
import { type MakeStore, entry, put, refusal } from "./store-fixture.ts";

function increment(current: SessionEntry | undefined): SessionEntry {
  return entry("s-1", { inputTokens: (current?.inputTokens ?? 0) + 1 });
}

export function describeEntries(makeStore: MakeStore): void {
  describe("entries", () => {
    it("returns nothing for an unknown key", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      expect(await store.get("main")).toBeUndefined();
      expect(await store.list()).toEqual({ sessions: [], total: 0 });
      expect(await store.delete("main")).toBeUndefined();
      expect(await store.windows("main")).toEqual([]);
    });

    it("stores what mutate returns and resolves to it", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const seen: (SessionEntry | undefined)[] = [];
      const stored = await store.update("main", (current) => {
        seen.push(current);
        return entry("s-1", { model: "m" });
      });
      expect(stored).toEqual(entry("s-1", { model: "m" }));
      await store.update("main", (current) => {
        seen.push(structuredClone(current));
        return current && { ...current, model: "n" };
      });
      expect(seen).toEqual([undefined, entry("s-1", { model: "m" })]);
      expect(await store.get("main")).toEqual(entry("s-1", { model: "n" }));
    });

    it("changes nothing when mutate returns undefined", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      expect(await store.update("main", () => undefined)).toBeUndefined();
      expect((await store.list()).total).toBe(0);
      await put(store, "main", entry("s-1"));
      const kept = await store.update("main", (current) => {
        if (current !== undefined) current.model = "changed in place, then thought better of";
        return undefined;
      });
      expect(kept).toEqual(entry("s-1"));
      expect(await store.get("main")).toEqual(entry("s-1"));
    });

    it("changes nothing when mutate throws, and keeps working", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      const failing = store.update("main", () => {
        throw new Error("mutate failed");
      });
      await expect(failing).rejects.toThrow("mutate failed");
      expect(await store.get("main")).toEqual(entry("s-1"));
      await put(store, "main", entry("s-1", { model: "m" }));
      expect(await store.get("main")).toEqual(entry("s-1", { model: "m" }));
    });

    it("refuses an invalid field, naming it, and changes nothing", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      const wrong = { ...entry("s-1"), inputTokens: "many" } as unknown as SessionEntry;
      const update = store.update("main", () => wrong);
      await expect(update).rejects.toThrow("inputTokens");
      expect(await refusal(update)).toEqual({ kind: "usage", code: "invalid-entry" });
      const nameless = { updatedAt: 1 } as SessionEntry;
      expect(await refusal(store.update("new", () => nameless))).toEqual({ kind: "usage", code: "invalid-entry" });
      expect(await store.get("main")).toEqual(entry("s-1"));
      expect(await store.get("new")).toBeUndefined();
    });

    it("keeps unknown fields as they are", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const foreign = JSON.parse(
        `{"nested":{"deep":[1,null,{"x":"é\\u0000\\ud83d\\ude00"}]},"zero":0,"empty":"","no":false,"nothing":null,"__proto__":{"polluted":true}}`,
      ) as Record<string, unknown>;
      await put(store, "main", { ...foreign, ...entry("s-1") });
      await store.update("main", (current) => current && { ...current, model: "m" });
      const second = await fixture.reopen();
      const read = await second.get("main");
      expect(JSON.parse(JSON.stringify(read))).toEqual({ ...foreign, ...entry("s-1"), model: "m" });
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    });

    it("keeps large values, shared between entries or not", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const skillsSnapshot = { prompt: "p".repeat(20_000), skills: [{ name: "a" }] };
      const large = { skillsSnapshot, someFutureReport: ["x".repeat(5_000)] };
      await put(store, "one", entry("s-1", large));
      await put(store, "two", entry("s-2", large));
      await store.update("one", (current) => current && { ...current, skillsSnapshot: { prompt: "", skills: [] } });
      expect(await store.get("one")).toEqual(entry("s-1", { ...large, skillsSnapshot: { prompt: "", skills: [] } }));
      expect(await store.get("two")).toEqual(entry("s-2", large));
      await store.delete("two");
      expect(await store.get("one")).toMatchObject({ someFutureReport: large.someFutureReport });
    });

    it("removes a field that mutate omits", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1", { model: "m", lastHeartbeatText: "x".repeat(3_000) }));
      await put(store, "main", { ...entry("s-1"), ...({ model: undefined } as object) });
      expect(Object.keys((await store.get("main")) ?? {}).sort()).toEqual(["sessionId", "updatedAt"]);
    });

    it("returns copies, never its own objects", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const mine = entry("s-1", { deliveryContext: { channel: "telegram" } });
      const stored = await store.update("main", () => mine);
      if (mine.deliveryContext) mine.deliveryContext.channel = "changed by the writer";
      if (stored?.deliveryContext) stored.deliveryContext.channel = "changed by the reader";
      const first = await store.get("main");
      if (first?.deliveryContext) first.deliveryContext.channel = "changed again";
      const listed = (await store.list()).sessions[0];
      if (listed?.entry.deliveryContext) listed.entry.deliveryContext.channel = "and again";
      expect((await store.get("main"))?.deliveryContext).toEqual({ channel: "telegram" });
    });

    it("deletes the entry with its windows and returns them", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      await put(store, "main", entry("s-2"));
      const deleted = await store.delete("main");
      expect(deleted).toMatchObject({ key: "agent:main:main", entry: entry("s-2") });
      expect(deleted?.windows.map((window) => window.sessionId)).toEqual(["s-1", "s-2"]);
      expect(await store.get("main")).toBeUndefined();
      expect(await store.windows("main")).toEqual([]);
      expect(await store.findWindows("s-1", 10)).toEqual([]);
    });

    it("applies concurrent updates of one key in sequence", async () => {
      await using fixture = await makeStore();
      const second = await fixture.reopen();
      await Promise.all(
        Array.from({ length: 60 }, (_, index) => (index % 2 ? second : fixture.store).update("main", increment)),
      );
      expect((await fixture.store.get("main"))?.inputTokens).toBe(60);
    });

    it("commits the other updates when one is refused", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const wrong = { sessionId: 5, updatedAt: 1 } as unknown as SessionEntry;
      const results = await Promise.allSettled([
        store.update("one", () => entry("s-1", { label: "same" })),
        store.update("two", () => wrong),
        store.update("three", () => entry("s-3")),
      ]);
      expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect((await store.list({ sort: "key" })).sessions.map((session) => session.entry.sessionId)).toEqual([
        "s-1",
        "s-3",
      ]);
    });

    it("allows a label for one session of the agent only", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "one", entry("s-1", { label: "Work" }));
      const second = store.update("two", () => entry("s-2", { label: "Work", model: "m" }));
      expect(await refusal(second)).toEqual({ kind: "conflict", code: "label-in-use" });
      expect(await store.get("two")).toBeUndefined();
      await put(store, "one", entry("s-1", { label: "Work", model: "again" }));
      await put(store, "one", entry("s-1"));
      await put(store, "two", entry("s-2", { label: "Work" }));
      const other = await fixture.openOther("other");
      await put(other, "one", entry("s-9", { label: "Work" }));
      expect((await other.get("one"))?.label).toBe("Work");
    });

    it("treats `main` and its full key as one session", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      await put(store, "agent:main:main", entry("s-1", { model: "m" }));
      expect(await store.get("main")).toEqual(entry("s-1", { model: "m" }));
      expect((await store.list()).sessions.map((session) => session.key)).toEqual(["agent:main:main"]);
    });

    it("refuses the sessions of another agent", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const other = await fixture.openOther("other");
      await put(other, "main", entry("s-other"));
      const foreign = "agent:other:main";
      const target = { channel: "web", accountId: "default", to: "x" };
      const address = { channel: "web", accountId: "default", chatId: "c", messageId: "m" };
      const attempts: (() => Promise<unknown>)[] = [
        () => store.get(foreign),
        () => store.update(foreign, () => entry("s-1")),
        () => store.delete(foreign),
        () => store.windows(foreign),
        () => store.putWindow({ key: foreign, sessionId: "w", openedAt: 1, closedAt: 2, reason: "restore" }),
        () => store.removeWindow(foreign, "s-other"),
        () => store.leases.acquire(foreign, { ttlMs: 1_000 }),
        () => store.leases.current(foreign),
        () => store.inbox.admit({ key: foreign, address, payload: 1, receivedAt: 1 }),
        () => store.inbox.pending(foreign),
        () => store.outbox.enqueue(foreign, [{ idempotencyKey: "i", target, payload: 1 }]),
      ];
      for (const attempt of attempts) {
        expect(await refusal(attempt())).toEqual({ kind: "forbidden", code: "foreign-session" });
      }
      expect(await store.findWindows("s-other", 10)).toEqual([]);
      expect(await other.get("main")).toEqual(entry("s-other"));
      expect((await store.list()).total).toBe(0);
    });

    it("allows `global` in the store of any agent", async () => {
      await using fixture = await makeStore();
      const other = await fixture.openOther("other");
      await put(fixture.store, "global", entry("s-1"));
      await put(other, "global", entry("s-2"));
      expect((await fixture.store.list()).sessions).toEqual([{ key: "global", kind: "global", entry: entry("s-1") }]);
      expect(await other.get("global")).toEqual(entry("s-2"));
    });

    it("shows resolved writes to another handle", async () => {
      await using fixture = await makeStore();
      await put(fixture.store, "main", entry("s-1"));
      const second = await fixture.reopen();
      expect(await second.get("main")).toEqual(entry("s-1"));
      await put(second, "main", entry("s-1", { model: "m" }));
      await fixture.store.update("main", (current) => current && { ...current, label: "l" });
      expect(await second.get("main")).toEqual(entry("s-1", { model: "m", label: "l" }));
    });

    it("finishes running operations on close, then refuses new ones", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const begun = Array.from({ length: 20 }, (_, index) => store.update(`k${index}`, () => entry(`s-${index}`)));
      const closing = store.close();
      await Promise.all(begun);
      await closing;
      await store.close();
      const closed = { kind: "unavailable", code: "store-closed" };
      expect(await refusal(store.get("main"))).toEqual(closed);
      expect(await refusal(store.list())).toEqual(closed);
      expect(await refusal(store.update("main", () => entry("s-1")))).toEqual(closed);
      expect(await refusal(store.leases.acquire("main", { ttlMs: 1 }))).toEqual(closed);
      expect(await refusal(store.inbox.pending())).toEqual(closed);
      expect(await refusal(store.outbox.due(0, 1))).toEqual(closed);
      const second = await fixture.reopen();
      expect((await second.list()).total).toBe(20);
    });
  });
}
