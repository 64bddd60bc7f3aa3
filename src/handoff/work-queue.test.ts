import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { createWorkQueue } from "./work-queue.ts";

const never = (): void => undefined;

it("pauses after an item, and not while a caller waits for the end", async () => {
  const done: string[] = [];
  const work = async (name: string): Promise<void> => {
    await delay(20);
    done.push(name);
  };
  const queue = createWorkQueue<number>({ rest: 1_000, work, onError: never });
  queue.put("one", 1);
  queue.put("two", 2);
  await expect.poll(() => done).toEqual(["one"]);
  await delay(200);
  expect(done).toEqual(["one"]);
  await queue.settled();
  expect(done).toEqual(["one", "two"]);
});

it("does not wait for a pause once it is stopped", async () => {
  const queue = createWorkQueue<number>({ rest: 1_000, work: async () => await delay(20), onError: never });
  queue.put("one", 1);
  await delay(100);
  queue.stop();
  const startedAt = performance.now();
  await queue.settled();
  expect(performance.now() - startedAt).toBeLessThan(500);
});
