/** An index filled for usage only: sums are correct at once, everything else is read on demand. */
import { appendFile, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { CLAUDE_SAMPLES } from "../../../test/support/claude-samples.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createNativeIndex } from "./create-native-index.ts";
import type { NativeIndex } from "./native-index.ts";

const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const START = Date.parse("2026-11-15T12:00:00.000Z");
const line = (type: string, message: object, second: number) =>
  `${JSON.stringify({ type, uuid: `u${second}`, timestamp: new Date(START + second * 1000), cwd: "/repo", message })}\n`;
const prompt = (content: string, second: number) => line("user", { role: "user", content }, second);
const answer = (messageId: string, output: number, second: number) =>
  line(
    "assistant",
    { id: messageId, model: "claude-opus-4-5", usage: { input_tokens: 1, output_tokens: output } },
    second,
  );

/** Session 2 is a fork of 1, session 3 has a subagent. */
async function openFixture() {
  const folder = await temporaryFolder();
  const claudeHome = folder.join("claude");
  const path = (name: string) => folder.join("claude", "projects", "-repo", name);
  const session = (number: number) => path(`${id(number)}.jsonl`);
  const subagent = path(`${id(3)}/subagents/agent-x.jsonl`);
  await mkdir(dirname(subagent), { recursive: true });
  const shared = prompt("one", 1) + answer("m1", 5, 2) + answer("m1", 6, 3);
  await writeFile(session(1), shared + answer("m2", 10, 4));
  await writeFile(session(2), shared + prompt("two", 50) + answer("m3", 100, 51));
  await writeFile(session(3), prompt("three", 60) + answer("m4", 1000, 61));
  await writeFile(subagent, answer("m5", 10_000, 62));
  const indexes: NativeIndex[] = [];
  return {
    folder,
    claudeHome,
    session,
    openIndex: (name = "index") => {
      const index = createNativeIndex({ path: folder.join("cache", `${name}.sqlite`), claudeHome, threads: 0 });
      indexes.push(index);
      return index;
    },
    [Symbol.asyncDispose]: async () => {
      for (const index of indexes) index.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const outputOf = (index: NativeIndex) => index.usage({ by: "model" }).reduce((sum, { output }) => sum + output, 0);
const bySession = (index: NativeIndex) => index.usage({ by: "session" }).map(({ group, output }) => [group, output]);

it("gives the same sums as a full index, and lists nothing yet", async () => {
  await using home = await openFixture();
  await cp(join(CLAUDE_SAMPLES, "multi-turn-stream"), home.folder.join("claude", "projects", "-samples"), {
    recursive: true,
  });
  const [lean, whole] = [home.openIndex("lean"), home.openIndex("whole")];
  await whole.refresh();
  const report = await lean.refresh({ usageOnly: true });
  expect(report.filesRead).toBe(report.files);
  for (const by of ["day", "folder", "model", "session"] as const)
    expect(lean.usage({ by })).toEqual(whole.usage({ by }));
  expect(bySession(lean)).toEqual(
    expect.arrayContaining([
      [id(1), 16],
      [id(2), 100],
      [id(3), 11_000],
    ]),
  );
  expect([[...lean.list()], lean.count(), lean.places(), lean.findByPrefix("0", 9), lean.get(id(1))]).toEqual([
    [],
    0,
    [],
    [],
    undefined,
  ]);
});

it("reads a file once for its usage and once for everything else", async () => {
  await using home = await openFixture();
  const [lean, whole] = [home.openIndex("lean"), home.openIndex("whole")];
  expect(await lean.refresh({ usageOnly: true })).toMatchObject({ files: 4, filesRead: 4 });
  expect(await lean.refresh({ usageOnly: true })).toMatchObject({ files: 4, filesRead: 0 });
  // Only the usage of a subagent is ever shown.
  expect(await lean.refresh()).toMatchObject({ files: 4, filesRead: 3 });
  expect(await lean.refresh()).toMatchObject({ files: 4, filesRead: 0 });
  await whole.refresh();
  expect([...lean.list()]).toEqual([...whole.list()]);
  expect([...lean.list()]).toHaveLength(3);
  expect(bySession(lean)).toEqual(bySession(whole));
});

it("reads only the usage of a fork in another folder again, which is settled after all files are read", async () => {
  await using home = await openFixture();
  const fork = home.folder.join("claude", "projects", "-other", `${id(4)}.jsonl`);
  await mkdir(dirname(fork), { recursive: true });
  await writeFile(fork, prompt("three", 60) + answer("m4", 1000, 61) + answer("m8", 3, 80));
  const index = home.openIndex();
  expect(await index.refresh({ usageOnly: true })).toMatchObject({ files: 5, filesRead: 7 });
  expect([index.count(), ...bySession(index)]).toEqual([0, [id(3), 11_000], [id(2), 100], [id(1), 16], [id(4), 3]]);
});

it("reads a changed file in full, so that later only added bytes cost", async () => {
  await using home = await openFixture();
  const index = home.openIndex();
  await index.refresh({ usageOnly: true });
  await appendFile(home.session(3), answer("m6", 7, 70));
  expect(await index.refresh({ usageOnly: true })).toMatchObject({ filesRead: 1 });
  expect([outputOf(index), index.get(id(3))?.tokens.output, index.count()]).toEqual([11_123, 11_007, 1]);
  const added = answer("m7", 3, 71);
  await appendFile(home.session(3), added);
  expect(await index.refresh({ usageOnly: true })).toMatchObject({ filesRead: 1, bytesRead: added.length });
  expect(outputOf(index)).toBe(11_126);
  expect(await index.refresh()).toMatchObject({ filesRead: 2 });
  expect(index.count()).toBe(3);
});

it("counts all messages of a fork when its original is deleted", async () => {
  await using home = await openFixture();
  const index = home.openIndex();
  await index.refresh({ usageOnly: true });
  await rm(home.session(1));
  await index.refresh({ usageOnly: true });
  expect(bySession(index)).toEqual([
    [id(3), 11_000],
    [id(2), 106],
  ]);
});

it("does not overwrite the full scan of another process", async () => {
  await using home = await openFixture();
  const [lean, whole] = [home.openIndex(), home.openIndex()];
  await Promise.all([whole.refresh(), lean.refresh({ usageOnly: true })]);
  expect([[...whole.list()].length, outputOf(whole), outputOf(lean)]).toEqual([3, 11_116, 11_116]);
  expect(await whole.refresh()).toMatchObject({ filesRead: 0 });
});
