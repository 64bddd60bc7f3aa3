import { expect, it } from "vitest";
import { createGatewayHome } from "../../../test/support/gateway-home.ts";
import { caller } from "../../../test/support/gateway-requests.ts";
import { HEADER, messageLine } from "../../../test/support/transcripts.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { foldersOf } from "../../../test/support/stores.ts";

async function writeChat(folder: string, sessionId: string, texts: readonly string[]): Promise<void> {
  const lines = [{ ...HEADER, id: sessionId }, ...texts.map((text, index) => messageLine(`e${index}`, null, text))];
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${sessionId}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

it("finds chats page by page, and shows the state of the index", async () => {
  await using home = await createGatewayHome();
  const { call } = caller(home);
  for (const number of [1, 2, 3])
    await writeChat(foldersOf(home.agent).sessions, `s${number}`, [`otter ${number}`, "heron"]);
  // The index is built in a thread; until then the answer says that it is not complete.
  await expect.poll(async () => (await call("search.status", {})).complete, { timeout: 10_000 }).toBe(true);
  const first = await call("search.query", { text: "otter", limit: 2 });
  expect(first).toMatchObject({ schema: 1, total: 3, matched: "all", complete: true });
  const second = await call("search.query", { text: "otter", limit: 2, offset: 2 });
  const ids = [...first.results, ...second.results].map(({ sessionId = "" }) => sessionId);
  expect(new Set(ids)).toEqual(new Set(["s1", "s2", "s3"]));
  expect(first.results[0]).toMatchObject({
    in: "chats",
    agentId: "main",
    open: { show: ["history", ids[0], "--agent", "main"] },
    passages: [{ role: "user", text: expect.stringContaining("**otter**") as string }],
  });
  expect(await call("search.status", {})).toMatchObject({ complete: true, pendingFiles: 0, pendingBytes: 0 });
});

it("sees what was written a moment ago once the last look is old", async () => {
  await using home = await createGatewayHome();
  const { call } = caller(home);
  await writeChat(foldersOf(home.agent).sessions, "s1", ["otter"]);
  await expect.poll(async () => (await call("search.query", { text: "otter" })).total, { timeout: 10_000 }).toBe(1);
  await writeChat(foldersOf(home.agent).sessions, "s2", ["otter"]);
  await expect.poll(async () => (await call("search.query", { text: "otter" })).total, { timeout: 10_000 }).toBe(2);
});
