/** The index over real files: its facts, and which files it reads again. */
import { lstatSync, readdirSync } from "node:fs";
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
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { CLAUDE_SAMPLES, type SampleTokens, claudeSamples } from "../../../test/support/claude-samples.ts";
import {
  THREE_LINES,
  answer,
  file,
  id,
  createIndexHome,
  prompt,
  toText,
  writeLines,
} from "../../../test/support/native-home.ts";
import type { IndexedSession, NativeIndex } from "./native-index.ts";

const samples = claudeSamples();

/** The facts that do not depend on where and when the file was written. */
function contentOf(home: { index(): NativeIndex }, sessionId: string): Partial<IndexedSession> {
  const session = home.index().get(sessionId);
  if (session === undefined) throw new Error(`${sessionId} is not in the index`);
  return { ...session, path: "", folder: "", modifiedAt: 0 };
}

it("gives the facts in the manifest of every sample", async () => {
  await using home = await createIndexHome();
  for (const { file: sample } of samples) {
    const target = home.transcript(sample.split("/").slice(1).join("/"), `-${sample.split("/")[0]}`);
    await cp(join(CLAUDE_SAMPLES, sample), target, { recursive: true });
    const beside = join(CLAUDE_SAMPLES, sample).slice(0, -".jsonl".length);
    await cp(beside, target.slice(0, -".jsonl".length), { recursive: true }).catch(() => undefined);
  }
  await home.index().refresh();
  const alone = samples.filter(({ file: sample }) => !sample.startsWith("forked"));
  for (const sample of alone) {
    const all = [sample.tokens, ...(sample.subagents ?? []).map(({ tokens }) => tokens)];
    const sum = (name: keyof SampleTokens) => all.reduce((total, tokens) => total + tokens[name], 0);
    expect(home.facts(sample.sessionId)).toMatchObject({
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
      firstMessage: sample.firstPrompt,
      subagentCount: sample.subagents?.length ?? 0,
      damagedLines: 0,
    });
  }
  expect([...home.index().list()]).toHaveLength(samples.length);
});

