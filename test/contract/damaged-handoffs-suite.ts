/** A damaged hand-off affects no other one and can be replaced. */
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/store.ts";
import { type MakeStore, type StoreFixture, entry, put } from "./store-fixture.ts";

/** For stores that keep each state as text; `damage` replaces that text. */
export function describeDamagedHandoffs(
  name: string,
  makeStore: MakeStore,
  damage: (fixture: StoreFixture, key: string, text: string) => void | Promise<void>,
): void {
  describe(`damaged hand-offs: ${name}`, () => {
    it.each(["", "[1", '{"count":1,"notes":["a", "b'])(
      "are returned as the remaining text, next to the others: %j",
      async (text) => {
        await using fixture = await makeStore();
        const { handoffs } = fixture.store;
        for (const key of ["one", "torn", "three"]) await keep(fixture.store, key, { count: 1 });
        await damage(fixture, "agent:main:torn", text);
        expect(await handoffs.get("torn")).toBe(text);
        expect((await handoffs.list()).map(({ key, state }) => [key, state])).toEqual([
          ["agent:main:three", { count: 1 }],
          ["agent:main:torn", text],
          ["agent:main:one", { count: 1 }],
        ]);
        expect(await handoffs.update("torn", () => undefined)).toBe(text);
      },
    );

    it("are passed to an update as that text, and replaced", async () => {
      await using fixture = await makeStore();
      const { handoffs } = fixture.store;
      await keep(fixture.store, "torn", { count: 1 });
      await damage(fixture, "agent:main:torn", '{"cou');
      const seen: unknown[] = [];
      const replace = (state: unknown): unknown => {
        seen.push(state);
        return { count: 7 };
      };
      expect(await handoffs.update("torn", replace)).toEqual({ count: 7 });
      expect(seen).toEqual(['{"cou']);
      expect(await (await fixture.reopen()).handoffs.get("torn")).toEqual({ count: 7 });
    });

    it("can be deleted, alone and with their session", async () => {
      await using fixture = await makeStore();
      const { store } = fixture;
      await put(store, "main", entry("s-1"));
      for (const key of ["main", "torn"]) {
        await keep(store, key, { count: 1 });
        await damage(fixture, `agent:main:${key}`, "{");
      }
      expect(await store.handoffs.delete("torn")).toBe(true);
      await store.delete("main", { withHandoff: true });
      expect(await store.handoffs.list()).toEqual([]);
    });
  });
}

async function keep(store: Store, key: string, state: unknown): Promise<void> {
  await store.handoffs.update(key, () => state);
}
