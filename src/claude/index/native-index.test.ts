/** The index over real files: what it says, what it reads again, and what it leaves alone. */
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { lstatSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createNativeIndex } from "./create-native-index.ts";
import type { IndexedSession, NativeIndex } from "./native-index.ts";

const fixtures = fileURLToPath(new URL("../../../test/fixtures/claude-code/", import.meta.url));

interface Tokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheCreate: number;
}

interface Sample {
  file: string;
  sessionId: string;
  lines: number;
  realUserTurns: number;
  tokens: Tokens;
  compactions: object[];
  branches: string[];
  cwds: string[];
  firstPrompt: string;
  subagents?: { tokens: Tokens }[];
}

const { samples } = JSON.parse(readFileSync(`${fixtures}manifest.json`, "utf8")) as { samples: Sample[] };

/** A folder for Claude Code's files and an index over them. */
async function openHome(threads = 0) {
  const folder = await temporaryFolder();
  const claudeHome = folder.join("claude");
  const path = folder.join("cache", "index.sqlite");
  let index: NativeIndex = createNativeIndex({ path, claudeHome, threads });
  return {
    folder,
    claudeHome,
    path,
    index: () => index,
    reopen: () => {
      index.close();
      index = createNativeIndex({ path, claudeHome, threads });
    },
    transcript: (name: string, project = "-repo") => join(claudeHome, "projects", project, name),
    [Symbol.asyncDispose]: async () => {
      index.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function write(path: string, ...lines: object[]): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text(...lines));
}

const text = (...lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const id = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const file = (number: number) => `${id(number)}.jsonl`;
const START = Date.parse("2026-11-15T12:00:00.000Z");
const time = (second: number) => new Date(START + second * 1000).toISOString();
const prompt = (said: string, second = 0, more: object = {}) => ({
  type: "user",
  uuid: `u-${said}`,
  timestamp: time(second),
  cwd: "/repo",
  message: { role: "user", content: said },
  ...more,
});
const answer = (message: string, output: number, second = 1) => ({
  type: "assistant",
  uuid: `a-${message}-${second}`,
  timestamp: time(second),
  cwd: "/repo",
  message: {
    id: message,
    model: "claude-opus-4-5-20251101",
    content: [],
    usage: { input_tokens: 10, output_tokens: output },
  },
});

/** What does not depend on where and when the file was written. */
function contentOf(home: { index(): NativeIndex }, sessionId: string): Partial<IndexedSession> {
  const session = home.index().get(sessionId);
  if (session === undefined) throw new Error(`${sessionId} is not in the index`);
  return { ...session, path: "", folder: "", modifiedAt: 0 };
}

it("says of every sample what its manifest says", async () => {
  await using home = await openHome();
  for (const { file: sample } of samples) {
    const target = home.transcript(sample.split("/").slice(1).join("/"), `-${sample.split("/")[0]}`);
    await cp(`${fixtures}${sample}`, target, { recursive: true });
    const beside = `${fixtures}${sample}`.slice(0, -".jsonl".length);
    await cp(beside, target.slice(0, -".jsonl".length), { recursive: true }).catch(() => undefined);
  }
  await home.index().refresh();
  const alone = samples.filter(({ file: sample }) => !sample.startsWith("forked"));
  for (const sample of alone) {
    const all = [sample.tokens, ...(sample.subagents ?? []).map(({ tokens }) => tokens)];
    const sum = (name: keyof Tokens) => all.reduce((total, tokens) => total + tokens[name], 0);
    expect(home.index().get(sample.sessionId)).toMatchObject({
      lines: sample.lines,
      userTurns: sample.realUserTurns,
      tokens: {
        input: sum("input"),
        output: sum("output"),
        cacheRead: sum("cacheRead"),
        cacheWrite: sum("cacheCreate"),
      },
      compactionCount: sample.compactions.length,
      branches: sample.branches,
      cwds: sample.cwds,
      firstPrompt: sample.firstPrompt,
      subagentCount: sample.subagents?.length ?? 0,
      damagedLines: 0,
    });
  }
  expect(home.index().list()).toHaveLength(samples.length);
});

it("gives the same row however a file came to be", async () => {
  await using whole = await openHome();
  await using grown = await openHome();
  for (const { file: sample, sessionId } of samples) {
    const bytes = await readFile(`${fixtures}${sample}`);
    const name = `${sessionId}.jsonl`;
    await mkdir(dirname(whole.transcript(name)), { recursive: true });
    await mkdir(dirname(grown.transcript(name)), { recursive: true });
    await writeFile(whole.transcript(name), bytes);
    await writeFile(grown.transcript(name), "");
    for (let from = 0; from < bytes.length; from += 1777) {
      await appendFile(grown.transcript(name), bytes.subarray(from, from + 1777));
      await grown.index().refresh();
    }
  }
  await whole.index().refresh();
  for (const { sessionId } of samples) {
    expect(contentOf(grown, sessionId)).toEqual(contentOf(whole, sessionId));
  }
});

it("reads only what was added, and nothing when nothing was", async () => {
  await using home = await openHome();
  await write(home.transcript(file(1)), prompt("one"), ...Array.from({ length: 500 }, (_, n) => answer(`m${n}`, 5, n)));
  const size = (await stat(home.transcript(file(1)))).size;
  expect(await home.index().refresh()).toMatchObject({
    files: 1,
    filesRead: 1,
    bytesRead: size,
    removed: 0,
    failed: [],
  });
  expect(await home.index().refresh()).toMatchObject({ files: 1, filesRead: 0, bytesRead: 0 });
  const more = text(prompt("two", 600));
  await appendFile(home.transcript(file(1)), more);
  home.reopen();
  expect(await home.index().refresh()).toMatchObject({ filesRead: 1, bytesRead: more.length });
  expect(home.index().get(id(1))).toMatchObject({
    userTurns: 2,
    latestPrompt: "two",
    tokens: { input: 5000, output: 2500 },
  });
});

it("leaves a torn last line for later", async () => {
  await using home = await openHome();
  const [one, two] = [text(prompt("one")), text(prompt("two"))];
  await write(home.transcript(file(1)));
  await writeFile(home.transcript(file(1)), one + two.slice(0, 30));
  await home.index().refresh();
  expect(home.index().get(id(1))).toMatchObject({ userTurns: 1, lines: 1, damagedLines: 0 });
  await appendFile(home.transcript(file(1)), two.slice(30));
  await home.index().refresh();
  expect(home.index().get(id(1))).toMatchObject({ userTurns: 2, lines: 2, damagedLines: 0 });
});

it.each([
  ["truncated", async (path: string) => await truncate(path, text(prompt("one")).length)],
  [
    "replaced",
    async (path: string) => {
      await writeFile(`${path}.new`, text(prompt("one", 5, { cwd: "/elsewhere" })));
      await rename(`${path}.new`, path);
    },
  ],
  [
    "rewritten in place with more",
    async (path: string) => await writeFile(path, text(prompt("one"), prompt("x".repeat(900))).replace("one", "ONE")),
  ],
  [
    "rewritten in place with as much",
    async (path: string) => {
      await writeFile(path, (await readFile(path, "utf8")).replace("two", "TWO"));
      await utimes(path, 1, 1);
    },
  ],
])("reads a file anew that was %s", async (_, change) => {
  await using home = await openHome();
  await write(home.transcript(file(1)), prompt("one"), prompt("two"), answer("m", 5));
  await home.index().refresh();
  await change(home.transcript(file(1)));
  await home.index().refresh();
  await using fresh = await openHome();
  await cp(home.transcript(file(1)), fresh.transcript(file(1)), { recursive: true });
  await fresh.index().refresh();
  expect(contentOf(home, id(1))).toEqual(contentOf(fresh, id(1)));
});

it("forgets what is gone and follows what was moved", async () => {
  await using home = await openHome();
  for (const number of [1, 2, 3])
    await write(home.transcript(file(number)), prompt(`p${number}`), answer(`m${number}`, 5));
  await home.index().refresh();
  await rm(home.transcript(file(1)));
  await mkdir(home.transcript("", "-other"), { recursive: true });
  await rename(home.transcript(file(2)), home.transcript(file(2), "-other"));
  expect(await home.index().refresh()).toMatchObject({ files: 2, filesRead: 1, removed: 2 });
  expect(
    home
      .index()
      .list({ folders: ["-other"] })
      .map(({ sessionId }) => sessionId),
  ).toEqual([id(2)]);
  await rm(home.transcript(""), { recursive: true });
  expect(await home.index().refresh({ folders: ["-other"] })).toMatchObject({ removed: 0 });
  expect(await home.index().refresh()).toMatchObject({ removed: 1 });
  expect(
    home
      .index()
      .usage({ by: "session" })
      .map(({ group }) => group),
  ).toEqual([id(2)]);
});

it.runIf(process.getuid?.() !== 0)("reports a file that cannot be read and indexes the others", async () => {
  await using home = await openHome();
  await write(home.transcript(file(1)), prompt("one"));
  await write(home.transcript(file(2)), prompt("two"));
  await chmod(home.transcript(file(1)), 0);
  const { failed, filesRead } = await home.index().refresh();
  expect([failed.map(({ path }) => path), filesRead]).toEqual([[home.transcript(file(1))], 1]);
});

it("stands bytes that are no text", async () => {
  await using home = await openHome();
  await write(home.transcript(file(1)), prompt("one"));
  const line = Buffer.concat([
    Buffer.from('{"type":"user","cwd":"/a\xff","message":{"content":"hi '),
    Buffer.from([0xff, 0xc3]),
    Buffer.from('"}}\n'),
  ]);
  await appendFile(home.transcript(file(1)), Buffer.concat([line, Buffer.from([0, 1, 0xfe, 10])]));
  await home.index().refresh();
  expect(home.index().get(id(1))).toMatchObject({
    lines: 3,
    userTurns: 2,
    damagedLines: 1,
    latestPrompt: "hi \ufffd\ufffd",
  });
});

const first = [prompt("one"), answer("m1", 5, 1), answer("m2", 5, 2)];

it("counts a message of a fork for the session that had it first", async () => {
  await using home = await openHome();
  await write(home.transcript(file(2)), { type: "mode", timestamp: time(50) }, ...first, answer("m4", 9, 51));
  await home.index().refresh();
  expect(home.index().get(id(2))).toMatchObject({ tokens: { input: 30, output: 19 } });
  await write(home.transcript(file(1)), ...first, answer("m3", 7, 3));
  await home.index().refresh();
  expect(home.index().get(id(1))).toMatchObject({ tokens: { input: 30, output: 17 } });
  expect(home.index().get(id(1))?.forkedFrom).toBeUndefined();
  expect(home.index().get(id(2))).toMatchObject({ tokens: { input: 10, output: 9 }, forkedFrom: id(1) });
  // Both go on.
  await appendFile(home.transcript(file(1)), text(answer("m5", 1, 60)));
  await appendFile(home.transcript(file(2)), text(answer("m6", 2, 61)));
  await home.index().refresh();
  expect(
    home
      .index()
      .usage({ by: "session" })
      .map(({ group, output }) => [group, output]),
  ).toEqual([
    [id(1), 18],
    [id(2), 11],
  ]);
  // The fork is all that is left of the history.
  await rm(home.transcript(file(1)));
  await home.index().refresh();
  const left = home.index().get(id(2));
  expect([left?.tokens.output, left?.forkedFrom]).toEqual([21, undefined]);
});

it("adds what subagents used", async () => {
  await using home = await openHome();
  await write(home.transcript(file(1)), ...first);
  await write(home.transcript(`${id(1)}/subagents/agent-x.jsonl`), answer("s1", 40, 3));
  await home.index().refresh();
  expect(home.index().list({ limit: 5 })).toMatchObject([{ subagentCount: 1, tokens: { input: 30, output: 50 } }]);
  expect(home.index().usage({ by: "folder" })).toMatchObject([
    { group: "/repo", output: 50, messages: 3, unpricedTokens: 0 },
  ]);
});

it("filters", async () => {
  await using home = await openHome();
  const cwds = ["/code/a", "/code/a/deep", "/code/ab", "/code/a/deep/x"];
  for (const [number, cwd] of cwds.entries()) {
    await write(home.transcript(file(number)), prompt("one", number, { cwd }));
    await utimes(home.transcript(file(number)), 1000 + number, 1000 + number);
  }
  await home.index().refresh();
  const ids = (query: Parameters<NativeIndex["list"]>[0]) =>
    home
      .index()
      .list(query)
      .map(({ sessionId }) => sessionId);
  expect(ids({ under: ["/code/a"] })).toEqual([id(3), id(1), id(0)]);
  expect(ids({ under: ["/code/a/deep", "/code/ab"], limit: 2 })).toEqual([id(3), id(2)]);
  expect(ids({ modifiedSince: 1_002_000 })).toEqual([id(3), id(2)]);
  expect(ids({ sessionIds: [id(1), id(9)] })).toEqual([id(1)]);
  expect(home.index().findByPrefix("00000000-0000-4000-8000-00000000000", 2)).toEqual([id(0), id(1)]);
  expect(home.index().places()).toHaveLength(4);
  expect(home.index().usage({ by: "day" })).toEqual([]);
});

it("tells costs only where prices are known", async () => {
  await using home = await openHome();
  await write(home.transcript(file(1)), ...first);
  await write(home.transcript(file(2)), {
    ...answer("x", 5),
    message: { ...answer("x", 5).message, model: "gpt-next" },
  });
  await home.index().refresh();
  expect(home.index().get(id(1))?.costUsd).toBeCloseTo((20 * 5 + 10 * 25) / 1e6, 12);
  expect(home.index().get(id(2))?.costUsd).toBeUndefined();
  expect(home.index().usage({ by: "model" })).toMatchObject([
    { group: "claude-opus-4-5-20251101", unpricedTokens: 0 },
    { group: "gpt-next", unpricedTokens: 15 },
  ]);
});

it("leaves nothing behind in Claude Code's folder, not even when it could not", async () => {
  await using home = await openHome();
  await write(home.transcript(file(1)), ...first);
  await write(home.transcript(file(2)), ...first);
  const before = snapshot(home.claudeHome);
  await chmod(dirname(home.transcript(file(1))), 0o500);
  try {
    await home.index().refresh();
    home.index().list();
  } finally {
    await chmod(dirname(home.transcript(file(1))), 0o755);
  }
  expect(snapshot(home.claudeHome)).toEqual(before);
});

function snapshot(root: string): unknown[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { mode, size, mtimeMs, ino, nlink } = lstatSync(join(root, name));
      return [name, mode, size, mtimeMs, ino, nlink];
    });
}

it("reads forks once where they lie beside what they were made of, and counts those in other folders too", async () => {
  await using home = await openHome();
  const paths = [home.transcript(file(1)), home.transcript(file(2)), home.transcript(file(3), "-other")];
  for (const [index, path] of paths.entries()) await write(path, ...first, answer(`own${index}`, 10, 3 + index));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  const { bytesRead } = await home.index().refresh();
  const [, , elsewhere = 0] = sizes;
  expect(bytesRead).toBe(sizes.reduce((sum, size) => sum + size, 0) + elsewhere);
  const outputs = [1, 2, 3].map((number) => home.index().get(id(number))?.tokens.output);
  expect(outputs).toEqual([20, 10, 10]);
});
