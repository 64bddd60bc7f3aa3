import { spawn } from "node:child_process";
import { chmod, readFile, readdir, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { childArguments } from "../../test/support/child.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { readAll, textOf, userDraft } from "../../test/support/transcripts.ts";
import { createTranscript } from "./log.ts";

async function run(
  command: string,
  args: readonly string[],
  user?: number,
): Promise<{ code: number | null; lines: unknown[] }> {
  const identity = user === undefined ? {} : { uid: user, gid: user };
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], ...identity });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  const lines = output.split("\n").filter((line) => line !== "");
  return { code, lines: lines.map((line) => JSON.parse(line) as unknown) };
}

test("four processes append to one file without a lease: every entry once, in one chain", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await (await createTranscript({ path, sessionId: "sid", cwd: "/" })).close();
  const names = ["a", "b", "c", "d"];
  const results = await Promise.all(
    names.map(
      async (name) =>
        await run(process.execPath, childArguments("transcript", { task: "append", path, name, count: 25 })),
    ),
  );
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0]);

  const { entries, report } = await readAll(path);
  expect(report.problems).toEqual([]);
  const acknowledged = results.flatMap(({ lines }) => lines.map(String));
  expect(entries.map(({ id }) => id).toSorted()).toEqual(acknowledged.toSorted());
  expect(new Set(acknowledged).size).toBe(100);
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.slice(0, -1).map(({ id }) => id)]);
  for (const name of names) {
    const own = entries.map(textOf).filter((text) => text.startsWith(name));
    expect(own).toEqual(Array.from({ length: 25 }, (_, index) => `${name} ${index} `));
  }
  expect(await readdir(folder.path)).toEqual(["sid.jsonl"]);
});

test("a short write is rolled back", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
  await log.append([userDraft("one")]);
  const before = await readFile(path);
  // The limit is in blocks of 512 or 1024 bytes; either way it is inside the third line.
  const command = 'ulimit -f 4 && exec "$0" "$@"';
  const task = { task: "append" as const, path, name: "fenced", count: 2, text: "x".repeat(6000) };
  const { code, lines } = await run("sh", ["-c", command, process.execPath, ...childArguments("transcript", task)]);
  expect(code).toBe(1);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ code: "disk-full", kind: "unavailable" });
  expect(await readFile(path)).toEqual(before);
});

test("a read-only folder is a clear error and changes nothing", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await (await createTranscript({ path, sessionId: "sid", cwd: "/" })).close();
  const { size } = await stat(path);
  await chmod(path, 0o444);
  await chmod(folder.path, 0o555);
  // Root may write everywhere, so another user makes the attempt.
  const nobody = process.getuid?.() === 0 ? 65_534 : undefined;
  const { code, lines } = await run(
    process.execPath,
    childArguments("transcript", { task: "append", path, name: "x", count: 1 }),
    nobody,
  );
  await chmod(folder.path, 0o700);
  expect(code).toBe(1);
  expect(lines[0]).toMatchObject({ kind: "forbidden", hint: expect.any(String) });
  expect((await stat(path)).size).toBe(size);
  expect(await readdir(folder.path)).toEqual(["sid.jsonl"]);
});
