/**
 * The output of `status`, `agent`, `agents` and `channels` without a gateway: JSON shapes, sentences, exit codes.
 * docs/cli.md describes them.
 */
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createPairingStore } from "../../src/channels/access.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createCliHome, NUMBER, TEXT } from "../support/cli-home.ts";
import { runCliShared } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { GIVEN_UP_NOTE } from "../../src/store/queues.ts";
import { createDocumentFiles } from "../../src/store/document-files.ts";

describe("without a gateway", () => {
  it("agent names the option for a message", async () => {
    await using home = await createCliHome([]);
    const { code, stderr } = await runCliShared(["agent", "hello"], { home: home.path });
    expect(code).toBe(2);
    expect(stderr).toContain('Write a message with -m: holdfast agent -m "hello".');
  });

  it("agent shows the tools of a verbose session on stderr", async () => {
    await using home = await createCliHome([]);
    const ask = async (message: string) => await runCliShared(["agent", "--local", "-m", message], { home: home.path });
    expect(await ask("tool:list_files .")).toMatchObject({ code: 0, stderr: "" });
    await ask("/verbose on");
    expect(await ask("tool:list_files .")).toMatchObject({ code: 0, stderr: "→ list_files .\n" });
  });

  it("status shows what the stores hold", async () => {
    await using home = await createCliHome(["hello"]);
    const { code, json } = await runCliShared(["status", "--json", "--usage"], { home: home.path });
    expect(code).toBe(0);
    const session = {
      agentId: "main",
      key: expect.stringMatching(/^agent:main:cli:dm:/) as string,
      kind: "direct",
      sessionId: TEXT,
      updatedAt: NUMBER,
      age: NUMBER,
      flags: expect.arrayContaining([expect.stringMatching(/^id:/)]) as string[],
    };
    const path = home.join("agents/main/agent.sqlite");
    expect(json()).toEqual({
      schema: 1,
      version: TEXT,
      channelSummary: [],
      sessions: {
        paths: [path],
        count: 1,
        defaults: {},
        recent: [expect.objectContaining(session)],
        byAgent: [{ agentId: "main", path, count: 1, recent: [expect.objectContaining(session)] }],
      },
      os: { platform: TEXT, arch: TEXT, release: TEXT, label: TEXT },
      gateway: {
        mode: "local",
        url: null,
        urlSource: "local loopback",
        misconfigured: false,
        reachable: false,
        connectLatencyMs: null,
        self: null,
        turns: null,
        error: null,
      },
      agents: {
        defaultId: "main",
        agents: [
          {
            id: "main",
            engine: "echo",
            workspaceDir: home.join("agents/main/workspace"),
            bootstrapPending: false,
            sessionsPath: path,
            sessionsCount: 1,
            messagesGivenUp: 0,
            lastUpdatedAt: NUMBER,
            lastActiveAgeMs: NUMBER,
          },
        ],
        totalSessions: 1,
        messagesGivenUp: 0,
        bootstrapPendingCount: 0,
      },
      usage: [expect.objectContaining({ agentId: "main", answers: 1, input: NUMBER, output: NUMBER, costUsd: 0 })],
    });
  });

  it("status and doctor count messages that were given up", async () => {
    await using home = await createCliHome(["hello"]);
    const { config } = await loadConfig({ env: {}, cwd: home.path, home: home.path });
    const { store } = await openAgent({ home: home.path, config });
    const address = { channel: "cli", accountId: "default", chatId: "1", messageId: "poison" };
    const { item } = await store.inbox.admit({ key: "main", address, payload: {}, receivedAt: Date.now() });
    const attempt = await store.leases.acquire("main", { ttlMs: 1000 });
    if (!attempt.acquired) throw new Error("The lease is held");
    await store.inbox.claim(attempt.lease);
    await store.inbox.finish(attempt.lease, [item.id], [], { note: GIVEN_UP_NOTE, release: true });
    await store.close();
    const json = (await runCliShared(["status", "--json"], { home: home.path })).json();
    expect(json).toMatchObject({ agents: { agents: [{ messagesGivenUp: 1 }], messagesGivenUp: 1 } });
    const text = await runCliShared(["status"], { home: home.path });
    expect(text).toMatchObject({ code: 0 });
    expect(text.stdout).toContain("! 1 message was given up; `holdfast doctor` shows where.");
    const doctor = await runCliShared(["doctor"], { home: home.path });
    expect(doctor.code).toBe(5);
    expect(doctor.stdout).toContain("1 message was given up");
  });

  it("status reports an unreadable store and shows the rest", async () => {
    await using home = await createCliHome(["hello"]);
    await runCliShared(["agents", "add", "other"], { home: home.path });
    await writeFile(home.join("agents/main/agent.sqlite"), "this is no database, whatever its name says".repeat(50));
    const { code, json } = await runCliShared(["status", "--json"], { home: home.path });
    expect(code).toBe(5);
    expect(json()).toMatchObject({
      agents: {
        agents: [
          { id: "main", problem: TEXT },
          { id: "other", sessionsCount: 0 },
        ],
      },
    });
  });

  it("health, gateway status and gateway stop report that no gateway runs", async () => {
    await using home = await temporaryFolder();
    const health = await runCliShared(["health"], { home: home.path });
    expect(health).toMatchObject({ code: 1, stdout: "" });
    expect(health.stderr).toContain("Start one with `holdfast gateway`.");
    const status = await runCliShared(["gateway", "status", "--json"], { home: home.path });
    expect(status.code).toBe(3);
    expect(status.json()).toEqual({ schema: 1, running: false });
    for (const command of ["stop", "link"]) {
      const { code, stdout, stderr } = await runCliShared(["gateway", command, "--json"], { home: home.path });
      expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "gateway-not-running" } });
    }
  });

  it("agent --local answers in this process", async () => {
    await using home = await temporaryFolder();
    const { code, json } = await runCliShared(["agent", "-m", "hello", "--local", "--json"], { home: home.path });
    expect(code).toBe(0);
    expect(json()).toEqual({
      schema: 1,
      runId: TEXT,
      status: "ok",
      summary: "completed",
      agentId: "main",
      sessionKey: "agent:main:main",
      result: {
        payloads: [{ text: expect.stringContaining("hello") as string, mediaUrl: null }],
        meta: {
          durationMs: NUMBER,
          aborted: false,
          outcome: "answered",
          agentMeta: expect.objectContaining({ sessionId: TEXT }) as object,
        },
      },
    });
    const again = await runCliShared(["agent", "-m", "again", "--local", "--session-id", "main"], { home: home.path });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/\[echo\].*again\n$/s) as string });
  });

  it("agent --local says what needs the gateway", async () => {
    await using home = await temporaryFolder();
    const ask = async (message: string) => await runCliShared(["agent", "-m", message, "--local"], { home: home.path });
    for (const mode of ["subagent", "claude-code"]) {
      const { stdout } = await ask(`tool:sessions_spawn {"task":"Fix it","mode":"${mode}"}`);
      expect(stdout).toContain("Work in the background needs the gateway");
    }
    expect(await ask("/cc run Fix it")).toMatchObject({
      code: 0,
      stdout: "Tasks for Claude Code need the gateway. Leave out --local.\n",
      stderr: "",
    });
  });
});

