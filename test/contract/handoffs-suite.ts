import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { type MakeStore, entry, put, refusal } from "./store-fixture.ts";

interface Counted {
  count: number;
}

function increment(state: unknown): Counted {
  return { count: ((state as Counted | undefined)?.count ?? 0) + 1 };
}

async function keep(store: Store, key: string, state: unknown): Promise<void> {
  await store.handoffs.update(key, () => state);
}

const NATIVE_KEY = "agent:main:claude-code:0ce85868-7b98-4541-abaf-87da3fa6f579";

export function describeHandoffs(makeStore: MakeStore): void {
  describe("hand-offs", () => {
    it("returns nothing for an unknown key", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      expect(await handoffs.get("main")).toBeUndefined();
      expect(await handoffs.list()).toEqual([]);
      expect(await handoffs.delete("main")).toBe(false);
    });

    it("stores what mutate returns and resolves to it", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      const seen: unknown[] = [];
      const record = (next: unknown) => (state: unknown) => {
        seen.push(state);
        return next;
      };
      const awkward = JSON.parse(
        '{"a":[1,null,{"x":"é\\u0000\\ud83d\\ude00"}],"__proto__":{"p":1},"n":9007199254740993}',
      );
      expect(await handoffs.update("main", record({ project: "one" }))).toEqual({ project: "one" });
      expect(await handoffs.update("main", record(awkward))).toEqual(awkward);
      expect(seen).toEqual([undefined, { project: "one" }]);
      const second = await fixture.reopen();
      expect(await second.handoffs.get("main")).toEqual(awkward);
      expect((await second.handoffs.list())[0]?.state).toEqual(awkward);
      expect(JSON.stringify(await second.handoffs.get("main"))).toBe(JSON.stringify(awkward));
      expect(({} as Record<string, unknown>)["p"]).toBeUndefined();
    });

    it("accepts any JSON as a state", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      for (const state of [null, 0, "", "text", [], false]) {
        expect(await handoffs.update("main", () => state)).toEqual(state);
        expect(await handoffs.get("main")).toEqual(state);
        expect(await handoffs.list()).toMatchObject([{ state }]);
      }
    });

    it("changes nothing when mutate returns undefined", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      expect(await handoffs.update("main", () => undefined)).toBeUndefined();
      expect(await handoffs.list()).toEqual([]);
      await keep(fixture.store, "main", { notes: ["a"] });
      const before = await handoffs.list();
      fixture.clock.advance(1_000);
      const kept = await handoffs.update("main", (state) => {
        (state as { notes: string[] }).notes.push("changed in place, then thought better of");
        return undefined;
      });
      expect(kept).toEqual({ notes: ["a"] });
      expect(await handoffs.list()).toEqual(before);
    });

    it("changes nothing when mutate throws, and keeps working", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      await keep(fixture.store, "main", { count: 1 });
      const failing = handoffs.update("main", () => {
        throw new Error("mutate failed");
      });
      await expect(failing).rejects.toThrow("mutate failed");
      expect(await handoffs.get("main")).toEqual({ count: 1 });
      expect(await handoffs.update("main", increment)).toEqual({ count: 2 });
    });

    it("refuses a state that JSON cannot hold", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      await keep(fixture.store, "main", "before");
      const circular: Record<string, unknown> = {};
      circular["self"] = circular;
      for (const state of [circular, { big: 5n }, () => 1, Symbol("s")]) {
        const update = handoffs.update("main", () => state);
        expect(await refusal(update)).toEqual({ kind: "usage", code: "invalid-handoff" });
      }
      expect(await handoffs.get("main")).toBe("before");
    });

    it("refuses a state of more than a megabyte, counted in bytes", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      const quotes = 2;
      const fitting = "x".repeat(1024 * 1024 - quotes);
      expect(await handoffs.update("main", () => fitting)).toBe(fitting);
      const tooLarge = { kind: "usage", code: "handoff-too-large" };
      expect(await refusal(handoffs.update("main", () => `${fitting}x`))).toEqual(tooLarge);
      expect(await refusal(handoffs.update("other", () => "é".repeat(600_000)))).toEqual(tooLarge);
      expect(await handoffs.get("main")).toBe(fitting);
      expect(await handoffs.get("other")).toBeUndefined();
    });

    it("returns copies, never its own objects", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      const mine = { notes: ["a"] };
      const change = (state: unknown, by: string) => (state as typeof mine).notes.push(by);
      const kept = await handoffs.update("main", () => mine);
      change(mine, "the writer");
      change(kept, "the reader of the result");
      change(await handoffs.get("main"), "the reader");
      change((await handoffs.list())[0]?.state, "the reader of the list");
      change(await handoffs.update("main", () => undefined), "the reader of what stayed");
      expect(await handoffs.get("main")).toEqual({ notes: ["a"] });
    });

    it("lists the newest first, even within one instant, up to a limit", async () => {
      await using fixture = await makeStore();
      const { store, clock } = fixture;
      for (const key of ["one", "two", "three"]) await keep(store, key, key);
      clock.advance(1_000);
      await keep(store, "four", "four");
      await keep(store, "one", "one again");
      const at = clock.now();
      const expected = [
        { key: "agent:main:one", updatedAt: at, state: "one again" },
        { key: "agent:main:four", updatedAt: at, state: "four" },
        { key: "agent:main:three", updatedAt: at - 1_000, state: "three" },
        { key: "agent:main:two", updatedAt: at - 1_000, state: "two" },
      ];
      expect(await store.handoffs.list()).toEqual(expected);
      expect(await store.handoffs.list({ limit: 2 })).toEqual(expected.slice(0, 2));
      expect(await store.handoffs.list({ limit: 0 })).toEqual([]);
      const second = await fixture.reopen();
      expect(await second.handoffs.list({ limit: 100 })).toEqual(expected);
      for (const limit of [-1, 1.5, Number.NaN]) {
        expect(await refusal(store.handoffs.list({ limit }))).toEqual({ kind: "usage", code: "invalid-query" });
      }
    });

    it("deletes one and returns whether it existed", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await keep(store, "one", 1);
      await keep(store, "two", 2);
      expect(await store.handoffs.delete("one")).toBe(true);
      expect(await store.handoffs.delete("one")).toBe(false);
      expect((await (await fixture.reopen()).handoffs.list()).map(({ key }) => key)).toEqual(["agent:main:two"]);
      expect(await store.handoffs.update("one", increment)).toEqual({ count: 1 });
    });

    it("needs no entry and outlives its entry", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await keep(store, NATIVE_KEY, "native");
      expect((await store.list()).total).toBe(0);
      expect(await store.get(NATIVE_KEY)).toBeUndefined();
      await put(store, "main", entry("s-1"));
      await keep(store, "main", "of main");
      await put(store, "main", entry("s-2"));
      await store.delete("main");
      expect(await store.handoffs.get("main")).toBe("of main");
      await store.handoffs.delete("main");
      await put(store, "main", entry("s-3"));
      expect(await store.get("main")).toEqual(entry("s-3"));
      expect(await store.handoffs.get(NATIVE_KEY)).toBe("native");
    });

    it("is deleted when its session is deleted for good", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      for (const key of ["main", "other", NATIVE_KEY]) await keep(store, key, `of ${key}`);
      const told: string[] = [];
      const stop = store.onChange(({ what, key }) => void told.push(`${what} ${key}`));
      await store.delete("main", { withHandoff: true });
      await expect.poll(() => told).toContain("handoff agent:main:main");
      stop();
      const again = await fixture.reopen();
      expect(await again.handoffs.get("main")).toBeUndefined();
      expect((await again.handoffs.list()).map(({ key }) => key).toSorted()).toEqual([NATIVE_KEY, "agent:main:other"]);
    });

    it("of a window is stored only while the key has that window", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      const ofFirst = { ofWindow: "s-1" };
      expect(await handoffs.update("main", increment, ofFirst)).toBeUndefined();
      await put(fixture.store, "main", entry("s-1"));
      expect(await handoffs.update("main", increment, ofFirst)).toEqual({ count: 1 });
      await put(fixture.store, "main", entry("s-2"));
      expect(await handoffs.update("main", increment, ofFirst)).toEqual({ count: 2 });
      await fixture.store.delete("main");
      expect(await handoffs.update("main", increment, ofFirst)).toEqual({ count: 2 });
      await put(fixture.store, "main", entry("s-3"));
      expect(await handoffs.update("main", increment, ofFirst)).toEqual({ count: 2 });
      expect(await handoffs.update("main", increment, { ofWindow: "s-3" })).toEqual({ count: 3 });
    });

    it("of a deleted window is not stored, whether the update comes before or after the deletion", async () => {
      await using fixture = await makeStore();
      const other = await fixture.reopen();
      for (let round = 0; round < 20; round++) {
        await put(fixture.store, "main", entry(`s-${round}`));
        await Promise.all([
          other.handoffs.update("main", increment, { ofWindow: `s-${round}` }),
          fixture.store.delete("main", { withHandoff: true }),
          fixture.store.handoffs.update("main", increment, { ofWindow: `s-${round}` }),
        ]);
        expect(await fixture.store.handoffs.get("main")).toBeUndefined();
      }
    });

    it("treats every spelling of a key as the same key", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await keep(store, "main", 1);
      await keep(store, "Agent:Main:MAIN", 2);
      await keep(store, NATIVE_KEY.toUpperCase(), 3);
      await keep(store, "global", 4);
      expect(await store.handoffs.get("agent:main:main")).toBe(2);
      expect(await store.handoffs.get(NATIVE_KEY)).toBe(3);
      const keys = (await store.handoffs.list()).map(({ key }) => key);
      expect(keys).toEqual(["global", NATIVE_KEY, "agent:main:main"]);
      expect(await store.handoffs.delete(":agent:MAIN:main:")).toBe(true);
    });

    it("refuses the hand-offs of another agent", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const other = await fixture.openOther("other");
      await keep(other, "main", "of the other");
      await keep(other, "global", "the other's own");
      const foreign = "agent:other:main";
      const attempts: (() => Promise<unknown>)[] = [
        () => store.handoffs.get(foreign),
        () => store.handoffs.update(foreign, () => "taken over"),
        () => store.handoffs.delete(foreign),
      ];
      for (const attempt of attempts) {
        expect(await refusal(attempt())).toEqual({ kind: "forbidden", code: "foreign-session" });
      }
      for (const key of ["", "lone \ud800 surrogate"]) {
        expect(await refusal(store.handoffs.get(key))).toEqual({ kind: "usage", code: "invalid-key" });
      }
      expect(await store.handoffs.list()).toEqual([]);
      expect(await store.handoffs.get("global")).toBeUndefined();
      expect(await other.handoffs.get("main")).toBe("of the other");
    });

    it("treats every key as data", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const keys = ["__proto__", "constructor", "'; DROP TABLE handoffs; --", "percent % and _", "42", "41"];
      for (const key of keys) expect(await store.handoffs.get(key)).toBeUndefined();
      for (const key of keys) await keep(store, key, { key });
      const second = await fixture.reopen();
      const states = (await second.handoffs.list()).map(({ state }) => (state as { key: string }).key);
      expect(states).toEqual(keys.toReversed());
      for (const key of keys) expect(await second.handoffs.delete(key)).toBe(true);
      expect(await store.handoffs.list()).toEqual([]);
    });

    it("applies concurrent updates of one key in sequence", async () => {
      await using fixture = await makeStore();
      const handles = [fixture.store, await fixture.reopen(), await fixture.reopen()];
      const updates = handles.flatMap(({ handoffs }) =>
        Array.from({ length: 20 }, async () => await handoffs.update("main", increment)),
      );
      const counts = (await Promise.all(updates)).map((state) => (state as Counted).count);
      expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
      expect(await fixture.store.handoffs.get("main")).toEqual({ count: 60 });
    });

    it("notices that a state was deleted and recreated concurrently", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const second = await fixture.reopen();
      await keep(store, "main", { count: 10 });
      await Promise.all([
        store.handoffs.update("main", increment),
        second.handoffs.delete("main").then(async () => await second.handoffs.update("main", increment)),
      ]);
      // Before, between or after the deletion, but never on a deleted state.
      expect([{ count: 1 }, { count: 2 }]).toContainEqual(await store.handoffs.get("main"));
    });

    it("commits the other updates when one is refused", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const results = await Promise.allSettled([
        store.handoffs.update("one", () => 1),
        store.handoffs.update("two", () => 2n),
        store.update("three", () => entry("s-3")),
        store.handoffs.update("one", () => {
          throw new Error("mutate failed");
        }),
        store.handoffs.update("four", () => 4),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      expect(new Set((await store.handoffs.list()).map(({ state }) => state))).toEqual(new Set([1, 4]));
      expect((await store.list()).total).toBe(1);
    });

    it("shows resolved writes to another handle", async () => {
      await using fixture = await makeStore();
      const second = await fixture.reopen();
      await keep(fixture.store, "main", { count: 1 });
      expect(await second.handoffs.get("main")).toEqual({ count: 1 });
      await second.handoffs.update("main", increment);
      await put(fixture.store, "main", entry("s-1"));
      expect(await fixture.store.handoffs.get("main")).toEqual({ count: 2 });
    });

    it("finishes running operations on close, then refuses new ones", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const begun = Array.from({ length: 20 }, (_, index) => store.handoffs.update(`k${index}`, increment));
      const closing = store.close();
      await Promise.all(begun);
      await closing;
      const closed = { kind: "unavailable", code: "store-closed" };
      expect(await refusal(store.handoffs.get("main"))).toEqual(closed);
      expect(await refusal(store.handoffs.list())).toEqual(closed);
      expect(await refusal(store.handoffs.update("main", increment))).toEqual(closed);
      expect(await refusal(store.handoffs.delete("main"))).toEqual(closed);
      const second = await fixture.reopen();
      expect(await second.handoffs.list()).toHaveLength(20);
    });
  });
}
