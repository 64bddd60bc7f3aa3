/** The output of the commands for a running gateway: JSON shapes, sentences, exit codes. docs/cli.md describes them. */
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { startCliGateway, runCliShared } from "../support/cli.ts";
import { BLOCKED, startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { NUMBER, TEXT } from "../support/cli-home.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const URL = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string;

describe("with a gateway", () => {
  it("prints the documented shapes", async () => {
    await using home = await temporaryFolder();
    await using gateway = await startCliGateway(home.path);
    expect(gateway.announced).toEqual({
      schema: 1,
      listening: true,
      url: URL,
      pid: gateway.process.pid,
      agents: [{ id: "main", engine: "echo" }],
    });
    const run = async (...args: string[]) => await runCliShared([...args, "--json"], { home: home.path });

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
    expect((await runCliShared(["gateway", "link"], { home: home.path })).stdout).toBe(`${link}\n`);
    // Other commands do not print the token.
    for (const args of [["gateway", "status"], ["status", "--all"], ["health"]]) {
      const { stdout, stderr } = await runCliShared(args, { home: home.path });
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

describe("a configuration that changed after the gateway started", () => {
  it("suggests a restart, and shows accounts that wait for it", async () => {
    await using home = await temporaryFolder();
    await using _gateway = await startCliGateway(home.path);
    const run = async (...args: string[]) => await runCliShared(args, { home: home.path });
    expect((await run("doctor", "--json")).json()).toMatchObject({ findings: [] });

    const set = await run("config", "set", "channels.telegram.work.allowFrom", '["@ada"]', "--json");
    expect(set.json()).toMatchObject({ ok: true });
    expect(set.stderr).toMatch(
      /^The gateway at http:\S+ still uses the configuration it was started with\. To apply the new one: holdfast gateway restart/,
    );
    expect((await run("agents", "add", "helper")).stderr).toContain("still uses the configuration it was started");
    expect((await run("config", "unset", "channels.discord")).stderr).toBe("");

    const waiting = {
      channel: "telegram",
      accountId: "work",
      agentId: "main",
      status: { state: "stopped", text: expect.stringContaining("configured after the gateway started") as string },
    };
    for (const args of [
      ["channels", "status"],
      ["gateway", "status"],
    ]) {
      const { channels } = (await run(...args, "--json")).json() as { channels: object[] };
      expect(channels).toMatchObject([{ channel: "web" }, waiting]);
    }
    expect((await run("status")).stdout).toMatch(/○ Telegram \(work\): configured after the gateway started/);
    const doctor = await run("doctor", "--json");
    expect(doctor).toMatchObject({ code: 0 });
    expect(doctor.json()).toMatchObject({
      findings: [{ check: "gateway", severity: "info", path: home.join("config.json") }],
    });
  });

  it("needs no restart without a gateway", async () => {
    await using home = await temporaryFolder();
    const { stderr } = await runCliShared(["config", "set", "gateway.port", "7500"], { home: home.path });
    expect(stderr).toBe("");
  });
});

describe("a channel that cannot run", () => {
  it("is reported once, by health and by status", async () => {
    await using home = await temporaryFolder();
    await writeFile(home.join("config.json"), JSON.stringify({ channels: { telegram: { work: {} } } }));
    await using gateway = await startCliGateway(home.path);
    await expect.poll(() => gateway.stderr(), { timeout: 10_000 }).toContain("There is no token");
    for (const args of [["health"], ["status", "--deep"]]) {
      const { code, stdout } = await runCliShared(args, { home: home.path });
      expect({ args, code, times: stdout.match(/There is no token/g)?.length }).toEqual({ args, code: 5, times: 1 });
    }
  });

  it("says that its token file does not exist, or that no channel is configured", async () => {
    await using home = await temporaryFolder();
    const account = { tokenFile: home.join("missing.token") };
    await writeFile(home.join("config.json"), JSON.stringify({ channels: { telegram: { default: account } } }));
    await using gateway = await startCliGateway(home.path);
    await expect.poll(() => gateway.stderr(), { timeout: 10_000 }).toContain("missing.token");
    expect(gateway.stderr()).toContain(`account "default" does not exist: ${account.tokenFile}`);
    const send = async (channel: string) => {
      const args = ["message", "send", "--channel", channel, "-t", "7", "-m", "hi"];
      return (await runCliShared(args, { home: home.path })).stderr;
    };
    expect(await send("discord")).toContain("Add one: holdfast config set channels.discord.default '{}'");
    expect(await send("telegran")).toContain("Did you mean telegram?");
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
    const run = async (...args: string[]) => await runCliShared([...args, "--json"], { home: home.path });

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
