/** The first commands that people type: each works or says what to do. docs/cli.md describes them. */
import { appendFile, readFile, rename, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createCliHome } from "../support/cli-home.ts";
import { startCliGateway, runCli, runCliShared, startProgram } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const VERSION = /^\d+\.\d+\.\d+\n$/;

describe("first commands", () => {
  it.each([
    [[], /^Usage: holdfast <command>[\s\S]*Examples/],
    [["help"], /^Usage: holdfast <command>[\s\S]*Examples/],
    [["-h"], /^Usage: holdfast <command>[\s\S]*Examples/],
    [["-v"], VERSION],
    [["-V"], VERSION],
    [["--version"], VERSION],
    [["version"], VERSION],
    [["cc", "help"], /^Usage: holdfast cc[\s\S]*cc select <task>[\s\S]*Examples/],
    [["cc", "help", "run"], /^Usage: holdfast cc run <task>/],
    [["cc", "--help"], /^Usage: holdfast cc[\s\S]*Examples/],
    [["help", "sessions"], /^Usage: holdfast sessions[\s\S]*sessions show <session>[\s\S]*Examples/],
    [["sessions", "help"], /^Usage: holdfast sessions/],
    [["sessions", "list", "--help"], /^Usage: holdfast sessions list/],
    [["chat", "--help"], /^Usage: holdfast chat/],
    [["config", "list"], /"defaultAgent": "main"/],
    [["config", "path"], /config\.json\n$/],
  ])("holdfast %j", async (args, expected) => {
    await using home = await temporaryFolder();
    const { code, stdout, stderr } = await runCliShared(args, { home: home.path });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(expected);
  });

  it.each([
    [["lst"], 2, /unknown command 'lst'/],
    [["start"], 2, /holdfast gateway --help/],
    [["sessions", "foo"], 2, /unknown command 'sessions foo'[\s\S]*sessions --help/],
    [["help", "nonsense"], 2, /unknown command 'nonsense'/],
    [["help", "sessions", "delte"], 2, /unknown command 'sessions delte'/],
    [["--json", "sessions"], 2, /Options follow the command/],
    [["config", "set"], 2, /Usage: holdfast config set <key> <value>/],
    [["config", "set", "session.reset.atHour", "four"], 2, /expected a number, found text/],
    [["agent", "-m"], 2, /-m, --message needs a value/],
    [["gateway", "logs"], 3, /There is no log yet .*gateway start/s],
  ])("holdfast %j gives a hint", async (args, code, expected) => {
    await using home = await temporaryFolder();
    const result = await runCliShared(args, { home: home.path });
    expect(result.code).toBe(code);
    expect(result.stdout).toBe("");
    expect(result.stderr).toMatch(expected);
    expect(result.stderr.split("\n").length).toBeLessThan(6);
  });

  it("prints config path and version for programs", async () => {
    await using home = await temporaryFolder();
    const path = home.join("config.json");
    expect((await runCli(["config", "path", "--json"], { home: home.path })).json()).toEqual({ path, exists: false });
  });
});

describe("holdfast sessions", () => {
  it("shows the title and the last message of each, and the same as `sessions list`", async () => {
    await using home = await createCliHome();
    const { stdout } = await runCli(["sessions"], { home: home.path });
    expect(stdout).toMatch(/^SESSION +AGE +TOKENS +TITLE +LAST MESSAGE\n/);
    expect(stdout).toMatch(/ work +\[echo\] message 1 of this window: again\n$/);
    expect((await runCli(["sessions", "list"], { home: home.path })).stdout).toBe(stdout);
  });

  it("uses the first message as title, on one line, without secrets", async () => {
    await using home = await createCliHome(["use the api key sk-ant-api03-abcdefghijklmnopqrstuvwx please"]);
    const { stdout } = await runCliShared(["sessions"], { home: home.path });
    expect(stdout).toContain("use the api key");
    expect(stdout).not.toContain("abcdefghijklmnopqrstuvwx");
    expect(stdout.trim().split("\n")).toHaveLength(2);
  });

  it("lists a session whose transcript cannot be read", async () => {
    await using home = await createCliHome();
    const { path } = (await runCliShared(["history", "work", "--json"], { home: home.path })).json() as {
      path: string;
    };
    await writeFile(path, "");
    const { code, stdout } = await runCliShared(["sessions"], { home: home.path });
    expect({ code, hasRow: / work/.test(stdout) }).toEqual({ code: 0, hasRow: true });
  });
});

