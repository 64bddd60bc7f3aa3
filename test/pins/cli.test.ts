/** What others see of the command line: JSON shapes, sentences, exit codes. docs/cli.md describes it. */
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { openPendingDatabase } from "../../src/turn/body/pending-database.ts";
import { createSystemEvents } from "../../src/turn/body/system-events.ts";
import { runCli } from "../support/run-cli.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";

const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/) as string;
const TIME = expect.any(Number) as number;

/** For tests that only look; who changes something has a conversation of its own. */
let shared: TemporaryFolder;
beforeAll(async () => {
  shared = await withConversation();
});
afterAll(async () => await shared[Symbol.asyncDispose]());

describe("holdfast sessions", () => {
  it("prints OpenClaw's shape with --json", async () => {
    const { code, json } = await runCli(["sessions", "--json", "--active", "60"], { home: shared.path });
    expect(code).toBe(0);
    expect(json()).toEqual({
      path: shared.join("agents/main/agent.sqlite"),
      count: 1,
      total: 1,
      activeMinutes: 60,
      sessions: [
        {
          key: expect.stringMatching(/^agent:main:cli:dm:/) as string,
          kind: "direct",
          updatedAt: TIME,
          ageMs: TIME,
          sessionId: ID,
          systemSent: false,
          abortedLastRun: false,
          inputTokens: TIME,
          outputTokens: TIME,
          totalTokens: TIME,
          model: "echo",
          channel: "web",
          label: "work",
        },
      ],
    });
  });

  it("lists the sessions of every agent with --all-agents", async () => {
    await using home = await withConversation();
    await runCli(["agents", "add", "other"], { home: home.path });
    await runCli(["chat", "--local", "--agent", "other"], { home: home.path, input: "hi\n" });
    await mkdir(home.join("agents/silent"));
    const { json } = await runCli(["sessions", "--all-agents", "--json"], { home: home.path });
    expect(json()).toMatchObject({
      path: "(multiple)",
      count: 2,
      sessions: [{ agentId: "other" }, { agentId: "main" }],
    });
  });

  it("let the agent save its memory before a reset, and forget what waits for a deleted session", async () => {
    await using home = await withConversation();
    const { json } = await runCli(["sessions", "--json"], { home: home.path });
    const { key = "", sessionId = "" } =
      (json() as { sessions: { key: string; sessionId: string }[] }).sessions[0] ?? {};
    expect((await runCli(["sessions", "reset", key], { home: home.path })).code).toBe(0);
    const { stdout } = await runCli(["history", sessionId, "--all"], { home: home.path });
    expect(stdout).toMatch(/ memory +This conversation is about to end/);

    const options = { path: home.join("agents/main/pending.sqlite"), clock: systemClock, logger: silentLogger };
    const database = await openPendingDatabase(options);
    const events = createSystemEvents({ database, now: () => Date.now() });
    await events.enqueueSystemEvent(key, "rain");
    await events.enqueueSystemEvent("agent:main:main", "snow");
    expect((await runCli(["sessions", "delete", key, "--yes"], { home: home.path })).code).toBe(0);
    const claim = { id: "t", epoch: 1 };
    expect((await events.drainSystemEvents(key, claim)).events).toEqual([]);
    expect((await events.drainSystemEvents("agent:main:main", claim)).events).toHaveLength(1);
    database.close();
  });

  it("reads an OpenClaw file in place with --store", async () => {
    await using home = await temporaryFolder();
    const store = new URL("../fixtures/openclaw/v2026.1.30/sessions.json", import.meta.url);
    await writeFile(home.join("sessions.json"), await readFile(store));
    const { json } = await runCli(["sessions", "--json", "--store", "sessions.json"], { home: home.path });
    expect(json()).toMatchObject({
      count: 1,
      sessions: [{ key: "agent:main:main", sessionId: "b083ce80-7643-4db8-b061-b135059208d6", totalTokens: 1208 }],
    });
  });

  it("shows, patches, resets, compacts, archives, restores and deletes, with JSON each", async () => {
    await using home = await withConversation();
    const run = async (...args: string[]) => {
      const result = await runCli(["sessions", ...args, "--json"], { home: home.path });
      expect(result).toMatchObject({ code: 0 });
      return result.json();
    };
    expect(await run("show", "work")).toMatchObject({
      agentId: "main",
      entry: { label: "work" },
      windows: [
        { sessionId: ID, reason: "initial", openedAt: TIME, closedAt: TIME },
        { sessionId: ID, reason: "command", openedAt: TIME },
      ],
    });
    expect(await run("patch", "work", "thinkingLevel=high", "--unset", "label")).toMatchObject({
      ok: true,
      entry: { thinkingLevel: "high" },
    });
    const { sessions } = (await run()) as { sessions: { key: string; sessionId: string }[] };
    const key = sessions[0]?.key ?? "";
    expect(await run("reset", key)).toMatchObject({ ok: true, key, previousSessionId: sessions[0]?.sessionId });
    expect(await run("compact", key)).toMatchObject({ ok: true, key, compacted: false });
    expect(await run("restore", sessions[0]?.sessionId ?? "")).toMatchObject({
      ok: true,
      entry: { sessionId: sessions[0]?.sessionId },
    });
    const archived = (await run("archive", key)) as { archive: string };
    expect(await run("restore")).toMatchObject({
      count: 1,
      archives: [{ id: archived.archive, key, reason: "archived" }],
    });
    await writeFile(home.join("agents/main/sessions/archive/damaged.json"), "{");
    const partly = await runCli(["sessions", "restore", "--json"], { home: home.path });
    expect(partly).toMatchObject({ code: 5, stderr: expect.stringContaining("damaged.json cannot be read") as string });
    expect(partly.json()).toMatchObject({ count: 1 });
    expect(await run("restore", archived.archive)).toMatchObject({ ok: true, key });
    expect(await run("delete", key, "--yes")).toMatchObject({ ok: true, key, deleted: true });
    expect(await run()).toMatchObject({ count: 0, sessions: [] });
  });

  it("exports a conversation without its secrets", async () => {
    await using home = await temporaryFolder();
    const secret = `sk-ant-${"a1".repeat(20)}`;
    await runCli(["chat", "--local"], { home: home.path, input: `my key is ${secret}\n/label x\n` });
    for (const format of ["md", "jsonl", "json"]) {
      const { code, stdout } = await runCli(["sessions", "export", "x", "--format", format], { home: home.path });
      expect(code).toBe(0);
      expect(stdout).toContain("my key is sk-ant-[redacted]");
      expect(stdout).not.toContain(secret);
    }
    const asJson = await runCli(["sessions", "export", "x", "--json"], { home: home.path });
    expect(asJson.json()).toMatchObject({ entries: [{ type: "custom" }, { type: "message" }, { type: "message" }] });
    await runCli(["sessions", "export", "x", "--json", "--output", "x.json"], { home: home.path });
    expect(await readFile(home.join("x.json"), "utf8")).toBe(asJson.stdout);
    const plain = await runCli(["sessions", "export", "x", "--no-redact"], { home: home.path });
    expect(plain.stdout).toContain(secret);
  });
});

