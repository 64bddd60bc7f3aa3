/** What others see of the commands around the gateway: JSON shapes, sentences, exit codes. docs/cli.md describes them. */
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createPairingStore } from "../../src/channels/pairing-store.ts";
import { BLOCKED, startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { startCliGateway } from "../support/cli-gateway.ts";
import { runCli } from "../support/run-cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const TEXT = expect.any(String) as string;
const NUMBER = expect.any(Number) as number;
const URL = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string;

describe("without a gateway", () => {
  it("status shows what the stores hold", async () => {
    await using home = await temporaryFolder();
    await runCli(["chat", "--local"], { home: home.path, input: "hello\n" });
    const { code, json } = await runCli(["status", "--json", "--usage"], { home: home.path });
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
            lastUpdatedAt: NUMBER,
            lastActiveAgeMs: NUMBER,
          },
        ],
        totalSessions: 1,
        bootstrapPendingCount: 0,
      },
      usage: [expect.objectContaining({ agentId: "main", answers: 1, input: NUMBER, output: NUMBER, costUsd: 0 })],
    });
  });

  it("status says which store cannot be read, and shows the rest", async () => {
    await using home = await temporaryFolder();
    await runCli(["chat", "--local"], { home: home.path, input: "hello\n" });
    await runCli(["agents", "add", "other"], { home: home.path });
    await writeFile(home.join("agents/main/agent.sqlite"), "this is no database, whatever its name says".repeat(50));
    const { code, json } = await runCli(["status", "--json"], { home: home.path });
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

  it("health, gateway status and gateway stop say that none runs", async () => {
    await using home = await temporaryFolder();
    const health = await runCli(["health"], { home: home.path });
    expect(health).toMatchObject({ code: 1, stdout: "" });
    expect(health.stderr).toContain("Start one with `holdfast gateway`.");
    const status = await runCli(["gateway", "status", "--json"], { home: home.path });
    expect(status.code).toBe(3);
    expect(status.json()).toEqual({ schema: 1, running: false });
    for (const command of ["stop", "link"]) {
      const { code, stdout, stderr } = await runCli(["gateway", command, "--json"], { home: home.path });
      expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "gateway-not-running" } });
    }
  });

  it("agent --local answers in this process", async () => {
    await using home = await temporaryFolder();
    const { code, json } = await runCli(["agent", "-m", "hello", "--local", "--json"], { home: home.path });
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
    const again = await runCli(["agent", "-m", "again", "--local", "--session-id", "main"], { home: home.path });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/\[echo\].*again\n$/s) as string });
  });
});

describe("agents", () => {
  it("are added with a workspace and listed in OpenClaw's shape", async () => {
    await using home = await temporaryFolder();
    await writeFile(
      home.join("config.json"),
      '{\n  // mine\n  channels: { telegram: { work: { agent: "helper" } } },\n}\n',
    );
    const added = await runCli(["agents", "add", "helper", "--name", "Helper", "--json"], { home: home.path });
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
    const listed = await runCli(["agents", "list", "--json"], { home: home.path });
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
    const again = await runCli(["agents", "add", "helper"], { home: home.path });
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is an agent "helper" already') as string,
    });
    expect((await runCli(["agents", "add", "../x"], { home: home.path })).code).toBe(2);
    const wrong = await runCli(["agents", "add", "third", "--model", "nonsense"], { home: home.path });
    expect(wrong.code).toBe(2);
    expect((await runCli(["agents", "list"], { home: home.path })).stdout).not.toContain("third");
  });
});

describe("pairing", () => {
  it("shows who waits, lets them in and shuts them out again", async () => {
    await using home = await temporaryFolder();
    await writeFile(home.join("config.json"), "{ channels: { telegram: { default: {}, work: {} } } }");
    const store = createPairingStore({
      folder: home.join("channels"),
      channel: "telegram",
      accountId: "work",
      clock: systemClock,
    });
    const offer = await store.offer({ id: "42", username: "ann", name: "Ann\u001b[31m" });
    const code = offer.kind === "told" ? offer.code : "";
    const run = async (...args: string[]) => await runCli(["channels", ...args], { home: home.path });

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

  it("has no login where a token does it", async () => {
    await using home = await temporaryFolder();
    const { code, stderr } = await runCli(["channels", "login", "--channel", "telegram"], { home: home.path });
    expect(code).toBe(2);
    expect(stderr).toContain("TELEGRAM_BOT_TOKEN");
    const none = await runCli(["channels", "login"], { home: home.path });
    expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("channels.whatsapp.default") as string });
  });
});

