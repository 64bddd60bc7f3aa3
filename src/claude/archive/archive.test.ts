/** Copies that survive deleted originals, killed runs and parallel runs. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type NativeHome, createNativeHome, testSessionId } from "../../../test/support/native-home.ts";
import { createTestClock } from "../../../test/support/time.ts";
import { claudeLayout } from "../../config/layout.ts";
import { discover } from "../discovery/discover.ts";
import {
  type ArchiveOptions,
  type ArchiveReport,
  archiveNativeSessions,
  readCleanupPeriodDays,
  restoreNativeSession,
} from "./archive-sessions.ts";
import { readPartLines } from "./archive-part.ts";
import { readArchive, parseManifest } from "./catalogue.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 15);
const OLD = NOW - 25 * DAY;

async function archive(home: NativeHome, more: Partial<ArchiveOptions> = {}): Promise<ArchiveReport> {
  await home.index.refresh();
  const clock = createTestClock(NOW);
  return await archiveNativeSessions({ ...home, daysBefore: 7, redact: false, clock, ...more });
}

async function linesOf(home: NativeHome, letter: string): Promise<string[]> {
  const path = (await readArchive(home.home)).get(testSessionId(letter))?.load()?.path ?? "";
  await using handle = await open(path);
  const lines: string[] = [];
  for await (const { bytes } of readPartLines(handle)) lines.push(bytes.toString("utf8"));
  return lines;
}

function archived(home: NativeHome): string[] {
  return readdirSync(claudeLayout(home.home).archiveFolder).toSorted();
}

function touch(path: string, at: number): void {
  utimesSync(path, at / 1000, at / 1000);
}

function addSubagent(transcript: string, text: string): string {
  const folder = join(dirname(transcript), basename(transcript, ".jsonl"), "subagents");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "agent-a1.jsonl");
  writeFileSync(path, text);
  writeFileSync(join(folder, "agent-a1.meta.json"), '{"agentType":"Explore"}');
  return path;
}

describe("archiveNativeSessions", () => {
  it("copies sessions due for deletion once, and again when they have grown", async () => {
    await using home = await createNativeHome();
    const path = home.session({ id: "a", cwds: [home.root], modifiedAt: OLD });
    home.session({ id: "b", cwds: [home.root], modifiedAt: NOW - 22 * DAY });
    expect(await archive(home)).toEqual({
      cleanupPeriodDays: 30,
      sessions: 2,
      due: 1,
      copied: [testSessionId("a")],
      unchanged: 0,
      failed: [],
    });
    expect((await linesOf(home, "a")).join("\n")).toBe(readFileSync(path, "utf8").trimEnd());
    expect(await archive(home)).toMatchObject({ due: 1, copied: [], unchanged: 1 });
    appendFileSync(path, '{"type":"tag"}\n');
    touch(path, OLD + DAY / 2);
    expect(await archive(home)).toMatchObject({ copied: [testSessionId("a")] });
    expect((await linesOf(home, "a")).at(-1)).toBe('{"type":"tag"}');
    expect(archived(home)).toEqual([
      expect.stringMatching(/^aaaaaaaa-.*\.0\.jsonl\.zst$/),
      `${testSessionId("a")}.json`,
      "catalogue.jsonl",
    ]);
    expect(statSync(join(claudeLayout(home.home).archiveFolder, `${testSessionId("a")}.json`)).mode & 0o777).toBe(
      0o600,
    );
  });

  it("lists a session whose original is gone, and finds it in its repo", async () => {
    await using home = await createNativeHome();
    const path = home.session({
      id: "a",
      cwds: [home.root],
      modifiedAt: OLD,
      branch: "feat/x",
      prompts: ["[openclaw:agent=kyo]\n\nhello"],
    });
    home.session({ id: "b", cwds: [home.root], modifiedAt: NOW });
    await archive(home);
    expect((await discover(home.root, home)).sessions).toHaveLength(2);
    rmSync(path);
    const { sessions, total } = await discover(home.root, { ...home, limit: 5 });
    expect(total).toBe(2);
    expect(sessions[1]).toMatchObject({
      sessionId: testSessionId("a"),
      archived: true,
      agentId: "kyo",
      firstMessage: "hello",
      branch: "feat/x",
      lastModified: new Date(OLD),
      transcriptPath: expect.stringMatching(/\.jsonl\.zst$/) as string,
    });
    expect((await discover(undefined, { ...home, ofAgent: "kyo" })).sessions.map(({ archived }) => archived)).toEqual([
      true,
    ]);
    expect((await discover(home.join("elsewhere"), home)).sessions).toEqual([]);
    // The catalogue is derived: nothing is missing without it or with an outdated one.
    const catalogue = join(claudeLayout(home.home).archiveFolder, "catalogue.jsonl");
    const text = readFileSync(catalogue, "utf8");
    for (const content of ["", "{torn", text.replaceAll(/"stamp":"[0-9a-f]+"/g, '"stamp":"0000000000000000"')]) {
      writeFileSync(catalogue, content);
      expect((await readArchive(home.home)).get(testSessionId("a"))?.modifiedAt).toBe(OLD);
    }
  });

  it("keeps subagents, also those deleted before the transcript grew", async () => {
    await using home = await createNativeHome();
    const path = home.session({ id: "a", cwds: [home.root], modifiedAt: NOW });
    const subagent = addSubagent(path, '{"type":"user"}\n');
    touch(subagent, OLD);
    expect((await archive(home)).copied).toHaveLength(1);
    rmSync(dirname(dirname(subagent)), { recursive: true });
    appendFileSync(path, '{"type":"tag"}\n');
    touch(path, OLD);
    expect((await archive(home)).copied).toHaveLength(1);
    const to = home.join("restored");
    const { files, nativeFolder } = await restoreNativeSession(testSessionId("a"), { ...home, to });
    expect(files.map((file) => file.slice(to.length + 1))).toEqual([
      `${testSessionId("a")}.jsonl`,
      `${testSessionId("a")}/subagents/agent-a1.jsonl`,
      `${testSessionId("a")}/subagents/agent-a1.meta.json`,
    ]);
    expect(readFileSync(files[0] ?? "")).toEqual(readFileSync(path));
    expect(readFileSync(files[1] ?? "", "utf8")).toBe('{"type":"user"}\n');
    expect(nativeFolder).toBe(dirname(path));
  });

  it("keeps long tool output outside the transcript", async () => {
    await using home = await createNativeHome();
    const path = home.session({ id: "a", cwds: [home.root], modifiedAt: OLD });
    const folder = join(dirname(path), basename(path, ".jsonl"), "tool-results");
    mkdirSync(folder, { recursive: true });
    const output = Buffer.from("line\r\n\u0000 no JSON\nthe end");
    writeFileSync(join(folder, "toolu_01.txt"), output);
    symlinkSync(home.join("elsewhere"), join(folder, "link.txt"));
    await archive(home);
    const { files } = await restoreNativeSession(testSessionId("a"), { ...home, to: home.join("restored") });
    expect(files.slice(1)).toEqual([home.join("restored", testSessionId("a"), "tool-results", "toolu_01.txt")]);
    expect(readFileSync(files[1] ?? "")).toEqual(output);
  });

  it("does not replace a longer copy with a shorter transcript", async () => {
    await using home = await createNativeHome();
    const path = home.session({ id: "a", cwds: [home.root], modifiedAt: OLD });
    const whole = readFileSync(path, "utf8").trimEnd();
    await archive(home);
    truncateSync(path, 10);
    touch(path, OLD);
    expect((await archive(home)).failed).toMatchObject([
      { path, reason: expect.stringContaining("shorter") as string },
    ]);
    expect((await linesOf(home, "a")).join("\n")).toBe(whole);
  });

  it("redacts lines and facts on request, and keeps other lines unchanged", async () => {
    await using home = await createNativeHome();
    const secret = `sk-ant-${"a1B2".repeat(8)}`;
    const path = home.session({ id: "a", cwds: [home.root], prompts: [`use ${secret}`] });
    appendFileSync(path, `{ "odd":   1.50 }\nnot json ${secret}\n{"torn`);
    touch(path, OLD);
    await archive(home);
    expect((await linesOf(home, "a")).join("\n")).toContain(secret);
    expect((await archive(home, { redact: true })).copied).toHaveLength(1);
    const lines = await linesOf(home, "a");
    expect(lines.join("\n")).not.toContain(secret);
    expect(lines.slice(-3)).toEqual(['{ "odd":   1.50 }', "not json sk-ant-[redacted]", '{"torn']);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ message: { content: "use sk-ant-[redacted]" } });
    const { archiveFolder } = claudeLayout(home.home);
    for (const name of archived(home).filter((one) => !one.endsWith(".zst"))) {
      expect(readFileSync(join(archiveFolder, name), "utf8")).not.toContain(secret);
    }
  });

  it("redacts copies of deleted files too", async () => {
    await using home = await createNativeHome();
    const secret = `sk-ant-${"a1B2".repeat(8)}`;
    const path = home.session({ id: "a", cwds: [home.root], modifiedAt: OLD });
    const subagent = addSubagent(path, `{"type":"user","text":"${secret}"}\n`);
    await archive(home);
    rmSync(dirname(dirname(subagent)), { recursive: true });
    expect((await archive(home, { redact: true })).copied).toHaveLength(1);
    const first = await restoreNativeSession(testSessionId("a"), { ...home, to: home.join("redacted") });
    expect(first).toMatchObject({ redacted: true, files: { length: 3 } });
    expect(readFileSync(first.files[1] ?? "", "utf8")).toBe('{"type":"user","text":"sk-ant-[redacted]"}\n');
    expect(archived(home).filter((name) => name.endsWith(".zst"))).toHaveLength(3);
    // The copy stays redacted, and the manifest says so.
    expect((await archive(home)).copied).toHaveLength(1);
    const second = await restoreNativeSession(testSessionId("a"), { ...home, to: home.join("mixed") });
    expect(second).toMatchObject({ redacted: true });
    expect(readFileSync(second.files[1] ?? "", "utf8")).not.toContain(secret);
  });

  it("writes nothing into Claude Code's folder", async () => {
    await using home = await createNativeHome();
    home.session({ id: "a", cwds: [home.root], modifiedAt: OLD });
    const names = () => readdirSync(home.claudeHome, { recursive: true }).map(String).toSorted();
    const before = names();
    await archive(home, { daysBefore: Number.POSITIVE_INFINITY });
    expect(names()).toEqual(before);
    await expect(
      restoreNativeSession(testSessionId("a"), { ...home, to: join(home.claudeHome, "projects") }),
    ).rejects.toMatchObject({ code: "restore-into-claude" });
  });
});

describe("parallel and killed archive runs", () => {
  /** Archives in a child process that is killed at its n-th step. */
  const script = `
    const url = (path) => new URL(path, ${JSON.stringify(import.meta.url)}).href;
    const { archiveNativeSessions } = await import(url("./archive-sessions.ts"));
    const { createNativeIndex } = await import(url("../index/create-native-index.ts"));
    const { installFaultAction } = await import(url("../../base/faults.ts"));
    const [, claudeHome, home, step] = process.argv;
    const index = createNativeIndex({ path: home + "/" + process.pid + ".sqlite", claudeHome, threads: 0 });
    await index.refresh();
    let left = Number(step);
    installFaultAction((point) => { if (point !== "lock.takeover.claimed") left -= 1; if (left === 0) process.kill(process.pid, "SIGKILL"); });
    const report = await archiveNativeSessions({ claudeHome, home, index, daysBefore: 1e6, redact: false });
    if (report.failed.length > 0) throw new Error(JSON.stringify(report.failed));
    index.close();
  `;
  const run = async (home: NativeHome, step: number): Promise<unknown[]> => {
    const args = ["--input-type=module", "-e", script, home.claudeHome, home.home, String(step)];
    return await once(spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] }), "exit");
  };

  it("leave the old copy or the new one, wherever they are killed", async () => {
    await using home = await createNativeHome();
    const path = home.session({ id: "a", cwds: [home.root], modifiedAt: OLD });
    addSubagent(path, '{"type":"user"}\n');
    await archive(home);
    let finished = false;
    let kills = 0;
    for (let step = 1; !finished; step++) {
      const before = (await linesOf(home, "a")).join("\n");
      appendFileSync(path, `{"type":"tag","tag":"${step}"}\n`);
      const after = readFileSync(path, "utf8").trimEnd();
      const [code] = await run(home, step);
      finished = code === 0;
      if (!finished) kills += 1;
      const now = (await linesOf(home, "a")).join("\n");
      expect(finished ? [after] : [before, after]).toContain(now);
      expect((await readArchive(home.home)).get(testSessionId("a"))?.load()?.sessionId).toBe(testSessionId("a"));
    }
    expect(kills).toBeGreaterThan(5);
    // No leftovers of the killed runs remain.
    expect(archived(home).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    expect(archived(home).filter((name) => name.endsWith(".zst"))).toHaveLength(3);
  });

  it("may run at the same time", async () => {
    await using home = await createNativeHome();
    for (const id of "abcdef") home.session({ id, cwds: [home.root], modifiedAt: OLD });
    expect(await Promise.all([run(home, 0), run(home, 0)])).toEqual([
      [0, null],
      [0, null],
    ]);
    expect([...(await readArchive(home.home)).keys()]).toHaveLength(6);
    expect(archived(home)).toHaveLength(13);
    for (const id of "abcdef") expect(await linesOf(home, id)).toHaveLength(2);
  });
});

