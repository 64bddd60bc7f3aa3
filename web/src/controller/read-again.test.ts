import { expect, it } from "vitest";
import { createReadAgain } from "./read-again.ts";

it("shares one more read among requests during a read", async () => {
  const reads: PromiseWithResolvers<void>[] = [];
  const readAgain = createReadAgain(async () => {
    const read = Promise.withResolvers<void>();
    reads.push(read);
    await read.promise;
  });
  const first = readAgain();
  let isAnswered = false;
  const later = Promise.all([readAgain(), readAgain()]).then(() => (isAnswered = true));
  expect(reads).toHaveLength(1);
  reads[0]?.resolve();
  await expect.poll(() => reads.length).toBe(2);
  expect(isAnswered).toBe(false);
  reads[1]?.resolve();
  await Promise.all([first, later]);
  const next = readAgain();
  expect(reads).toHaveLength(3);
  reads[2]?.resolve();
  await next;
});

it("reads again after a read that failed", async () => {
  let count = 0;
  const readAgain = createReadAgain(async () => {
    count += 1;
    if (count === 1) throw new Error("gone");
  });
  await expect(readAgain()).rejects.toThrow("gone");
  await readAgain();
  expect(count).toBe(2);
});