describe("with a gateway", () => {
  it("gives the shapes that are documented", async () => {
    await using home = await temporaryFolder();
    await using gateway = await startCliGateway(home.path);
    expect(gateway.announced).toEqual({
      schema: 1,
      listening: true,
      url: URL,
      pid: gateway.process.pid,
      agents: [{ id: "main", engine: "echo" }],
    });
    const run = async (...args: string[]) => await runCli([...args, "--json"], { home: home.path });

    const answer = await run("agent", "-m", "hello", "-t", "+15550100", "--thinking", "low");
    expect(answer.code).toBe(0);
    expect(answer.json()).toMatchObject({
      status: "ok",
      result: { payloads: [{ text: expect.stringContaining("hello") as string }] },
    });

    const status = await run("gateway", "status");
    expect(status.json()).toEqual({
      schema: 1,
      running: true,
      url: URL,
      pid: gateway.process.pid,
      version: TEXT,
      startedAt: NUMBER,
      uptimeMs: NUMBER,
      memory: { rssBytes: NUMBER, heapUsedBytes: NUMBER },
      turns: expect.objectContaining({ running: [], queued: 0, draining: false }) as object,
      channels: expect.any(Array) as object[],
    });

    const token = (await readFile(home.join("gateway.token"), "utf8")).trim();
    const link = `${gateway.announced.url}/#token=${token}`;
    expect((await run("gateway", "link")).json()).toEqual({ schema: 1, url: URL, link });
    expect((await runCli(["gateway", "link"], { home: home.path })).stdout).toBe(`${link}\n`);
    // Whoever redirects the rest into a file has not asked for it.
    for (const args of [["gateway", "status"], ["status", "--all"], ["health"]]) {
      const { stdout, stderr } = await runCli(args, { home: home.path });
      expect(stdout + stderr).not.toContain(token);
    }
    expect(JSON.stringify(gateway.announced) + gateway.stderr()).not.toContain(token);

    const nowhere = await run("agent", "-m", "hello", "--deliver");
    expect(nowhere).toMatchObject({ code: 3, stdout: "" });
    expect(JSON.parse(nowhere.stderr)).toMatchObject({ error: { code: "nowhere-to-deliver" } });

    const health = await run("health");
    expect(health.code).toBe(0);
    expect(health.json()).toMatchObject({
      schema: 1,
      ok: true,
      ts: NUMBER,
      durationMs: NUMBER,
      channels: expect.any(Object) as object,
      channelOrder: expect.any(Array) as string[],
      channelLabels: expect.any(Object) as object,
      defaultAgentId: "main",
      agents: [
        { agentId: "main", isDefault: true, sessions: { path: TEXT, count: 1, recent: expect.any(Array) as object[] } },
      ],
      sessions: { path: TEXT, count: 1 },
      problems: [],
    });

    expect((await run("status", "--deep")).json()).toMatchObject({
      gateway: { url: URL, reachable: true, connectLatencyMs: NUMBER, self: { pid: gateway.process.pid }, error: null },
      health: { ok: true },
    });

    const second = await run("gateway", "--port", "0");
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stderr)).toMatchObject({ error: { code: "gateway-running" } });

    const unknown = await run("message", "send", "--channel", "telegram", "-t", "-100123", "-m", "hi");
    expect(unknown.code).not.toBe(0);
    expect(JSON.parse(unknown.stderr)).toMatchObject({
      error: { message: expect.stringContaining("telegram") as string },
    });

    expect((await run("gateway", "stop")).json()).toEqual({ schema: 1, ok: true, pid: gateway.process.pid });
    expect(await gateway.ended).toBe(0);
  });
});

describe("a configuration that was changed since the gateway was started", () => {
  it("is told when it is changed, and what waits for the next start is shown", async () => {
    await using home = await temporaryFolder();
    await using _gateway = await startCliGateway(home.path);
    const run = async (...args: string[]) => await runCli(args, { home: home.path });
    expect((await run("doctor", "--json")).json()).toMatchObject({ findings: [] });

    const set = await run("config", "set", "channels.telegram.work.allowFrom", '["@ada"]', "--json");
    expect(set.json()).toMatchObject({ ok: true });
    expect(set.stderr).toMatch(/^The gateway at http:\S+ runs with the configuration that it was started with\..*stop/);
    expect((await run("agents", "add", "helper")).stderr).toContain("runs with the configuration that it was started");
    expect((await run("config", "unset", "channels.discord")).stderr).toBe("");

    const waiting = {
      channel: "telegram",
      accountId: "work",
      agentId: "main",
      status: { state: "stopped", text: expect.stringContaining("not in the gateway that runs") as string },
    };
    for (const args of [
      ["channels", "status"],
      ["gateway", "status"],
    ]) {
      const { channels } = (await run(...args, "--json")).json() as { channels: object[] };
      expect(channels).toMatchObject([{ channel: "web" }, waiting]);
    }
    expect((await run("status")).stdout).toMatch(/○ Telegram \(work\): configured, but not in the gateway that runs/);
    const doctor = await run("doctor", "--json");
    expect(doctor).toMatchObject({ code: 0 });
    expect(doctor.json()).toMatchObject({
      findings: [{ check: "gateway", severity: "info", path: home.join("config.json") }],
    });
  });

  it("is nothing to speak of while none runs", async () => {
    await using home = await temporaryFolder();
    const { stderr } = await runCli(["config", "set", "gateway.port", "7500"], { home: home.path });
    expect(stderr).toBe("");
  });
});

