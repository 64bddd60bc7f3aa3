/** Every command treats a transcript that lost messages as damaged, never as empty. */
import { cp, mkdir, readFile, readdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliResult, runCliShared } from "../support/cli.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";

const CONVERSATION = ["TODO: fix the login bug in auth.ts", "TODO: write the migration of the orders table", "third"];

const DAMAGES: [string, (path: string) => Promise<void>, number][] = [
  ["is missing", async (path) => await rm(path), 0],
  ["is a folder", async (path) => await replace(path, async () => await mkdir(path)), 0],
  ["is a broken link", async (path) => await replace(path, async () => await symlink("nowhere", path)), 0],
  ["is cut after a line", async (path) => await changeLines(path, (lines) => lines.slice(0, 4)), 1],
  ["has NUL bytes in its middle", async (path) => await changeLines(path, (lines) => zeroed(lines, 3)), 3],
];

describe.each(DAMAGES)("a transcript that %s", (_what, damage, kept) => {
  it("is reported, set aside by the next turn, and reported until acknowledged", async () => {
    await using home = await homeOfMain(CONVERSATION);
    const run = async (...args: string[]): Promise<CliResult> => await runCliShared(args, { home: home.path });
    await run("handoff", "capture");
    const path = await transcriptOf(home);
    await damage(path);
    const left = await contentOf(path);

    const history = await run("history", "--json");
    expect(history.code).toBe(5);
    expect(history.json()).toMatchObject({ complete: false, problems: [{ reason: expect.any(String) }] });
    const shown = await run("history");
    expect(shown.stdout).not.toContain("no messages yet");
    // The command in the hint reports the damage, wherever it is in the file.
    expect(shown.stderr).toContain("Run `holdfast doctor --deep` for details");
    const found = await run("doctor");
    expect([found.code, found.stdout]).toEqual([5, expect.stringContaining(path)]);
    const isListedAsDamaged = (await run("sessions")).stdout.includes("(damaged; see `holdfast doctor`)");
    expect(isListedAsDamaged).toBe(kept === 0);
    const exported = await run("sessions", "export", "main", "--json");
    expect(exported.code).toBe(5);
    expect(exported.json()).toMatchObject({ complete: false });

    const turn = await run("agent", "--local", "-m", "hello");
    expect(turn.stdout).toContain("Part of this conversation was lost");
    expect(turn.stdout).toContain(`[echo] message ${kept + 1} of this window: hello`);
    const aside = (await readdir(join(path, ".."))).find((name) => name.includes(".jsonl.damaged-")) ?? "";
    expect(await contentOf(join(path, "..", aside))).toEqual(left);
    expect((await run("history")).stdout).toContain("Part of this conversation was lost");
    expect((await run("handoff", "show")).stdout).toContain("write the migration of the orders table");
    expect((await run("agent", "--local", "-m", "again")).stdout).not.toContain("was lost");

    expect((await run("doctor", "--fix")).code).toBe(5);
    expect((await run("doctor", "--json")).json()).toMatchObject({
      ok: false,
      findings: [{ check: "transcripts", severity: "error", path: join(path, "..", aside) }],
    });
    expect((await run("doctor", "--acknowledge", "something")).code).toBe(3);
    expect((await run("doctor", "--acknowledge", aside)).code).toBe(0);
    expect((await run("doctor", "--json")).json()).toMatchObject({ ok: true, findings: [] });
  });
});

it("is reported for an earlier window that lost its last lines", async () => {
  await using home = await homeOfMain([...CONVERSATION, "/new next"]);
  const run = async (...args: string[]): Promise<CliResult> => await runCliShared(args, { home: home.path });
  const { windows } = (await run("sessions", "show", "main", "--json")).json() as { windows: { sessionId: string }[] };
  const id = windows[0]?.sessionId ?? "";
  const path = join(home.path, "agents/main/sessions", `${id}.jsonl`);
  // The memory flush wrote them, after the last turn.
  await changeLines(path, (lines) => lines.slice(0, -1));
  for (const args of [["history", id], ["sessions", "export", id], ["doctor"]])
    expect((await run(...args)).code).toBe(5);
});

it("is reported by restore when it was damaged in the archive", async () => {
  await using home = await homeOfMain(CONVERSATION);
  const run = async (...args: string[]): Promise<CliResult> => await runCliShared(args, { home: home.path });
  const name = (await transcriptOf(home)).split("/").at(-1) ?? "";
  await run("sessions", "archive", "main");
  await truncate(join(home.path, "agents/main/sessions/archive", name), 0);
  expect((await run("doctor")).code).toBe(5);
  const shown = await run("history", "main", "--json");
  expect([shown.code, shown.json()]).toMatchObject([
    5,
    { complete: false, problems: [{ reason: "the file is empty" }] },
  ]);
  expect((await run("sessions", "export", "main")).code).toBe(5);
  const restored = await run("sessions", "restore", "agent:main:main", "--json");
  expect(restored.code).toBe(5);
  expect(restored.json()).toMatchObject({ ok: true, problems: [{ reason: "the file is empty" }] });
  expect((await run("history")).code).toBe(5);
});

it.each(DAMAGES)("is reported by compact if it %s", async (_what, damage) => {
  await using home = await homeOfMain(CONVERSATION);
  await damage(await transcriptOf(home));
  const { code, stdout, stderr } = await runCliShared(["sessions", "compact", "main"], { home: home.path });
  expect([code, stderr]).toEqual([5, expect.stringContaining("The transcript is damaged")]);
  expect(stdout).toMatch(/not compacted \((?:1 entry|\d+ entries)\)/);
});

it("is not reported for a session that was reset, forked, compacted or never used", async () => {
  await using home = await homeOfMain([...CONVERSATION, "/new", "/compact", "fourth", "/reset"]);
  const run = async (...args: string[]): Promise<CliResult> => await runCliShared(args, { home: home.path });
  await run("sessions", "compact", "main", "--max-lines", "1");
  await run("sessions", "reset", "main");
  expect((await run("history")).code).toBe(0);
  expect((await run("doctor", "--json")).json()).toMatchObject({ ok: true, findings: [] });
});

const originals = new Map<string, Promise<string>>();

/** A home whose main session has these messages. Made once, then copied. */
async function homeOfMain(said: readonly string[]): Promise<TemporaryFolder> {
  const id = said.join("\n");
  const original = originals.get(id) ?? talk(said);
  originals.set(id, original);
  const home = await temporaryFolder();
  await cp(await original, home.path, { recursive: true });
  return home;
}

async function talk(said: readonly string[]): Promise<string> {
  const { path: home } = await temporaryFolder();
  await runCliShared(["chat", "--local", "--session", "main"], { home, input: `${said.join("\n")}\n` });
  return home;
}

async function transcriptOf(home: TemporaryFolder): Promise<string> {
  const folder = join(home.path, "agents/main/sessions");
  const name = (await readdir(folder)).find((candidate) => candidate.endsWith(".jsonl")) ?? "";
  return join(folder, name);
}

async function replace(path: string, create: () => Promise<void>): Promise<void> {
  await rm(path);
  await create();
}

/** Empty if it is not a file. */
async function contentOf(path: string): Promise<Buffer> {
  return await readFile(path).catch(() => Buffer.alloc(0));
}

async function changeLines(path: string, change: (lines: string[]) => string[]): Promise<void> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  await writeFile(path, `${change(lines).join("\n")}\n`);
}

function zeroed(lines: string[], index: number): string[] {
  return lines.with(index, "\0".repeat(lines[index]?.length ?? 0));
}
