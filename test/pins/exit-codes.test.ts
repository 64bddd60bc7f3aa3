/** Exit codes of the command line and the messages with them. docs/cli.md lists them. */
import { existsSync } from "node:fs";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createCliHome } from "../support/cli-home.ts";
import { runCli, runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

// Concurrent, because one of them waits until a store gives up on a lock.
describe.concurrent("exit codes", () => {
  const cases: [title: string, args: string[], code: number, message: RegExp][] = [
    ["an unknown command", ["sesions"], 2, /unknown command 'sesions'[\s\S]*Did you mean sessions/],
    [
      "an unknown subcommand",
      ["sessions", "shw", "x"],
      2,
      /unknown command 'sessions shw'[\s\S]*Did you mean sessions show/,
    ],
    ["an unknown option", ["sessions", "--jsn"], 2, /unknown option '--jsn'/],
    ["a bad number", ["sessions", "--limit", "none"], 2, /--limit must be a whole number above 0, not "none"/],
    ["a missing argument", ["sessions", "show"], 2, /missing required argument <session>/],
    [
      "a session that is not there",
      ["sessions", "show", "agent:main:nobody"],
      3,
      /No session found: agent:main:nobody/,
    ],
    ["another agent's session", ["sessions", "show", "agent:other:main"], 1, /agent:other:main/],
    ["a store that is not there", ["sessions", "--store", "none.json"], 3, /There is no store .*none\.json/],
    ["a name that is no agent's", ["sessions", "--agent", "../../etc"], 2, /"\.\.\/\.\.\/etc" is not a valid agent id/],
    ["an agent that is not there", ["sessions", "--agent", "ghost"], 3, /Agent "ghost" has no sessions yet/],
    ["a destructive command without --yes", ["sessions", "delete", "work"], 2, /Confirmation needed[\s\S]*--yes/],
    ["a field that cannot be set", ["sessions", "patch", "work", "lable=x"], 2, /Did you mean "label"/],
    [
      "a value that is not allowed",
      ["sessions", "patch", "work", "sendPolicy=maybe"],
      2,
      /sendPolicy .*expected "allow" or "deny"/,
    ],
    ["an unknown format", ["sessions", "export", "work", "--format", "pdf"], 2, /md, html, jsonl, json/],
    ["an unknown archive", ["sessions", "restore", "nothing"], 3, /No archived session matches "nothing"/],
    ["an unknown config key", ["config", "set", "session.dmscope", "main"], 2, /did you mean "session\.dmScope"/i],
  ];

  it("2 for a configuration file that is empty or zeroed", async () => {
    for (const content of ["", " \n", "\0\0\0\0"]) {
      await using home = await temporaryFolder();
      await writeFile(home.join("config.json"), content);
      const { code, stderr } = await runCli(["config", "check"], { home: home.path });
      expect({ content, code }).toEqual({ content, code: 2 });
      expect(stderr).toMatch(/config\.json (?:is empty|holds only zero bytes)\n.*delete it to use the defaults/);
    }
  });

  it("0 for a configuration with a deny rule after an allow rule, and a warning", async () => {
    await using home = await temporaryFolder();
    const rules = [{ action: "allow" }, { action: "deny", match: { channel: "discord" } }];
    await writeFile(home.join("config.json"), JSON.stringify({ session: { sendPolicy: { rules } } }));
    const { code, stdout, stderr } = await runCliShared(["config", "check"], { home: home.path });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${home.join("config.json")} is valid\n` });
    expect(stderr).toMatch(
      /^Warning: session\.sendPolicy: rule 2 \(deny\) has no effect where rule 1 \(allow\) matches/,
    );
    const { json } = await runCliShared(["config", "check", "--json"], { home: home.path });
    expect(json()).toEqual({
      ok: true,
      sources: [{ kind: "user", path: home.join("config.json") }],
      warnings: [expect.stringContaining("rule 2 (deny)")],
    });
  });

  it("with clear messages for wrong input, and nothing changed", async () => {
    await using home = await createCliHome();
    const before = await runCliShared(["sessions", "show", "work", "--json"], { home: home.path });
    for (const [title, args, code, message] of cases) {
      const result = await runCliShared(args, { home: home.path });
      expect(result.stderr, title).toMatch(message);
      expect(result, title).toMatchObject({ code, stdout: "" });
    }
    const after = await runCliShared(["sessions", "show", "work", "--json"], { home: home.path });
    expect(after.stdout).toBe(before.stdout);
  });

  it("names every candidate of an ambiguous prefix", async () => {
    await using home = await temporaryFolder();
    const entries = { "agent:main:a": entry("abcd1111"), "agent:main:b": entry("abcd2222") };
    await writeFile(home.join("sessions.json"), JSON.stringify(entries));
    const args = ["sessions", "show", "abcd", "--store", "sessions.json"];
    const { code, stderr } = await runCli(args, { home: home.path });
    expect(code).toBe(2);
    expect(stderr).toMatch(/"abcd" matches several sessions: abcd\d{4}-.*abcd\d{4}-/);
  });

  it("for a store of a newer version, which stays untouched", async () => {
    await using home = await createCliHome();
    const database = new DatabaseSync(home.join("agents/main/agent.sqlite"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    const { code, stderr } = await runCliShared(["sessions", "--json"], { home: home.path });
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "unsupported", retryable: false } });
  });

  it("for a lost store, which differs from one without sessions", async () => {
    await using home = await createCliHome();
    await rm(home.join("agents/main/agent.sqlite"));
    for (const args of [["sessions"], ["sessions", "--all-agents"], ["history"], ["chat", "--local"]]) {
      const { code, stdout, stderr } = await runCliShared(args, { home: home.path });
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: "" });
      expect(stderr).toMatch(/agent\.sqlite is missing, but .*holdfast doctor --fix/s);
    }
    expect(existsSync(home.join("agents/main/agent.sqlite"))).toBe(false);

    const asJson = { home: home.path, env: { HOLDFAST_STORE: "json" } };
    await rm(home.join("agents/main/sessions/sessions.json"));
    const { code, stderr } = await runCliShared(["sessions"], asJson);
    expect(code).toBe(1);
    expect(stderr).toMatch(/sessions\.json is missing, but /);
  });

  it("for a home that cannot be used", async () => {
    await using home = await temporaryFolder();
    await writeFile(home.join("file"), "");
    const { code, stderr } = await runCli(["chat", "--local"], {
      home: home.join("file"),
      cwd: home.path,
      input: "hi\n",
    });
    expect(code).toBe(2);
    expect(stderr).toContain("Part of this path is a file, but must be a folder.");
  });

  it("for a store that another process is writing", async () => {
    await using home = await createCliHome();
    await mkdir(home.join("locked"));
    await writeFile(home.join("locked/sessions.json"), JSON.stringify({ "agent:main:a": entry("abcd1111") }));
    const holder = {
      pid: process.pid,
      startedAt: "unknown",
      host: (await import("node:os")).hostname(),
      nonce: "0".repeat(16),
    };
    await writeFile(home.join("locked/sessions.json.lock"), JSON.stringify(holder));
    await chmod(home.join("locked/sessions.json.lock"), 0o600);
    const args = ["sessions", "patch", "agent:main:a", "label=x", "--store", "locked/sessions.json"];
    const { code, stderr } = await runCli(args, { home: home.path });
    expect(code).toBe(4);
    expect(stderr).toContain(`process ${process.pid}`);
  });

  it("0 when the reader stops early", async () => {
    await using home = await createCliHome();
    const { spawnSync } = await import("node:child_process");
    const bin = new URL("../../bin/holdfast.js", import.meta.url).pathname;
    const script = `"${process.execPath}" "${bin}" sessions --json | head -c 1; echo " $\{PIPESTATUS[0]}"`;
    const { stdout } = spawnSync("bash", ["-c", script], { env: { ...process.env, HOLDFAST_HOME: home.path } });
    expect(String(stdout)).toBe("{ 0\n");
  });
});

function entry(start: string) {
  return { sessionId: `${start}-0000-4000-8000-000000000000`, updatedAt: 1_794_700_000_000 };
}