describe("holdfast ps", () => {
  it("shows nothing, then the gateway, then turns of this and of other processes", async () => {
    await using home = await temporaryFolder();
    const env = { CLAUDE_CONFIG_DIR: home.join("claude") };
    const ps = async (...args: string[]) => await runCliShared(["ps", ...args], { home: home.path, env });
    const nothing = await ps();
    expect(nothing).toMatchObject({ code: 0, stdout: "" });
    expect(nothing.stderr).toContain("Nothing is running");

    await using gateway = await startCliGateway(home.path);
    const { url, pid } = gateway.announced;
    expect((await ps()).stdout).toMatch(new RegExp(`^KIND +PID +AGE +WHAT\ngateway +${pid} +just now +${url}\n$`));
    expect((await ps("--json")).json()).toEqual({
      schema: 1,
      gateway: { url, pid, version: expect.any(String) as string, startedAt: expect.any(Number) as number },
      turns: [],
      claudeCode: [],
      problems: [],
    });

    const place = { cwd: home.path, env: { ...env, HOLDFAST_HOME: home.path } };
    for (const options of [["--local"], []]) {
      using asking = startProgram(["agent", "-m", "hang", ...options], place);
      await expect
        .poll(async () => (await ps("--json")).json(), { timeout: 15_000 })
        .toMatchObject({ turns: [{ agentId: "main", sessionKey: "agent:main:main" }] });
      asking.child.kill("SIGINT");
      await asking.ended;
      await expect.poll(async () => (await ps("--json")).json(), { timeout: 15_000 }).toMatchObject({ turns: [] });
    }
  });
});

describe("holdfast gateway start, restart and logs", () => {
  it("follows the log until interrupted, also after rotation", async () => {
    await using home = await temporaryFolder();
    const log = home.join("gateway.log");
    await writeFile(log, Array.from({ length: 20_000 }, (_, number) => `line ${number}\n`).join(""));
    using following = startProgram(["gateway", "logs", "-f", "-n", "2"], {
      cwd: home.path,
      env: { HOLDFAST_HOME: home.path },
    });
    await following.shows("line 19998\nline 19999\n");
    await appendFile(log, "more\nand half");
    await following.shows("more\n");
    await appendFile(log, " a line\n");
    await following.shows("and half a line\n");
    await rename(log, `${log}.1`);
    await writeFile(log, "a new log\n");
    await following.shows("a new log\n");
    following.child.kill("SIGINT");
    expect(await following.ended).toBe(0);
    expect(following.output()).not.toContain("line 19997");
  });

  it("starts once, restarts with the same options, and shows the log", async () => {
    await using home = await temporaryFolder();
    await writeFile(home.join("config.json"), '{"gateway": {"port": 0}}');
    const run = async (...args: string[]) => await runCliShared(["gateway", ...args], { home: home.path });
    await using gateway = await startCliGateway(home.path, ["--no-channels"]);
    const { url, pid } = gateway.announced;
    expect((await run("start", "--json")).json()).toEqual({ schema: 1, ok: true, url, pid, wasRunning: true });
    expect((await run("logs")).stderr).toContain("The log is empty");

    const restarted = (await run("restart", "--json")).json() as { pid: number };
    try {
      expect(restarted).toEqual({ schema: 1, ok: true, url, pid: expect.any(Number) as number, previousPid: pid });
      expect(await gateway.ended).toBe(0);
      const note = JSON.parse(await readFile(home.join("gateway.json"), "utf8")) as { args: string[] };
      expect(note.args).toEqual(["--port", new URL(url).port, "--no-channels"]);
      expect((await run("logs")).stdout).toContain("Channels are off.");
      const { lines } = (await run("logs", "-n", "1", "--json")).json() as { lines: string[] };
      expect(lines).toHaveLength(1);
    } finally {
      await run("stop");
    }
    const again = await run("restart", "--json");
    expect(again.json()).toMatchObject({ ok: true, previousPid: null });
    await run("stop");
  });
});