describe("restoreNativeSession", () => {
  it("overwrites nothing, and restores nothing from a damaged copy", async () => {
    await using home = await createNativeHome();
    home.session({ id: "a", cwds: [home.root], modifiedAt: OLD });
    await archive(home);
    const options = { ...home, to: home.join("here") };
    await restoreNativeSession(testSessionId("a"), options);
    await expect(restoreNativeSession(testSessionId("a"), options)).rejects.toMatchObject({ code: "file-exists" });
    const { archiveFolder } = claudeLayout(home.home);
    const part = join(archiveFolder, archived(home).find((name) => name.endsWith(".zst")) ?? "");
    const bytes = readFileSync(part);
    writeFileSync(part, bytes.subarray(0, bytes.length - 20));
    const elsewhere = { ...home, to: home.join("there") };
    await expect(restoreNativeSession(testSessionId("a"), elsewhere)).rejects.toMatchObject({ kind: "corrupt" });
    expect(readdirSync(home.join("there"))).toEqual([]);
    await expect(restoreNativeSession("../x", elsewhere)).rejects.toMatchObject({ code: "archive-not-found" });
  });

  it("refuses a manifest with a path outside the archive", () => {
    const sample = fileURLToPath(new URL("../../../test/fixtures/claude-code/manifest.json", import.meta.url));
    expect(parseManifest(readFileSync(sample, "utf8"))).toBeUndefined();
    const id = testSessionId("a");
    const facts = { modifiedAt: 1, tokens: {}, cwds: [], branches: [], prompts: [], models: [], files: [] };
    const part = { file: `${id}.0123456789abcdef.0.jsonl.zst`, name: `${id}.jsonl`, sha256: "", modifiedAt: 1 };
    const manifest = (more: object) =>
      parseManifest(
        JSON.stringify({ version: 1, sessionId: id, folder: "f", stamp: "s", facts, parts: [{ ...part, ...more }] }),
      );
    expect(manifest({})).toBeDefined();
    expect(manifest({ file: `../${part.file}` })).toBeUndefined();
    expect(manifest({ name: "../../.bashrc" })).toBeUndefined();
    expect(manifest({ name: `${id}/subagents/agent-../../x.jsonl` })).toBeUndefined();
    expect(manifest({ name: `${id}/tool-results/toolu_01.txt` })).toBeDefined();
    for (const name of ["..", ".", "", "../../x", "a/b"]) {
      expect(manifest({ name: `${id}/tool-results/${name}` })).toBeUndefined();
    }
  });
});