describe("agents", () => {
  it("are added with a workspace and listed in OpenClaw's shape", async () => {
    await using home = await temporaryFolder();
    await writeFile(
      home.join("config.json"),
      '{\n  // mine\n  channels: { telegram: { work: { agent: "helper" } } },\n}\n',
    );
    const added = await runCliShared(["agents", "add", "helper", "--name", "Helper", "--json"], { home: home.path });
    const helper = {
      id: "helper",
      name: "Helper",
      workspace: home.join("agents/helper/workspace"),
      agentDir: home.join("agents/helper"),
      engine: "echo",
      bindings: 1,
      isDefault: false,
      routes: ["telegram (work)"],
    };
    expect(added.json()).toEqual({ schema: 1, ok: true, path: home.join("config.json"), agent: helper });
    expect(await readFile(home.join("config.json"), "utf8")).toContain("// mine");
    expect(await readFile(home.join("agents/helper/workspace/AGENTS.md"), "utf8")).not.toBe("");
    const listed = await runCliShared(["agents", "list", "--json"], { home: home.path });
    expect(listed.json()).toEqual([
      helper,
      {
        id: "main",
        workspace: home.join("agents/main/workspace"),
        agentDir: home.join("agents/main"),
        engine: "echo",
        bindings: 0,
        isDefault: true,
        routes: ["default (no explicit rules)"],
      },
    ]);
    const again = await runCliShared(["agents", "add", "helper"], { home: home.path });
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Agent "helper" already exists') as string,
    });
    expect((await runCliShared(["agents", "add", "../x"], { home: home.path })).code).toBe(2);
    const wrong = await runCliShared(["agents", "add", "third", "--model", "nonsense"], { home: home.path });
    expect(wrong.code).toBe(2);
    const table = (await runCliShared(["agents", "list"], { home: home.path })).stdout;
    expect(table).toMatch(/^main \* .* all unassigned /m);
    expect(table).not.toContain("third");
  });
});

