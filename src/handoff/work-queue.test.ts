import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createWorkQueue } from "./work-queue.ts";

const WORK_MS = 20;
const never = (): void => undefined;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const work = async (): Promise<void> => await new Promise((resolve) => setTimeout(resolve, WORK_MS));

it("pauses after an item, and not while a caller waits for the end", async () => {
  const done: string[] = [];
  const note = async (name: string): Promise<void> => {
    await work();
    done.push(name);
  };
  const queue = createWorkQueue<number>({ rest: 1_000, work: note, onError: never });
  queue.put("one", 1);
  queue.put("two", 2);
  await vi.advanceTimersByTimeAsync(WORK_MS);
  expect(done).toEqual(["one"]);
  await vi.advanceTimersByTimeAsync(900);
  expect(done).toEqual(["one"]);
  const settled = queue.settled();
  await vi.advanceTimersByTimeAsync(WORK_MS);
  await settled;
  expect(done).toEqual(["one", "two"]);
});

it("does not wait for a pause once it is stopped", async () => {
  const queue = createWorkQueue<number>({ rest: 1_000, work, onError: never });
  queue.put("one", 1);
  await vi.advanceTimersByTimeAsync(WORK_MS + 1);
  queue.stop();
  // Nothing moves the clock here.
  await expect(queue.settled()).resolves.toBeUndefined();
});