describe("a channel that cannot run", () => {
  it("is told once, by health and by status", async () => {
    await using home = await temporaryFolder();
    await writeFile(home.join("config.json"), JSON.stringify({ channels: { telegram: { work: {} } } }));
    await using gateway = await startCliGateway(home.path);
    await expect.poll(() => gateway.stderr(), { timeout: 10_000 }).toContain("There is no token");
    for (const args of [["health"], ["status", "--deep"]]) {
      const { code, stdout } = await runCli(args, { home: home.path });
      expect({ args, code, times: stdout.match(/There is no token/g)?.length }).toEqual({ args, code: 5, times: 1 });
    }
  });
});

describe("with Telegram", () => {
  it("sends messages, shows the channel and delivers the answer of an agent", async () => {
    await using home = await temporaryFolder();
    await using telegram = await startFakeTelegram();
    await writeFile(home.join("token"), telegram.token);
    const account = { apiRoot: telegram.url, tokenFile: home.join("token"), allowFrom: ["*"] };
    await writeFile(home.join("config.json"), JSON.stringify({ channels: { telegram: { default: account } } }));
    await using gateway = await startCliGateway(home.path);
    await expect.poll(() => gateway.stderr(), { timeout: 10_000 }).toMatch(/^Telegram: /m);
    const run = async (...args: string[]) => await runCli([...args, "--json"], { home: home.path });

    await writeFile(home.join("note.txt"), "a file");
    const sent = await run("message", "send", "--channel", "telegram", "-t", "1001", "-m", "hi", "--media", "note.txt");
    expect(sent).toMatchObject({ code: 0, stderr: "" });
    expect(sent.json()).toMatchObject({
      schema: 1,
      action: "send",
      channel: "telegram",
      dryRun: false,
      handledBy: "gateway",
      messageId: expect.stringMatching(/^\d+$/) as string,
      payload: { ok: true, to: TEXT, sessionKey: TEXT, outboxIds: expect.any(Array) as number[], state: "delivered" },
    });
    expect(
      telegram.sent.some(({ files }) => Object.values(files).some(({ bytes }) => String(bytes) === "a file")),
    ).toBe(true);

    const answer = await run("agent", "-m", "say:for both", "-t", "1001", "--channel", "telegram", "--deliver");
    expect(answer.json()).toMatchObject({
      status: "ok",
      result: { payloads: [{ text: expect.stringContaining("for both") as string }] },
    });
    await telegram.waitFor(({ params }) => String(params["text"]).includes("for both"));

    expect((await run("channels", "status")).json()).toMatchObject({
      schema: 1,
      running: true,
      channels: expect.arrayContaining([
        { channel: "telegram", accountId: "default", agentId: "main", status: { state: "connected", text: TEXT } },
      ]) as object[],
    });
    telegram.fail("sendMessage", BLOCKED);
    const refused = await run("message", "send", "--channel", "telegram", "-t", "1001", "-m", "again");
    expect(refused.code).toBe(1);
    expect(refused.json()).toMatchObject({ payload: { state: "failed" } });
  });
});

describe("wrong usage", () => {
  it.each([
    [["agent"], /There is nothing to say[\s\S]*-m/],
    [["agent", "-m", "x", "-t", "a", "--session-id", "b"], /two sessions/],
    [["agent", "-m", "x", "--thinking", "hard"], /--thinking takes off, minimal/],
    [["agent", "-m", "x", "--timeout", "soon"], /--timeout takes a number above 0/],
    [["gateway", "--port", "70000"], /--port takes a number from 0 to 65535/],
    [["message", "send", "-m", "x"], /--channel is missing/],
    [["message", "send", "--channel", "telegram", "-t", "1"], /--message is missing/],
    [["completion", "tcsh"], /bash, zsh, fish/],
    [["channels", "login", "--channel", "fax"], /--channel takes telegram, discord, whatsapp/],
  ])("%j", async (args, message) => {
    await using home = await temporaryFolder();
    const { code, stderr, stdout } = await runCli(args, { home: home.path });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });
});