it("reads a manifest of version 1", () => {
  const id = testSessionId("a");
  const part = { file: `${id}.0123456789abcdef.0.jsonl.zst`, name: `${id}.jsonl`, sha256: "", modifiedAt: 1 };
  const facts = {
    sessionId: id,
    modifiedAt: 1,
    tokens: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
    cwds: ["/repo"],
    branches: ["main", "feat/x"],
    prompts: ["[openclaw:agent=ada]\n\nfix it", "and test it"],
    firstPrompt: "[openclaw:agent=ada]\n\nfix it",
    latestPrompt: "and test it",
    title: "[openclaw:agent=ada]\n\nfix it",
    models: ["claude-sonnet-4-5"],
    files: [{ path: "/repo/a.ts", edited: true }],
    createdAt: Date.UTC(2026, 9, 1),
    version: "2.1.197",
    userTurns: 2,
  };
  const text = JSON.stringify({ version: 1, sessionId: id, folder: "f", stamp: "s", facts, parts: [part] });
  expect(parseManifest(text)).toMatchObject({
    version: 2,
    facts: {
      originMarker: "ada",
      cwds: ["/repo"],
      shown: {
        branch: "feat/x",
        firstMessage: "fix it",
        lastPrompt: "and test it",
        prompts: ["fix it", "and test it"],
        title: "fix it",
        filesTouched: [{ path: "/repo/a.ts", edited: true }],
        ccVersion: "2.1.197",
        createdAt: "2026-10-01T00:00:00.000Z",
        userTurns: 2,
      },
    },
  });
});

describe("readCleanupPeriodDays", () => {
  it("reads one number from the settings, with a default for anything else", async () => {
    await using home = await createNativeHome();
    const settings = join(home.claudeHome, "settings.json");
    expect(await readCleanupPeriodDays(home.claudeHome)).toBe(30);
    const cases: [string, number][] = [
      ['{\n  "env": { "cleanupPeriodDays": 3, "KEY": "x" },\n  "cleanupPeriodDays": 90\n}\n', 90],
      ['{"cleanupPeriodDays":0}', 0],
      ['{"cleanupPeriodDays":-1}', 30],
      ['{"cleanupPeriodDays":"9"}', 30],
      ['{"cleanupPeriodDays":', 30],
      ["[]", 30],
      ["", 30],
    ];
    for (const [text, days] of cases) {
      writeFileSync(settings, text);
      expect(await readCleanupPeriodDays(home.claudeHome)).toBe(days);
    }
  });
});