describe("holdfast in a home where nothing was said yet", () => {
  it("lists nothing, makes nothing, and names what to do", async () => {
    await using folder = await temporaryFolder();
    const home = folder.join("new");
    const { code, json } = await runCli(["sessions", "--json"], { home, cwd: folder.path });
    expect(code).toBe(0);
    expect(json()).toMatchObject({ count: 0, total: 0, sessions: [] });
    const { stderr } = await runCli(["sessions"], { home, cwd: folder.path });
    expect(stderr).toContain("Start one with `holdfast chat`");
    expect((await runCli(["history"], { home, cwd: folder.path })).code).toBe(3);
    expect((await runCli(["doctor"], { home, cwd: folder.path })).code).toBe(0);
    expect(existsSync(home)).toBe(false);
  });

  it("shows the commands of a group", async () => {
    await using folder = await temporaryFolder();
    for (const args of [["config"], ["config", "--help"], ["help", "config"]]) {
      const { code, stdout } = await runCli(args, { home: folder.path });
      expect(code).toBe(0);
      expect(stdout).toContain("config set <key> <value>");
    }
  });
});

describe("holdfast history", () => {
  it("prints entries as JSON and as text", async () => {
    const { json } = await runCli(["history", "work", "--json"], { home: shared.path });
    expect(json()).toMatchObject({
      sessionId: ID,
      complete: true,
      problemCount: 0,
      entries: expect.arrayContaining([
        expect.objectContaining({ type: "message", message: expect.objectContaining({ role: "user" }) as object }),
      ]) as object[],
    });
    const { stdout } = await runCli(["history"], { home: shared.path });
    expect(stdout).toContain("[echo] message 1 of this window: again");
  });

  it("shows an earlier window by its id", async () => {
    const { json } = await runCli(["sessions", "show", "work", "--json"], { home: shared.path });
    const [first] = (json() as { windows: { sessionId: string }[] }).windows;
    const { stdout } = await runCli(["history", first?.sessionId.slice(0, 8) ?? ""], { home: shared.path });
    expect(stdout).toContain("earlier window");
    expect(stdout).toContain("[echo] message 1 of this window: hello");
  });

  it("makes escape sequences of a message visible instead of obeying them", async () => {
    await using home = await temporaryFolder();
    await runCli(["chat", "--local"], { home: home.path, input: "red \u001b[31m alert \u0007\n" });
    const { stdout } = await runCli(["history"], { home: home.path });
    expect(stdout).toContain(String.raw`red \u001b[31m alert`);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("holdfast doctor", () => {
  it("tells what a gateway left and what waits, in words and as JSON", async () => {
    await using home = await withConversation();
    await writeFile(home.join("gateway.json"), "{}", { mode: 0o600 });
    await writeFile(home.join("gateway.token"), "short", { mode: 0o600 });
    const { code, json } = await runCli(["doctor", "--json"], { home: home.path });
    expect(code).toBe(5);
    expect(json()).toEqual({
      ok: false,
      fixed: 0,
      findings: [
        {
          check: "gateway",
          severity: "error",
          message: expect.stringContaining("holds no token. Delete the file") as string,
          path: home.join("gateway.token"),
        },
        {
          check: "gateway",
          severity: "warning",
          message: "A gateway that has ended without saying so left a note of where it listened",
          path: home.join("gateway.json"),
          fix: "remove the note; the next gateway writes its own",
        },
      ],
      checked: { agents: 1, sessions: 1, transcripts: 2 },
    });
    await rm(home.join("gateway.token"));
    const { stdout } = await runCli(["doctor", "--fix"], { home: home.path });
    expect(stdout).toContain("1 problem mended. No problems left (1 agent, 1 session, 2 transcripts)");
  });
});

describe("holdfast chat", () => {
  it("answers line by line without a terminal, and ends with its input", async () => {
    await using home = await temporaryFolder();
    const { code, stdout, stderr } = await runCli(["chat", "--local"], {
      home: home.path,
      input: "one\n\ntwo\n/new\nthree\n",
    });
    expect(code).toBe(0);
    expect(stdout).toBe(
      "[echo] message 1 of this window: one\n[echo] message 2 of this window: two\nA new conversation has begun.\n[echo] message 1 of this window: three\n",
    );
    expect(stderr).toContain("No model is configured: the echo engine answers.");
    expect(stderr).toMatch(/Window [0-9a-f]{8}; the previous one \([0-9a-f]{8}\) stays/);
  });

  it("begins the session whose key is named, and knows it again", async () => {
    await using home = await temporaryFolder();
    for (const [index, session] of ["agent:main:main", "main", "Agent:Main:Main"].entries()) {
      const { code, stdout } = await runCli(["chat", "--local", "--session", session], {
        home: home.path,
        input: "hi\n",
      });
      expect({ code, stdout }).toEqual({ code: 0, stdout: `[echo] message ${index + 1} of this window: hi\n` });
    }
    const { sessions } = (await runCli(["sessions", "--json"], { home: home.path })).json() as { sessions: object[] };
    expect(sessions).toMatchObject([{ key: "agent:main:main" }]);
    for (const session of ["maim", "release: notes", "0a1b2c3d"]) {
      const { code, stderr } = await runCli(["chat", "--local", "--session", session], { home: home.path });
      expect({ session, code }).toEqual({ session, code: 3 });
      expect(stderr).toContain(`No session found: ${session}`);
    }
  });

  it("says why there is no answer to be seen when the send policy keeps it back", async () => {
    await using home = await temporaryFolder();
    const chat = await runCli(["chat", "--local"], {
      home: home.path,
      input: "one\n/send off\ntwo\n/send on\nthree\n",
    });
    expect(chat.stdout).toMatch(/: one\n[^\n]*\n[^\n]*\n\[echo\][^\n]*: three\n$/);
    expect(chat.stderr.match(/The answer is not delivered: the session's send policy keeps it back/g)).toHaveLength(1);
    await runCli(["agent", "-m", "/send off", "--local"], { home: home.path });
    const agent = await runCli(["agent", "-m", "hello", "--local"], { home: home.path });
    expect(agent).toMatchObject({ code: 0, stdout: "" });
    expect(agent.stderr).toContain("The answer is not delivered");
  });

  it("goes back to an earlier window", async () => {
    await using home = await temporaryFolder();
    const { stdout } = await runCli(["chat", "--local"], {
      home: home.path,
      input: "one\n/new two\n/back 1\nthree\n/windows\n",
    });
    expect(stdout).toContain("Back at window");
    expect(stdout).toContain("[echo] message 2 of this window: three");
  });
});

// One of them waits until a store gives up waiting for a lock; the others go on meanwhile.
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
    ["a bad number", ["sessions", "--limit", "none"], 2, /--limit takes a whole number above 0, not "none"/],
    ["a missing argument", ["sessions", "show"], 2, /missing required argument <session>/],
    [
      "a session that is not there",
      ["sessions", "show", "agent:main:nobody"],
      3,
      /No session found: agent:main:nobody/,
    ],
    ["another agent's session", ["sessions", "show", "agent:other:main"], 1, /agent:other:main/],
    ["a store that is not there", ["sessions", "--store", "none.json"], 3, /There is no store .*none\.json/],
    ["a name that is no agent's", ["sessions", "--agent", "../../etc"], 2, /"\.\.\/\.\.\/etc" is no name of an agent/],
    ["an agent that is not there", ["sessions", "--agent", "ghost"], 3, /Agent "ghost" has no sessions yet/],
    ["a destructive command without --yes", ["sessions", "delete", "work"], 2, /needs a confirmation[\s\S]*--yes/],
    ["a field that cannot be set", ["sessions", "patch", "work", "lable=x"], 2, /Did you mean "label"/],
    ["a value that is not allowed", ["sessions", "patch", "work", "sendPolicy=maybe"], 2, /sendPolicy/],
    ["an unknown format", ["sessions", "export", "work", "--format", "pdf"], 2, /md, jsonl, json/],
    ["an unknown archive", ["sessions", "restore", "nothing"], 3, /No archived session fits "nothing"/],
    ["an unknown config key", ["config", "set", "session.dmscope", "main"], 2, /did you mean "session\.dmScope"/i],
  ];

  it("and clear messages for what cannot be done, with nothing changed", async () => {
    const before = await runCli(["sessions", "show", "work", "--json"], { home: shared.path });
    for (const [title, args, code, message] of cases) {
      const result = await runCli(args, { home: shared.path });
      expect(result.stderr, title).toMatch(message);
      expect(result, title).toMatchObject({ code, stdout: "" });
    }
    const after = await runCli(["sessions", "show", "work", "--json"], { home: shared.path });
    expect(after.stdout).toBe(before.stdout);
  });

  it("names every candidate of an ambiguous prefix", async () => {
    await using home = await temporaryFolder();
    const entries = { "agent:main:a": entry("abcd1111"), "agent:main:b": entry("abcd2222") };
    await writeFile(home.join("sessions.json"), JSON.stringify(entries));
    const args = ["sessions", "show", "abcd", "--store", "sessions.json"];
    const { code, stderr } = await runCli(args, { home: home.path });
    expect(code).toBe(2);
    expect(stderr).toMatch(/"abcd" fits several sessions: abcd\d{4}-.*abcd\d{4}-/);
  });

  it("for a store of a newer version, which stays untouched", async () => {
    await using home = await withConversation();
    const database = new DatabaseSync(home.join("agents/main/agent.sqlite"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    const { code, stderr } = await runCli(["sessions", "--json"], { home: home.path });
    expect(code).toBe(1);
    expect(JSON.parse(stderr)).toMatchObject({ error: { kind: "unsupported", retryable: false } });
  });

  it("for a store that was lost, which is not one without sessions", async () => {
    await using home = await withConversation();
    await rm(home.join("agents/main/agent.sqlite"));
    for (const args of [["sessions"], ["sessions", "--all-agents"], ["history"], ["chat", "--local"]]) {
      const { code, stdout, stderr } = await runCli(args, { home: home.path });
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: "" });
      expect(stderr).toMatch(/agent\.sqlite is missing, but .*holdfast doctor --fix/s);
    }
    expect(existsSync(home.join("agents/main/agent.sqlite"))).toBe(false);

    const asJson = { home: home.path, env: { HOLDFAST_STORE: "json" } };
    await rm(home.join("agents/main/sessions/sessions.json"));
    const { code, stderr } = await runCli(["sessions"], asJson);
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
    expect(stderr).toContain("A part of this path is a file where a folder is needed.");
  });

  it("for a store that another process is writing", async () => {
    await mkdir(shared.join("locked"));
    await writeFile(shared.join("locked/sessions.json"), JSON.stringify({ "agent:main:a": entry("abcd1111") }));
    const holder = {
      pid: process.pid,
      startedAt: "unknown",
      host: (await import("node:os")).hostname(),
      nonce: "0".repeat(16),
    };
    await writeFile(shared.join("locked/sessions.json.lock"), JSON.stringify(holder));
    await chmod(shared.join("locked/sessions.json.lock"), 0o600);
    const args = ["sessions", "patch", "agent:main:a", "label=x", "--store", "locked/sessions.json"];
    const { code, stderr } = await runCli(args, { home: shared.path });
    expect(code).toBe(4);
    expect(stderr).toContain(`process ${process.pid}`);
  });

  it("0 when the reader of the output leaves early", async () => {
    const { spawnSync } = await import("node:child_process");
    const bin = new URL("../../bin/holdfast.js", import.meta.url).pathname;
    const script = `"${process.execPath}" "${bin}" sessions --json | head -c 1; echo " $\{PIPESTATUS[0]}"`;
    const { stdout } = spawnSync("bash", ["-c", script], { env: { ...process.env, HOLDFAST_HOME: shared.path } });
    expect(String(stdout)).toBe("{ 0\n");
  });
});

async function withConversation(): Promise<TemporaryFolder> {
  const home = await temporaryFolder();
  const { code, stderr } = await runCli(["chat", "--local"], {
    home: home.path,
    input: "hello\n/label work\n/new again\n",
  });
  if (code !== 0) throw new Error(stderr);
  return home;
}

function entry(start: string) {
  return { sessionId: `${start}-0000-4000-8000-000000000000`, updatedAt: 1_794_700_000_000 };
}
