/** Several real processes on one store at the same time: no update may be lost. */
import { describe, expect, it } from "vitest";
import type { StoreKind } from "../../src/store/store.ts";
import { openStore } from "../support/stores.ts";
import { startChild } from "../support/child.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const PROCESSES = ["a", "b", "c", "d"];
const UPDATES = 200;

/** `prepare` makes what the store needs besides its home. */
export function describeStoreConcurrency(
  kind: StoreKind,
  prepare: (home: string) => Promise<AsyncDisposable | undefined> = async () => undefined,
): void {
  describe(`store concurrency: ${kind}`, () => {
    it(
      `keeps every one of ${UPDATES} updates of each of ${PROCESSES.length} processes`,
      { timeout: 180_000 },
      async () => {
        await using folder = await temporaryFolder({ onDisk: true });
        await using _prepared = await prepare(folder.path);
        await Promise.all(
          PROCESSES.map((name) =>
            startChild("store", { kind, home: folder.path, task: "count", name, updates: UPDATES }).ended(),
          ),
        );
        const store = await openStore(kind, { home: folder.path });
        const counted = new Map<string, number>();
        for (const { key, entry } of (await store.list()).sessions) counted.set(key, entry.inputTokens ?? 0);
        const handoff = await store.handoffs.get("shared");
        await store.close();
        const expected = new Map([["agent:main:shared", (PROCESSES.length * UPDATES) / 2]]);
        for (const name of PROCESSES) {
          for (let own = 1; own < 20; own += 2) expected.set(`agent:main:own-${name}-${own}`, UPDATES / 20);
        }
        expect(counted).toEqual(expected);
        expect(handoff).toEqual({ count: (PROCESSES.length * UPDATES) / 10 });
      },
    );
  });
}
