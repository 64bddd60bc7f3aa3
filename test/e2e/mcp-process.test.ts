/** `holdfast mcp` as a process on a real pipe. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { connectMcp, type McpHome, callTool, createMcpHome } from "../support/mcp-home.ts";
import { testSessionId } from "../support/native-home.ts";
import { BIN, runCliShared } from "../support/cli.ts";
import { TOOL_NAMES } from "../../src/mcp/bridge-parts.ts";

const A = testSessionId("a");

describe("holdfast mcp", () => {
  it("serves every tool to the SDK's client, without a gateway", async () => {
    await using home = await createMcpHome();
    await home.chat("Mend the webhook, please");
    await home.memory("MEMORY.md", "The webhook signs with HMAC.");
    home.native.session({ id: "a", cwds: [home.repo.path], prompts: ["[openclaw:agent=main]\nMend the webhook"] });
    await using connection = await connectMcp({
      cwd: home.repo.path,
      env: { ...environment(home), CLAUDE_CODE_SESSION_ID: A },
    });
    const { client } = connection;
    expect(client.getServerVersion()).toMatchObject({ name: "holdfast" });
    expect((await client.listTools()).tools).toHaveLength(TOOL_NAMES.length);
    const call = async (name: string, args?: object) => await callTool(client, `openclaw_${name}`, args);
    const answers = await Promise.all([
      call("conversation_context"),
      call("memory_search", { query: "webhook" }),
      call("announce", { message: "Half done" }),
      call("session_info"),
      call("project_status"),
      call("session_list"),
      call("session_search", { query: "webhook" }),
      call("decide_session", { task: "Mend the webhook" }),
      call("handoff", { session_id: A }),
    ]);
    expect(answers).toMatchObject([
      { linked: true, messages: [{ text: "Mend the webhook, please" }, {}] },
      { results: [{ path: "MEMORY.md" }] },
      { status: "kept", channel: "telegram" },
      { agent: "main", repo: home.repo.path, sessionId: A, turns: 1 },
      { repo: "repo", branch: "main" },
      { sessions: [{ sessionId: A }], total: 1, activeCount: 0 },
      { sessions: expect.arrayContaining([expect.objectContaining({ sessionId: A })]) as unknown },
      { action: "fresh" },
      { found: true, sessionId: A },
    ]);
  });

  it("writes only the protocol to stdout, whatever it receives", async () => {
    await using home = await createMcpHome();
    await using server = start(home);
    server.send("this is no JSON");
    server.send({ jsonrpc: "2.0", id: 1, method: "no/such" });
    server.send({ jsonrpc: "2.0", id: 2, method: "ping" });
    const answers = [await server.next(), await server.next()];
    expect(answers).toMatchObject([
      { id: 1, error: { code: -32601 } },
      { id: 2, result: {} },
    ]);
  });

  it.each([["stdin ends"], ["SIGTERM"], ["SIGINT"]])("ends when %s, with announcements on disk", async (how) => {
    await using home = await createMcpHome();
    await using server = start(home);
    server.send({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    });
    await server.next();
    const call = { name: "openclaw_announce", arguments: { message: "still here" } };
    server.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params: call });
    expect(await server.next()).toMatchObject({ id: 2, result: { structuredContent: { status: "kept" } } });
    const ended = once(server.child, "exit");
    if (how === "stdin ends") server.child.stdin.end();
    else server.child.kill(how as NodeJS.Signals);
    expect(await ended).toEqual([0, null]);
    const show = async () => await runCliShared(["mcp", "--announcements"], { home: home.home });
    expect((await show()).stdout).toContain("still here");
    expect((await show()).stdout).toBe("");
  });

  it("prints no announcements if there are none", async () => {
    await using home = await createMcpHome();
    const { code, stdout, stderr } = await runCliShared(["mcp", "--announcements"], { home: home.home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("No new announcements");
  });

  it("refuses an impossible folder or agent", async () => {
    await using home = await createMcpHome();
    const run = async (...args: string[]) =>
      await runCliShared(["mcp", ...args], { home: home.home, cwd: home.repo.path });
    expect(await run("--repo", "nowhere")).toMatchObject({ code: 2, stdout: "" });
    expect(await run("--agent", "../x")).toMatchObject({ code: 2, stdout: "" });
  });

  it("prints a configuration that a client can start", async () => {
    await using home = await createMcpHome();
    const options = { home: home.home, cwd: home.native.root };
    const args = ["mcp", "--print-config", "--agent", "main", "--repo", "repo", "--session", "agent:main:main"];
    const { json, stderr } = await runCliShared(args, options);
    const { mcpServers } = json() as { mcpServers: { holdfast: { command: string; args: string[]; env: object } } };
    expect(mcpServers.holdfast).toEqual({
      type: "stdio",
      command: process.execPath,
      args: [BIN, "mcp", "--agent", "main", "--repo", home.repo.path, "--session", "agent:main:main"],
      env: { HOLDFAST_HOME: home.home },
      alwaysLoad: true,
    });
    expect(stderr).toContain("claude mcp add-json");
    await using connection = await connectMcp({
      cwd: home.repo.path,
      env: environment(home),
      args: mcpServers.holdfast.args.slice(1),
    });
    expect(await callTool(connection.client, "openclaw_session_info")).toMatchObject({ repo: home.repo.path });
  });
});

function environment({ home, native }: McpHome): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return {
    PATH,
    HOME,
    HOLDFAST_HOME: home,
    CLAUDE_CONFIG_DIR: native.claudeHome,
    OPENCLAW_STATE_DIR: native.openClawHome,
  };
}

interface RawServer extends AsyncDisposable {
  child: ChildProcessWithoutNullStreams;
  send(message: unknown): void;
  /** The next line of stdout, which must be JSON. */
  next(): Promise<unknown>;
}

function start(home: McpHome): RawServer {
  const child = spawn(process.execPath, [BIN, "mcp"], { cwd: home.repo.path, env: environment(home) });
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    send: (message) => void child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    next: async () => JSON.parse(String((await lines.next()).value)) as unknown,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}
