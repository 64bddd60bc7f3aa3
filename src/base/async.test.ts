import { describe, expect, it } from "vitest";
import { lazy, lazyMap } from "./async.ts";

describe("lazy", () => {
  it("makes one value for all callers, even concurrent ones", async () => {
    let made = 0;
    const value = lazy(async () => await Promise.resolve(++made));
    expect(await Promise.all([value.get(), value.get()])).toEqual([1, 1]);
    expect([await value.get(), await value.made()]).toEqual([1, 1]);
  });

  it("does not cache a failure: waiting callers get it, the next call retries", async () => {
    let attempts = 0;
    const value = lazy(async () => {
      if (++attempts === 1) throw new Error("no file descriptors");
      return await Promise.resolve("open");
    });
    expect(await value.made()).toBeUndefined();
    const both = await Promise.allSettled([value.get(), value.get()]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect([await value.made(), await value.get(), attempts]).toEqual([undefined, "open", 2]);
  });

  it("keeps a value made after a clear even if an earlier attempt fails later", async () => {
    const first = Promise.withResolvers<string>();
    const results = [first.promise, Promise.resolve("second")];
    const value = lazy(async () => await (results.shift() ?? "third"));
    const failing = value.get();
    value.clear();
    expect(await value.get()).toBe("second");
    first.reject(new Error("late"));
    await expect(failing).rejects.toThrow("late");
    expect(await value.get()).toBe("second");
  });
});

describe("lazyMap", () => {
  it("makes one value per key and returns all values without failures", async () => {
    const values = lazyMap<string, number>();
    const get = async (key: string, make: () => number): Promise<number> =>
      await values.get(key, async () => await Promise.resolve(make()));
    expect(await get("a", () => 1)).toBe(1);
    expect(await get("a", () => 2)).toBe(1);
    await expect(values.get("b", async () => await Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await values.made()).toEqual([1]);
    expect(await get("b", () => 3)).toBe(3);
    expect(await values.made()).toEqual([1, 3]);
    values.clear();
    expect([await values.made(), await get("a", () => 4)]).toEqual([[], 4]);
  });
});
