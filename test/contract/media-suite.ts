import { randomBytes } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { MakeStore } from "./store-fixture.ts";

const isPrivate = async (path: string): Promise<boolean> => ((await stat(path)).mode & 0o077) === 0;

export function describeMedia(makeStore: MakeStore): void {
  describe("media", () => {
    it("are read by every handle, whatever their size", async () => {
      await using fixture = await makeStore();
      const second = await fixture.reopen();
      for (const bytes of [0, 1, 1024 * 1024, 3 * 1024 * 1024 + 17]) {
        const content = randomBytes(bytes);
        const path = join(fixture.home, `${bytes}.bin`);
        await writeFile(path, content, { mode: 0o600 });
        const kept = await fixture.store.media.keep(path);
        const located = await second.media.locate(kept);
        expect((await readFile(located)).equals(content)).toBe(true);
        expect(located.endsWith(`/${bytes}.bin`)).toBe(true);
        expect(await isPrivate(located)).toBe(true);
        expect(await second.media.locate(kept)).toBe(located);
        expect(await fixture.store.media.locate(kept)).toBe(kept);
      }
    });

    it("stay as they are when they are missing", async () => {
      await using fixture = await makeStore();
      const path = join(fixture.home, "none.txt");
      expect(await fixture.store.media.keep(path)).toBe(path);
      expect(await fixture.store.media.locate(path)).toBe(path);
      expect(await fixture.store.media.has(path)).toBe(false);
    });

    it("can be kept again and by several handles at once", async () => {
      await using fixture = await makeStore();
      const second = await fixture.reopen();
      const path = join(fixture.home, "a.txt");
      await writeFile(path, "one", { mode: 0o600 });
      const kept = await Promise.all([fixture.store, second, fixture.store].map((store) => store.media.keep(path)));
      for (const one of [...kept, path]) expect(await second.media.has(one)).toBe(true);
      for (const one of kept) {
        for (const { media } of [fixture.store, second])
          expect(await readFile(await media.locate(one), "utf8")).toBe("one");
      }
    });
  });
}

/** Only for a store of several machines. */
export function describeSharedMedia(makeStore: MakeStore, countContents: () => Promise<number>): void {
  it("files outlive their originals, keep their content, and are stored once", async () => {
    await using fixture = await makeStore();
    const [one, two] = [join(fixture.home, "one.txt"), join(fixture.home, "two.txt")];
    await writeFile(one, "the report");
    await writeFile(two, "the report");
    const kept = [await fixture.store.media.keep(one), await fixture.store.media.keep(two)];
    expect(await countContents()).toBe(1);
    await writeFile(one, "another report");
    await rm(two);
    const { media } = await fixture.reopen();
    for (const path of kept) expect(await readFile(await media.locate(path), "utf8")).toBe("the report");
    // A message of the time before the store was shared names the original.
    expect(await readFile(await media.locate(two), "utf8")).toBe("the report");
  });
}
