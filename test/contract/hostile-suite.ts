import { describe, expect, it } from "vitest";
import { canonicalSessionKey } from "../../src/keys/canonical-key.ts";
import { type MakeStore, entry, put, refusal } from "./store-fixture.ts";

const HOSTILE_KEYS = [
  "__proto__",
  "constructor",
  "toString",
  "agent:main:__proto__",
  "../../etc/passwd",
  "agent:main:..",
  "nul\0in the middle",
  "nul\0in the middle, another",
  "k".repeat(10_000),
  "agent:main:Telegram:Group:ABC",
  "агент 🦀 with spaces",
  `quotes ' " \\ ; DROP TABLE entries; --`,
  "percent % and under_score",
  "line\nbreak",
];

const canonical = (key: string) => canonicalSessionKey(key, { agentId: "main", mainKey: "main" });

export function describeHostileInput(makeStore: MakeStore): void {
  describe("hostile input", () => {
    it("treats every key as data", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const expected = new Map<string, string>();
      for (const [index, key] of HOSTILE_KEYS.entries()) {
        await put(store, key, entry(`s-${index}`));
        expected.set(canonical(key), `s-${index}`);
      }
      for (const key of HOSTILE_KEYS) {
        expect((await store.get(key))?.sessionId).toBe(expected.get(canonical(key)));
      }
      const second = await fixture.reopen();
      const { sessions } = await second.list();
      const found = new Map(sessions.map((session) => [session.key, session.entry.sessionId]));
      expect(found).toEqual(expected);
      for (const key of HOSTILE_KEYS) await second.delete(key);
      expect((await store.list()).total).toBe(0);
      expect(({} as Record<string, unknown>)["sessionId"]).toBeUndefined();
    });

    it("treats every session id and label as data", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const label = "'; DELETE FROM entries; -- %_\\ 🦀";
      await put(store, "main", entry("__proto__", { label }));
      expect((await store.list({ label })).total).toBe(1);
      expect(await store.findWindows("__proto__", 1)).toMatchObject([{ key: "agent:main:main" }]);
      expect(await store.findWindows("constructor", 1)).toEqual([]);
      expect(await store.findWindows("%", 1)).toEqual([]);
      expect(await store.removeWindow("main", "toString")).toBe(false);
    });

    it("refuses a key that is empty or not well-formed text", async () => {
      await using fixture = await makeStore();
      for (const key of ["", "   ", "lone \ud800 surrogate"]) {
        expect(await refusal(fixture.store.get(key))).toEqual({ kind: "usage", code: "invalid-key" });
      }
    });

    it("refuses an entry that JSON cannot hold", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      const circular: Record<string, unknown> = {};
      circular["self"] = circular;
      for (const value of [circular, 5n]) {
        const update = store.update("main", () => entry("s-1", { foreign: value }));
        expect(await refusal(update)).toEqual({ kind: "usage", code: "invalid-entry" });
      }
      expect(await store.get("main")).toBeUndefined();
    });
  });
}
