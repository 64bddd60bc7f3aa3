import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { readHistory } from "./history.ts";

const first = JSON.stringify({
  display: "fix “it”",
  pastedContents: { 1: { content: "secret" } },
  timestamp: 1000,
  project: "/repo",
  sessionId: "s",
});

it("reads prompts without what was pasted, and can go on where it stopped", async () => {
  await using home = await temporaryFolder();
  await writeFile(
    home.join("history.jsonl"),
    `${first}\nbroken\n{"timestamp":1}\n\n{"display":"two"}\n{"display":"unfin`,
  );
  const damaged: number[] = [];
  const entries = await collect(readHistory(home.path, { onDamaged: ({ offset }) => damaged.push(offset) }));
  const end = Buffer.byteLength(first) + 1;
  expect(entries).toEqual([
    { display: "fix “it”", timestamp: 1000, project: "/repo", sessionId: "s", end },
    { display: "two", end: end + 42 },
  ]);
  expect(damaged).toEqual([end, end + 7]);
  expect(await collect(readHistory(home.path, { start: end }))).toEqual(entries.slice(1));
});

it("is empty where there is no history", async () => {
  await using home = await temporaryFolder();
  expect(await collect(readHistory(home.path))).toEqual([]);
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
