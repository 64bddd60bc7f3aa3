/** A refresh skips unchanged folders, but must find every change in them. */
import { appendFile, mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createNativeIndex } from "./create-native-index.ts";

const HOUR = 3_600_000;
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
let lines = 0;
const line = () => {
  lines += 1;
  const usage = { input_tokens: 10, output_tokens: 1 };
  const message = { id: `m${lines}`, model: "claude-opus-4-5", content: [], usage };
  const timestamp = new Date(1_790_000_000_000 + lines * 1000).toISOString();
  return `${JSON.stringify({ type: "assistant", uuid: `u${lines}`, timestamp, cwd: "/repo", message })}\n`;
};

/** Sessions 1 to 3, the first with a subagent. The clock of the index is `later` ms ahead. */
async function openFixture(later: number) {
  const folder = await temporaryFolder();
  const path = (name: string) => folder.join("claude", "projects", "-repo", name);
  const session = (number: number) => path(`${id(number)}.jsonl`);
  const subagent = path(`${id(1)}/subagents/agent-x.jsonl`);
  await mkdir(dirname(subagent), { recursive: true });
  for (const file of [session(1), session(2), session(3), subagent]) await writeFile(file, line() + line());
  const index = createNativeIndex({
    path: folder.join("cache", "index.sqlite"),
    claudeHome: folder.join("claude"),
    clock: { now: () => Date.now() + later },
    threads: 0,
  });
  return {
    session,
    subagent,
    index,
    [Symbol.asyncDispose]: async () => {
      index.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const NOTHING = { filesRead: 0, bytesRead: 0, removed: 0, failed: [] };
const outputOf = (home: Awaited<ReturnType<typeof openFixture>>) =>
  home.index.usage({ by: "model" }).reduce((sum, { output }) => sum + output, 0);

it.each([0, 2 * HOUR])("finds every change in a known folder (%d ms later)", async (later) => {
  await using home = await openFixture(later);
  const { index, session } = home;
  expect(await index.refresh()).toMatchObject({ files: 4, filesRead: 4 });
  expect(await index.refresh()).toEqual({ ...NOTHING, files: 4 });
  await appendFile(session(2), line());
  expect(await index.refresh()).toMatchObject({ files: 4, filesRead: 1 });
  await writeFile(session(4), line());
  expect(await index.refresh()).toMatchObject({ files: 5, filesRead: 1 });
  await rm(session(3));
  expect(await index.refresh()).toMatchObject({ files: 4, filesRead: 0, removed: 1 });
  await rename(session(2), session(5));
  expect(await index.refresh()).toMatchObject({ files: 4, filesRead: 1, removed: 1 });
  await utimes(session(4), 1, 1);
  expect(await index.refresh()).toMatchObject({ files: 4, filesRead: 1 });
  expect(await index.refresh()).toEqual({ ...NOTHING, files: 4 });
  expect(outputOf(home)).toBe(8);
  await rm(dirname(session(1)), { recursive: true });
  expect(await index.refresh()).toMatchObject({ files: 0, removed: 4 });
  expect(await index.refresh()).toEqual({ ...NOTHING, files: 0 });
});

it("checks the subagents of a session that worked within the last hour", async () => {
  await using home = await openFixture(0);
  await home.index.refresh();
  await home.index.refresh();
  await appendFile(home.subagent, line());
  expect(await home.index.refresh()).toMatchObject({ files: 4, filesRead: 1 });
  expect(outputOf(home)).toBe(9);
});

it("checks the subagents of a quiet session when it continues, and forgets them with it", async () => {
  await using home = await openFixture(2 * HOUR);
  const { index, session, subagent } = home;
  await index.refresh();
  await appendFile(subagent, line());
  expect(await index.refresh()).toEqual({ ...NOTHING, files: 4 });
  await appendFile(session(1), line());
  expect(await index.refresh()).toMatchObject({ files: 4, filesRead: 2 });
  expect([outputOf(home), index.get(id(1))?.subagentCount]).toEqual([10, 1]);
  await rm(dirname(dirname(subagent)), { recursive: true });
  expect(await index.refresh()).toMatchObject({ files: 3, removed: 1 });
});
