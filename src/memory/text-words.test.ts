import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";

/** Reads many texts with one new long word each. Together they are larger than the memory of the thread. */
const PROGRAM = `
  const { createWordReader } = await import(${JSON.stringify(new URL("text-words.ts", import.meta.url).href)});
  const words = createWordReader();
  for (let text = 0; text < 30_000; text += 1) {
    words.read(JSON.parse(JSON.stringify("lorem ipsum ".repeat(200) + "someLongIdentifier" + text)));
    words.takeVocabulary();
  }
`;

it("does not keep texts in memory because of their words", async () => {
  const url = new URL(`data:text/javascript,${encodeURIComponent(PROGRAM)}`);
  const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: 40 } });
  expect(await once(worker, "exit")).toEqual([0]);
});