describe("pairing", () => {
  it("lists, approves and revokes people", async () => {
    await using home = await temporaryFolder();
    await writeFile(home.join("config.json"), "{ channels: { telegram: { default: {}, work: {} } } }");
    const store = createPairingStore({
      documents: createDocumentFiles(home.join("channels")),
      channel: "telegram",
      accountId: "work",
      clock: systemClock,
    });
    const offer = await store.offer({ id: "42", username: "ann", name: "Ann\u001b[31m" });
    const code = offer.kind === "told" ? offer.code : "";
    const run = async (...args: string[]) => await runCliShared(["channels", ...args], { home: home.path });

    expect((await run("pending", "--json")).json()).toEqual({
      schema: 1,
      count: 1,
      requests: [expect.objectContaining({ channel: "telegram", accountId: "work", id: "42", username: "ann", code })],
    });
    const shown = (await run("pending")).stdout;
    expect(shown).toContain(String.raw`Ann\u001b[31m @ann (42)`);
    expect((await run("approve", "telegram", "WRONG234")).code).toBe(3);
    const approved = await run("approve", "telegram", code.toLowerCase(), "--json");
    expect(approved.json()).toMatchObject({
      schema: 1,
      ok: true,
      channel: "telegram",
      accountId: "work",
      sender: { id: "42" },
    });
    expect(await store.approved()).toMatchObject([{ id: "42" }]);
    expect((await run("pending", "--json")).json()).toMatchObject({ count: 0 });
    expect((await run("revoke", "telegram", "42", "--json")).json()).toEqual({
      schema: 1,
      ok: true,
      channel: "telegram",
      accountId: "work",
      id: "42",
    });
    expect(await store.approved()).toEqual([]);
    expect((await run("revoke", "telegram", "42")).code).toBe(3);
    expect(await run("approve", "signal", "X")).toMatchObject({ code: 2 });
    expect(await run("approve", "telegram", code, "--account", "ghost")).toMatchObject({ code: 3 });
  });

  it("refuses a login for channels with a token", async () => {
    await using home = await temporaryFolder();
    const { code, stderr } = await runCliShared(["channels", "login", "--channel", "telegram"], { home: home.path });
    expect(code).toBe(2);
    expect(stderr).toContain("TELEGRAM_BOT_TOKEN");
    const none = await runCliShared(["channels", "login"], { home: home.path });
    expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("channels.whatsapp.default") as string });
  });
});

describe("wrong usage", () => {
  it.each([
    [["agent"], /No message given[\s\S]*-m/],
    [["agent", "-m", "x", "-t", "a", "--session-id", "b"], /--to and --session-id/],
    [["agent", "-m", "x", "--thinking", "hard"], /--thinking must be one of off, minimal/],
    [["agent", "-m", "x", "--timeout", "soon"], /--timeout must be a number above 0/],
    [["gateway", "--port", "70000"], /--port must be a number from 0 to 65535/],
    [["message", "send", "-m", "x"], /--channel is missing/],
    [["message", "send", "--channel", "telegram", "-t", "1"], /--message is missing/],
    [["completion", "tcsh"], /bash, zsh, fish/],
    [["channels", "login", "--channel", "fax"], /--channel must be one of telegram, discord, whatsapp/],
  ])("%j", async (args, message) => {
    await using home = await temporaryFolder();
    const { code, stderr, stdout } = await runCliShared(args, { home: home.path });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});