it("gives the same row however a file was written", async () => {
  await using whole = await createIndexHome();
  await using grown = await createIndexHome();
  for (const { file: sample, sessionId } of samples) {
    const bytes = await readFile(join(CLAUDE_SAMPLES, sample));
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

it("reads only added bytes, and nothing when nothing was added", async () => {
  await using home = await createIndexHome();
  await writeLines(
    home.transcript(file(1)),
    prompt("one"),
    ...Array.from({ length: 500 }, (_, n) => answer(`m${n}`, 5, n)),
  );
  const size = (await stat(home.transcript(file(1)))).size;
  expect(await home.index().refresh()).toMatchObject({
    files: 1,
    filesRead: 1,
    bytesRead: size,
    removed: 0,
    failed: [],
  });
  expect(await home.index().refresh()).toMatchObject({ files: 1, filesRead: 0, bytesRead: 0 });
  const more = toText(prompt("two", 600));
  await appendFile(home.transcript(file(1)), more);
  home.reopen();
  expect(await home.index().refresh()).toMatchObject({ filesRead: 1, bytesRead: more.length });
  expect(home.facts(id(1))).toMatchObject({
    userTurns: 2,
    lastPrompt: "two",
    tokens: { input: 5000, output: 2500 },
  });
});

it("leaves an incomplete last line for later", async () => {
  await using home = await createIndexHome();
  const [one, two] = [toText(prompt("one")), toText(prompt("two"))];
  await writeLines(home.transcript(file(1)));
  await writeFile(home.transcript(file(1)), one + two.slice(0, 30));
  await home.index().refresh();
  expect(home.facts(id(1))).toMatchObject({ userTurns: 1, lines: 1, damagedLines: 0 });
  await appendFile(home.transcript(file(1)), two.slice(30));
  await home.index().refresh();
  expect(home.facts(id(1))).toMatchObject({ userTurns: 2, lines: 2, damagedLines: 0 });
});

it.each([
  ["truncated", async (path: string) => await truncate(path, toText(prompt("one")).length)],
  [
    "replaced",
    async (path: string) => {
      await writeFile(`${path}.new`, toText(prompt("one", 5, { cwd: "/elsewhere" })));
      await rename(`${path}.new`, path);
    },
  ],
  [
    "rewritten in place with more",
    async (path: string) => await writeFile(path, toText(prompt("one"), prompt("x".repeat(900))).replace("one", "ONE")),
  ],
  [
    "rewritten in place with as much",
    async (path: string) => {
      await writeFile(path, (await readFile(path, "utf8")).replace("two", "TWO"));
      await utimes(path, 1, 1);
    },
  ],
])("rereads a file that was %s", async (_, change) => {
  await using home = await createIndexHome();
  await writeLines(home.transcript(file(1)), prompt("one"), prompt("two"), answer("m", 5));
  await home.index().refresh();
  await change(home.transcript(file(1)));
  await home.index().refresh();
  await using fresh = await createIndexHome();
  await cp(home.transcript(file(1)), fresh.transcript(file(1)), { recursive: true });
  await fresh.index().refresh();
  expect(contentOf(home, id(1))).toEqual(contentOf(fresh, id(1)));
});

it("forgets deleted files and follows moved ones", async () => {
  await using home = await createIndexHome();
  for (const number of [1, 2, 3])
    await writeLines(home.transcript(file(number)), prompt(`p${number}`), answer(`m${number}`, 5));
  await home.index().refresh();
  await rm(home.transcript(file(1)));
  await mkdir(home.transcript("", "-other"), { recursive: true });
  await rename(home.transcript(file(2)), home.transcript(file(2), "-other"));
  expect(await home.index().refresh()).toMatchObject({ files: 2, filesRead: 1, removed: 2 });
  expect([...home.index().list({ folders: ["-other"] })].map(({ sessionId }) => sessionId)).toEqual([id(2)]);
  await rm(home.transcript(""), { recursive: true });
  expect(await home.index().refresh()).toMatchObject({ removed: 1 });
  expect(
    home
      .index()
      .usage({ by: "session" })
      .map(({ group }) => group),
  ).toEqual([id(2)]);
});

it.runIf(process.getuid?.() !== 0)("reports a file that cannot be read and indexes the others", async () => {
  await using home = await createIndexHome();
  await writeLines(home.transcript(file(1)), prompt("one"));
  await writeLines(home.transcript(file(2)), prompt("two"));
  await chmod(home.transcript(file(1)), 0);
  const { failed, filesRead } = await home.index().refresh();
  expect([failed.map(({ path }) => path), filesRead]).toEqual([[home.transcript(file(1))], 1]);
});

it("accepts bytes that are not text", async () => {
  await using home = await createIndexHome();
  await writeLines(home.transcript(file(1)), prompt("one"));
  const line = Buffer.concat([
    Buffer.from('{"type":"user","cwd":"/a\xff","message":{"content":"hi '),
    Buffer.from([0xff, 0xc3]),
    Buffer.from('"}}\n'),
  ]);
  await appendFile(home.transcript(file(1)), Buffer.concat([line, Buffer.from([0, 1, 0xfe, 10])]));
  await home.index().refresh();
  expect(home.facts(id(1))).toMatchObject({
    lines: 3,
    userTurns: 2,
    damagedLines: 1,
    lastPrompt: "hi \ufffd\ufffd",
  });
});

it("applies filters", async () => {
  await using home = await createIndexHome();
  const cwds = ["/code/a", "/code/a/deep", "/code/ab", "/code/a/deep/x"];
  for (const [number, cwd] of cwds.entries()) {
    await writeLines(home.transcript(file(number)), prompt("one", number, { cwd }));
    await utimes(home.transcript(file(number)), 1000 + number, 1000 + number);
  }
  await home.index().refresh();
  const ids = (query: Parameters<NativeIndex["list"]>[0]) =>
    [...home.index().list(query)].map(({ sessionId }) => sessionId);
  expect(ids({ modifiedSince: 1_002_000 })).toEqual([id(3), id(2)]);
  expect(ids({ sessionIds: [id(1), id(9)] })).toEqual([id(1)]);
  expect(home.index().findByPrefix("00000000-0000-4000-8000-00000000000", 2)).toEqual([id(0), id(1)]);
  expect(home.index().places()).toHaveLength(4);
  expect(home.index().usage({ by: "day" })).toEqual([]);
});

it("writes nothing into Claude Code's folder, not even when it fails", async () => {
  await using home = await createIndexHome();
  await writeLines(home.transcript(file(1)), ...THREE_LINES);
  await writeLines(home.transcript(file(2)), ...THREE_LINES);
  const before = snapshot(home.claudeHome);
  await chmod(dirname(home.transcript(file(1))), 0o500);
  try {
    await home.index().refresh();
    expect([...home.index().list()]).toHaveLength(2);
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
