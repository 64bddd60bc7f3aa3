import { describe, expect, it } from "vitest";
import type { Window } from "../../src/store/store.ts";
import { type MakeStore, entry, put, refusal } from "./store-fixture.ts";

const KEY = "agent:main:main";

export function describeWindows(makeStore: MakeStore): void {
  describe("windows", () => {
    it("opens the first one with the key", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      await put(store, "main", entry("s-1", { sessionFile: "s-1-topic-7.jsonl" }));
      const window: Window = {
        key: KEY,
        sessionId: "s-1",
        openedAt: clock.now(),
        reason: "initial",
        transcript: "s-1-topic-7.jsonl",
      };
      expect(await store.windows("main")).toEqual([window]);
      expect(await store.findWindows("s-1", 1)).toEqual([window]);
      clock.advance(1_000);
      await put(store, "main", entry("s-1", { model: "m", sessionFile: "s-1-topic-7.jsonl" }));
      expect(await store.windows("main")).toEqual([window]);
    });

    it("closes one and opens the next when the session id changes", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      const openedAt = clock.now();
      await put(store, "main", entry("s-1"));
      clock.advance(1_000);
      await store.update("main", () => entry("s-2"), { windowReason: "daily" });
      clock.advance(1_000);
      await put(store, "main", entry("s-3"));
      expect(await store.windows("main")).toEqual([
        { key: KEY, sessionId: "s-1", openedAt, closedAt: openedAt + 1_000, reason: "initial" },
        { key: KEY, sessionId: "s-2", openedAt: openedAt + 1_000, closedAt: openedAt + 2_000, reason: "daily" },
        { key: KEY, sessionId: "s-3", openedAt: openedAt + 2_000, reason: "switch" },
      ]);
    });

    it("keeps the entry's state of a closed window until it is reopened", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1", { sdkSessionId: "sdk-1", totalTokens: 7, label: "not the window's" }));
      await put(store, "main", entry("s-2"));
      expect(await store.windows("main")).toMatchObject([
        { sessionId: "s-1", state: { sdkSessionId: "sdk-1", totalTokens: 7 } },
        { sessionId: "s-2" },
      ]);
      const [closed] = await store.windows("main");
      expect(closed?.state).not.toHaveProperty("label");
      await put(store, "main", entry("s-1"));
      expect((await store.windows("main")).at(-1)).not.toHaveProperty("state");
    });

    it("reopens an old window instead of listing it twice", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      await put(store, "main", entry("s-1"));
      clock.advance(10);
      await put(store, "main", entry("s-2"));
      clock.advance(10);
      await put(store, "main", entry("s-1"));
      const windows = await store.windows("main");
      expect(windows.map(({ sessionId, closedAt }) => [sessionId, closedAt === undefined])).toEqual([
        ["s-2", false],
        ["s-1", true],
      ]);
    });

    it("keeps the open window last when the clock jumps back", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      await put(store, "main", entry("s-1"));
      clock.advance(-86_400_000);
      await put(store, "main", entry("s-2"));
      const windows = await store.windows("main");
      expect(windows.at(-1)).toMatchObject({ sessionId: "s-2" });
      expect(windows.at(-1)?.closedAt).toBeUndefined();
    });

    it("records when an imported window was opened", async () => {
      await using fixture = await makeStore();
      await fixture.store.update("main", () => entry("s-1"), { openedAt: 1_000 });
      await fixture.store.update("main", () => entry("s-2"), { openedAt: 2_000 });
      expect(await fixture.store.windows("main")).toMatchObject([
        { sessionId: "s-1", openedAt: 1_000, closedAt: 2_000 },
        { sessionId: "s-2", openedAt: 2_000 },
      ]);
    });

    it("keeps the reason given for a new key", async () => {
      await using fixture = await makeStore();
      await fixture.store.update("main", () => entry("s-1"), { windowReason: "fork" });
      expect((await fixture.store.windows("main"))[0]?.reason).toBe("fork");
    });

    it("imports closed windows, and replaces existing ones", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-2"));
      const restored: Window = { key: "main", sessionId: "s-1", openedAt: 1, closedAt: 2, reason: "restore" };
      await store.putWindow(restored);
      await store.putWindow({ ...restored, transcript: "s-1.jsonl", archive: "s-1.jsonl.gz" });
      expect((await store.windows("main")).map((window) => window.sessionId)).toEqual(["s-1", "s-2"]);
      expect(await store.findWindows("s-1", 10)).toEqual([
        { ...restored, key: KEY, transcript: "s-1.jsonl", archive: "s-1.jsonl.gz" },
      ]);
      const unknown = "agent:main:gone";
      await store.putWindow({ ...restored, key: unknown, sessionId: "s-0" });
      expect((await store.windows(unknown)).map((window) => window.sessionId)).toEqual(["s-0"]);
      expect(await store.get(unknown)).toBeUndefined();
    });

    it("refuses to put or remove the current window", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      const current: Window = { key: "main", sessionId: "s-1", openedAt: 1, closedAt: 2, reason: "restore" };
      const refused = { kind: "conflict", code: "window-is-current" };
      expect(await refusal(store.putWindow(current))).toEqual(refused);
      expect(await refusal(store.removeWindow("main", "s-1"))).toEqual(refused);
      const open: Window = { key: "main", sessionId: "s-0", openedAt: 1, reason: "restore" };
      expect(await refusal(store.putWindow(open))).toEqual({ kind: "usage", code: "window-not-closed" });
      expect((await store.windows("main")).map((window) => window.sessionId)).toEqual(["s-1"]);
    });

    it("finds windows of any key by id prefix, newest first", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      for (const [key, sessionId] of [
        ["one", "ab-1"],
        ["two", "ab-2"],
        ["two", "ac-3"],
        ["one", "ab-4"],
      ] as const) {
        clock.advance(10);
        await put(store, key, entry(sessionId));
      }
      const found = async (prefix: string, limit = 10) =>
        (await store.findWindows(prefix, limit)).map((window) => window.sessionId);
      expect(await found("ab-")).toEqual(["ab-4", "ab-2", "ab-1"]);
      expect(await found("ab-", 2)).toEqual(["ab-4", "ab-2"]);
      expect(await found("ac-3")).toEqual(["ac-3"]);
      expect(await found("b")).toEqual([]);
      expect(await found("AB")).toEqual([]);
      expect(await found("a_")).toEqual([]);
      expect(await found("")).toHaveLength(4);
    });

    it("removes a closed window", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      await put(store, "main", entry("s-2"));
      expect(await store.removeWindow("main", "s-1")).toBe(true);
      expect(await store.removeWindow("main", "s-1")).toBe(false);
      expect(await store.findWindows("s-1", 10)).toEqual([]);
      expect((await store.windows("main")).map((window) => window.sessionId)).toEqual(["s-2"]);
    });
  });
}
