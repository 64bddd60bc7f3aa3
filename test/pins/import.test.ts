/** The output of `holdfast import openclaw`: JSON, sentences, exit codes. docs/import.md describes it. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCliShared } from "../support/cli.ts";
import { createOpenClawHome, snapshotOf } from "../support/openclaw-home.ts";

const NONE = { found: 0, taken: 0, here: 0, left: 0 };
const all = (found: number) => ({ found, taken: found, here: 0, left: 0 });

describe("holdfast import openclaw", () => {
  it("prints counts and items with --json", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const { from, home, database } = openClaw;
    await mkdir(home);
    const { code, stderr, json } = await runCliShared(["import", "openclaw", from, "--json"], { home });
    expect([code, stderr]).toEqual([0, ""]);
    expect(json()).toMatchObject({
      schema: 1,
      ok: true,
      from,
      home,
      dryRun: false,
      counts: {
        sessions: all(3),
        archivedSessions: all(1),
        windows: all(5),
        messages: all(21),
        claudeCodeSessions: NONE,
        settings: NONE,
        skills: NONE,
        hooks: NONE,
      },
    });
    const { items } = json() as { items: unknown[] };
    expect(items[0]).toEqual({
      kind: "session",
      agentId: "main",
      name: "agent:main:main",
      label: "my label",
      outcome: "taken",
      windows: { found: 2, taken: 2 },
      messages: { found: 16, taken: 16 },
    });
    const listed = await runCliShared(["sessions", "show", "my label", "--json"], { home });
    expect(listed.json()).toMatchObject({ key: "agent:main:main", entry: { importedFrom: database } });
    const { stdout } = await runCliShared(["search", "via gateway", "--json"], { home });
    expect(stdout).toContain("474a08c8-9321-445a-b7c7-800fd0d94d00");
  });

  it("says what was found, taken and left, and what to do next", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database", "files"] });
    const { from, home } = openClaw;
    await mkdir(home);
    openClaw.change("PRAGMA user_version = 99");
    await writeFile(join(from, "openclaw.json"), '{"session": {"typingMode": "x"}, "gateway": {}}');
    const { code, stdout, stderr } = await runCliShared(["import", "openclaw", from], { home });
    expect(code).toBe(5);
    expect(stdout.split("\n")).toEqual([
      `Imported ${from} to ${home}`,
      "                   FOUND  TAKEN  ALREADY HERE  LEFT",
      "sessions               4      4             0     0",
      "archived sessions      1      1             0     0",
      "windows                7      7             0     0",
      "messages              14     14             0     0",
      "settings               2      0             0     2",
      "Left:",
      "  setting session.typingMode: no counterpart",
      "  setting gateway: not imported",
      `  ${openClaw.database} has layout 99; this Holdfast reads layouts up to 23. Update Holdfast and import again. Nothing was changed.`,
      "",
    ]);
    expect(stderr).toBe("Some sources could not be imported; see above. Solve these problems and import again.\n");
  });

  it("writes nothing in a dry run", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database", "files"] });
    const { from, home } = openClaw;
    const env = { OPENCLAW_STATE_DIR: from };
    const before = await snapshotOf(from);
    const dry = await runCliShared(["import", "openclaw", "--dry-run"], { home, env, cwd: from });
    expect(dry.code).toBe(0);
    expect(dry.stdout).toContain(`Would import ${from} to ${home}`);
    expect(dry.stderr).toBe("Nothing was changed. Run it again without --dry-run to import.\n");
    expect(await snapshotOf(home)).toEqual({});
    const done = await runCliShared(["import", "openclaw"], { home, env, cwd: from });
    expect(done.stderr).toContain("OpenClaw's files were not changed.");
    const imported = await snapshotOf(join(home, "agents"));
    const again = await runCliShared(["import", "openclaw", "--dry-run", "--json"], { home, env });
    expect(again.json()).toMatchObject({ counts: { sessions: { taken: 0 }, messages: { taken: 0 } } });
    expect(await snapshotOf(join(home, "agents"))).toEqual(imported);
    expect(await snapshotOf(from)).toEqual(before);
  });

  it("exits with 3 where there is nothing, and with 2 in OpenClaw's own folder", async () => {
    await using openClaw = await createOpenClawHome({ with: ["files"] });
    const { from, home } = openClaw;
    await mkdir(home);
    const nothing = await runCliShared(["import", "openclaw", home], { home });
    expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining("No OpenClaw data found in")]);
    const before = await snapshotOf(from);
    const itself = await runCliShared(["import", "openclaw", from], { home: from });
    expect([itself.code, itself.stderr]).toEqual([2, expect.stringContaining("is the OpenClaw folder itself")]);
    expect(await snapshotOf(from)).toEqual(before);
  });
});

describe("a home with only an OpenClaw database", () => {
  it("is named by sessions and doctor, and can be imported in place", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const home = openClaw.from;
    const found = `Found an OpenClaw database with 3 sessions: ${openClaw.database}. Run \`holdfast import openclaw ${home}\` to use them here.`;
    const sessions = await runCliShared(["sessions"], { home });
    expect([sessions.code, sessions.stderr]).toEqual([0, `${found}\n`]);
    const json = await runCliShared(["sessions", "--json"], { home });
    expect([json.code, json.stderr, json.json()]).toEqual([0, `${found}\n`, expect.objectContaining({ count: 0 })]);
    expect((await runCliShared(["history"], { home })).stderr).toContain(found);
    const before = await snapshotOf(home);
    const store = await runCliShared(["sessions", "--store", openClaw.database], { home });
    expect([store.code, store.stderr]).toEqual([1, expect.stringContaining("is a database of OpenClaw")]);
    expect(await snapshotOf(home)).toEqual(before);
    const doctor = await runCliShared(["doctor", "--json"], { home });
    const { findings } = doctor.json() as { findings: object[] };
    expect(findings).toContainEqual({ check: "openclaw", severity: "info", message: found });
    expect((await runCliShared(["import", "openclaw", home], { home })).code).toBe(0);
    expect((await runCliShared(["sessions", "--json"], { home })).json()).toMatchObject({ count: 3 });
    expect((await runCliShared(["import", "openclaw", home, "--json"], { home })).json()).toMatchObject({
      counts: { sessions: { found: 3, taken: 0, here: 3 }, messages: { taken: 0 } },
    });
  });

  it("is found beside an empty home of ours", async () => {
    await using openClaw = await createOpenClawHome({ with: ["database"] });
    const { from, home } = openClaw;
    const options = { home, env: { OPENCLAW_STATE_DIR: from }, cwd: from };
    expect((await runCliShared(["sessions"], options)).stderr).toContain(
      "Run `holdfast import openclaw` to use them here.",
    );
    expect((await runCliShared(["doctor"], options)).stdout).toContain("Found an OpenClaw database with 3 sessions");
    openClaw.change("PRAGMA user_version = 24");
    expect((await runCliShared(["sessions"], options)).stderr).toMatch(
      /Found an OpenClaw database: .*layout 24.*Update Holdfast/,
    );
  });
});
