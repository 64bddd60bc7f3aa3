/** The output of `holdfast handoff`: JSON shapes, sentences, exit codes. docs/cli.md describes them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolderName } from "../../src/claude/native/layout.ts";
import { agentLayout } from "../../src/config/layout.ts";
import { createCliHome, NUMBER, TEXT } from "../support/cli-home.ts";
import { runCliShared } from "../support/cli.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";
import { tearHandoff } from "../support/stores.ts";

const KEY = expect.stringMatching(/^agent:main:cli:dm:/) as string;
const NATIVE = "c0ffee00-1111-4222-8333-444455556666";

const WORDS = [
  "Please add idempotency keys to the webhook handler of the billing service.",
  "We decided to keep the keys in Postgres instead of Redis, because Redis is not backed up.",
  "I'm blocked: the integration tests fail on CI with connection refused to the database.",
];

const ITEM = expect.objectContaining({
  kind: expect.stringMatching(/^(?:topic|in-progress|blocker|decision|accomplishment|next-step)$/) as string,
  text: TEXT,
  entryId: TEXT,
  at: NUMBER,
}) as object;

const HANDOFF = {
  agentId: "main",
  sessionKey: KEY,
  sessionId: TEXT,
  isNative: false,
  status: "waiting",
  willBeOffered: true,
  isAsked: false,
  project: "main",
  mode: TEXT,
  cwd: TEXT,
  reason: TEXT,
  ending: TEXT,
  lastMessageAt: NUMBER,
  capturedAt: NUMBER,
  expiresAt: NUMBER,
  messages: NUMBER,
  items: expect.arrayContaining([ITEM]) as object[],
};

describe("holdfast handoff", () => {
  it("reports that there is no hand-off, with exit code 3 for a named one", async () => {
    await using home = await temporaryFolder();
    const cli = async (...args: string[]) => await runCliShared(["handoff", ...args], { home: home.path });
    expect(await cli("list")).toMatchObject({ code: 0, stdout: "", stderr: "There are no hand-offs yet.\n" });
    const shown = await cli("show", "--json");
    expect(shown).toMatchObject({ code: 3, stdout: "" });
    expect(JSON.parse(shown.stderr)).toMatchObject({ error: { code: "no-handoff", hint: TEXT } });
    const [list, clear, wrong, ...missing] = await Promise.all([
      cli("list", "--json"),
      cli("clear"),
      cli("show", "--sesion", "x"),
      cli("capture"),
      cli("resume"),
      cli("show", "--session", "nobody"),
      cli("show", "--agent", "nobody"),
    ]);
    expect(list.json()).toEqual({ schema: 1, count: 0, total: 0, handoffs: [] });
    expect(clear).toMatchObject({ code: 0, stderr: "There is no hand-off to clear.\n" });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean --session?") as string });
    expect(missing.map(({ code }) => code)).toEqual([3, 3, 3, 3]);
  });

  it("show prints Markdown without escape codes, with entry ids", async () => {
    await using home = await createCliHome(WORDS);
    const { code, stdout, stderr } = await runCliShared(["handoff", "show"], {
      home: home.path,
      env: { FORCE_COLOR: "1" },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^# Hand-off: main\n\nIt .+\. Last message: \d{4}-\d\d-\d\d \d\d:\d\d\.\n\n## In progress\n/,
    );
    expect(stdout).toMatch(/\n\nSession `agent:main:cli:dm:[^`]+`, window `[0-9a-f]{8}`, offered until .+\.\n$/);
    expect(stdout).toMatch(/^## Decisions\n\n- We decided to keep the keys in Postgres .*\(`[0-9a-f]{8}`\)$/m);
    expect(stdout).toMatch(/^## Blockers\n\n- I'm blocked: .*\(`[0-9a-f]{8}`\)$/m);
    // oxlint-disable-next-line no-control-regex -- escape codes are what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);

    const json = (await runCliShared(["handoff", "show", "--json"], { home: home.path })).json();
    expect(json).toEqual({ schema: 1, handoff: HANDOFF, markdown: stdout });
  });

  it("captures, lists, resumes and clears", async () => {
    await using home = await createCliHome(WORDS);
    const cli = async (...args: string[]) => await runCliShared(["handoff", ...args], { home: home.path });
    const captured = await cli("capture");
    expect(captured.stdout).toMatch(/^Captured \d lines of window [0-9a-f]{8} \(project main, session agent:main:cli:/);
    expect((await cli("capture", "--json")).json()).toEqual({
      schema: 1,
      ok: true,
      sessionKey: KEY,
      captured: true,
      handoff: HANDOFF,
    });
    expect((await cli("list", "--json")).json()).toEqual({ schema: 1, count: 1, total: 1, handoffs: [HANDOFF] });
    expect((await cli("list", "--project", "another", "--json")).json()).toMatchObject({ count: 0 });
    const [head = "", row = ""] = (await cli("list")).stdout.split("\n");
    expect(head.split(/ {2,}/)).toEqual(["WINDOW", "SESSION", "PROJECT", "AGE", "STATE", "IN PROGRESS"]);
    expect(row).toMatch(/^[0-9a-f]{8} {2}agent:main:cli:dm:\S+ +main +just now +waiting +\S/);

    const window = row.slice(0, 8);
    expect((await cli("resume", "--session", window, "--json")).json()).toEqual({
      schema: 1,
      ok: true,
      sessionKey: KEY,
      handoff: { ...HANDOFF, isAsked: true },
      markdown: TEXT,
    });
    const cleared = await cli("clear");
    expect(cleared.stdout).toMatch(/^Cleared \d lines of window [0-9a-f]{8} /);
    expect((await cli("clear", "--json")).json()).toEqual({ schema: 1, ok: true, cleared: false });
    expect((await cli("list")).stdout).toMatch(/ cleared$/m);
    expect((await cli("show", "--session", window)).code).toBe(3);
  });

  it("shows, lists and clears an incomplete hand-off, and deletes its session", async () => {
    await using home = await createCliHome(WORDS);
    const cli = async (...args: string[]) => await runCliShared(args, { home: home.path });
    const { sessionKey } = (await cli("handoff", "capture", "--json")).json() as { sessionKey: string };
    const attempts = [
      ["handoff", "list"],
      ["handoff", "show"],
      ["handoff", "clear"],
      ["sessions", "delete", sessionKey, "--yes"],
    ];
    for (const args of attempts) {
      tearHandoff(agentLayout(home.path, "main").database, sessionKey);
      const { code, stdout } = await cli(...args);
      expect({ args, code, says: stdout !== "" }).toEqual({ args, code: 0, says: true });
    }
  });

  it("captures an ended Claude Code session by the start of its id", async () => {
    await using home = await temporaryFolder();
    await using claude = await temporaryFolder();
    await using work = await temporaryFolder();
    const env = { CLAUDE_CONFIG_DIR: claude.path };
    writeNative(claude, work.path);
    const cli = async (...args: string[]) => await runCliShared(["handoff", ...args], { home: home.path, env });
    const { code, stdout, stderr } = await cli("show", "--session", NATIVE.slice(0, 8));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`window \`${NATIVE.slice(0, 8)}\``);
    expect(stdout).toContain("Postgres instead of Redis");
    // `claude "$(holdfast handoff show …)"`: it must be text, not an option.
    expect(stdout.startsWith("-")).toBe(false);
    expect((await cli("list")).stdout).toMatch(/^c0ffee00 {2}claude-code +\S+ .* waiting /m);
    const resumed = await cli("resume", "--session", NATIVE.slice(0, 8));
    expect(resumed.stdout).toBe(stdout);
    expect(resumed.stderr).toContain(`claude "$(holdfast handoff show --session ${NATIVE.slice(0, 8)})"`);
    expect((await cli("capture", "--session", NATIVE, "--json")).json()).toMatchObject({
      sessionKey: `agent:main:claude-code:${NATIVE}`,
      captured: true,
      handoff: { isNative: true, cwd: work.path },
    });
    expect((await cli("capture", "--session", "deadbeef")).code).toBe(3);
    expect((await cli("clear", "--session", NATIVE)).stdout).toMatch(/^Cleared /);
  });

  it("shows and clears hand-offs while they are turned off", async () => {
    await using home = await createCliHome(WORDS);
    await runCliShared(["config", "set", "handoff.enabled", "false"], { home: home.path });
    const cli = async (...args: string[]) => await runCliShared(["handoff", ...args], { home: home.path });
    for (const action of ["capture", "resume"]) {
      const { code, stderr } = await cli(action);
      expect(code).toBe(1);
      expect(stderr).toContain("holdfast config set handoff.enabled true");
    }
    expect((await cli("show")).code).toBe(0);
    expect((await cli("clear")).stdout).toMatch(/^Cleared /);
  });

  it("is completed by the shell", async () => {
    await using home = await temporaryFolder();
    const { stdout } = await runCliShared(["__complete", "handoff", ""], { home: home.path });
    const words = stdout.split("\n").map((line) => line.split("\t")[0]);
    expect(words).toEqual(expect.arrayContaining(["show", "capture", "clear", "list", "resume"]));
  });
});

function writeNative(claude: TemporaryFolder, cwd: string): void {
  const path = claude.join("projects", projectFolderName(cwd), `${NATIVE}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const lines = WORDS.map((content, index) => ({
    type: "user",
    uuid: `0000000${index}-aaaa-4bbb-8ccc-dddddddddddd`,
    parentUuid: index === 0 ? null : `0000000${index - 1}-aaaa-4bbb-8ccc-dddddddddddd`,
    timestamp: new Date(Date.now() - 60_000 + index).toISOString(),
    sessionId: NATIVE,
    cwd,
    entrypoint: "cli",
    version: "2.1.197",
    gitBranch: "main",
    isSidechain: false,
    message: { role: "user", content },
  }));
  writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}
