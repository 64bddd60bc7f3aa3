/**
 * The MCP bridge over real files, with the SDK's own client at the other end:
 *
 *   await using home = await createMcpHome();
 *   const client = await home.connect();
 *   const sessions = await callTool(client, "openclaw_session_list");
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { nodeCrypto } from "../../src/base/builtin.ts";
import { type McpPartsOptions, openMcpParts } from "../../src/cli/commands/mcp.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { openHandoff } from "../../src/compose/handoff.ts";
import { openTurns } from "../../src/compose/turns.ts";
import type { McpConfig } from "../../src/config/claude-code.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { agentLayout } from "../../src/config/layout.ts";
import type { HandoffPlace } from "../../src/handoff/find-handoff.ts";
import type { MessageContext } from "../../src/keys/message-context.ts";
import type { McpParts } from "../../src/mcp/bridge-parts.ts";
import { createMcpServer } from "../../src/mcp/create-mcp-server.ts";
import type { AgentHandle } from "../../src/session/agent-handle.ts";
import { type TestRepo, createTestRepo } from "./git-repo.ts";
import { type NativeHome, createNativeHome } from "./native-home.ts";
import { BIN } from "./cli.ts";

export interface McpHome extends AsyncDisposable {
  native: NativeHome;
  home: string;
  repo: TestRepo;
  config: HoldfastConfig;
  /** Another handle on the agent's files. */
  agent(agentId?: string): Promise<AgentHandle>;
  /** Sends a message to the agent, which echoes it. Resolves to the session key. */
  chat(text: string, from?: MessageContext, agentId?: string): Promise<string>;
  memory(name: string, text: string, agentId?: string): Promise<void>;
  /** The hand-offs, through a separate handle. */
  handoffs(): Promise<HandoffPlace>;
  connect(options?: ConnectOptions): Promise<Client>;
}

export interface ConnectOptions extends Partial<
  Pick<McpPartsOptions, "agentId" | "sessionKey" | "config" | "repoPath">
> {
  claudeSessionId?: string;
  flags?: Partial<McpConfig>;
  parts?: Partial<McpParts>;
}

/** Direct messages of one person on Telegram. */
export function telegram(id: string): MessageContext {
  return { Provider: "telegram", ChatType: "direct", From: `telegram:${id}`, To: `telegram:${id}`, SenderId: id };
}

export async function createMcpHome(): Promise<McpHome> {
  const native = await createNativeHome();
  const { home } = native;
  const config: HoldfastConfig = { ...DEFAULT_CONFIG, log: { level: "silent" } };
  const repo = createTestRepo(native.join("repo"));
  repo.commit("First commit");
  const cleanUps: (() => Promise<void>)[] = [];
  const agent = async (agentId?: string): Promise<AgentHandle> => {
    const opened = await openAgent({ home, config, agentId });
    cleanUps.push(async () => await opened.store.close());
    return opened;
  };
  return {
    native,
    home,
    repo,
    config,
    agent,
    chat: async (text, from = telegram("1"), agentId) => await say({ home, config, agentId }, { ...from, Body: text }),
    memory: async (name, text, agentId = "main") => {
      const path = join(agentLayout(home, agentId).workspace, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
    },
    handoffs: async () => {
      const opened = await agent();
      const env = { CLAUDE_CONFIG_DIR: native.claudeHome };
      const handoff = await openHandoff({ home, config, env, agent: opened });
      if (handoff === undefined) throw new Error("the hand-off is turned off");
      cleanUps.push(async () => await handoff.close());
      return { agent: opened, handoff };
    },
    connect: async (options = {}) => {
      const parts = openParts({ home, config, repo, native }, options);
      const server = createMcpServer(parts);
      const client = new Client({ name: "test", version: "1" });
      const [near, far] = InMemoryTransport.createLinkedPair();
      await Promise.all([server.connect(far), client.connect(near)]);
      cleanUps.push(async () => {
        await client.close();
        await parts.close();
      });
      return client;
    },
    [Symbol.asyncDispose]: async () => {
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
      await native[Symbol.asyncDispose]();
    },
  };
}

function openParts(
  { home, config, repo, native }: Pick<McpHome, "home" | "config" | "repo" | "native">,
  { claudeSessionId, flags = {}, parts, ...options }: ConnectOptions,
): McpParts {
  const mcp = { ...config.claudeCode.mcp, ...flags };
  const opened = openMcpParts({
    home,
    config: { ...config, claudeCode: { ...config.claudeCode, mcp } },
    repoPath: repo.path,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      CLAUDE_CONFIG_DIR: native.claudeHome,
      OPENCLAW_STATE_DIR: native.openClawHome,
      CLAUDE_CODE_SESSION_ID: claudeSessionId,
    },
    ...options,
  });
  return { ...opened, ...parts };
}

/** The structured answer of a tool. Fails if the text differs from it. */
export async function callTool(client: Client, name: string, args: object = {}): Promise<Record<string, unknown>> {
  const result = await callRaw(client, name, args);
  if (result.isError === true) throw new Error(textOf(result));
  const { structuredContent } = result;
  if (structuredContent === undefined || textOf(result) !== JSON.stringify(structuredContent)) {
    throw new Error(`the text differs from the structured content: ${textOf(result)}`);
  }
  return structuredContent;
}

/** All strings of an answer, one per line. */
export function stringsOf(answer: unknown): string {
  if (typeof answer === "string") return answer;
  return typeof answer === "object" && answer !== null ? Object.values(answer).map(stringsOf).join("\n") : "";
}

/** The text of a failure. */
export async function failTool(client: Client, name: string, args: object = {}): Promise<string> {
  const result = await callRaw(client, name, args);
  if (result.isError !== true) throw new Error(`no failure: ${textOf(result)}`);
  return textOf(result);
}

async function callRaw(client: Client, name: string, args: object): Promise<CallToolResult> {
  return (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

export interface Saying {
  home: string;
  config: HoldfastConfig;
  agentId?: string | undefined;
}

/** Answers a message in one process with the configured engine, without channels. Resolves to the session key. */
export async function say({ home, config, agentId }: Saying, ctx: MessageContext): Promise<string> {
  const turns = await openTurns({ home, config, channels: false });
  try {
    const address = {
      channel: ctx.Provider ?? "test",
      accountId: "default",
      chatId: ctx.From ?? "",
      messageId: nodeCrypto().randomUUID(),
    };
    const message = { address, ctx, receivedAt: Date.now(), deliver: false };
    const { sessionKey, ended } = await turns.pipeline.admit(agentId === undefined ? message : { ...message, agentId });
    const { outcome, error } = await ended;
    if (outcome !== "answered") throw new Error(`The turn ended as ${outcome}: ${JSON.stringify(error)}`);
    return sessionKey;
  } finally {
    await turns.close();
  }
}

export interface McpConnection extends AsyncDisposable {
  client: Client;
}

export interface ConnectMcpOptions {
  cwd: string;
  env: Record<string, string | undefined>;
  /** Arguments for `holdfast`. Default: `mcp`. */
  args?: readonly string[];
  /** A wrapper program with its arguments. Optional. */
  under?: readonly string[];
}

export async function connectMcp({
  cwd,
  env,
  args: given = ["mcp"],
  under = [],
}: ConnectMcpOptions): Promise<McpConnection> {
  const [command = process.execPath, ...args] = [...under, process.execPath, BIN, ...given];
  const known = Object.entries({ ...process.env, ...env }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const transport = new StdioClientTransport({
    command,
    args,
    cwd,
    env: Object.fromEntries(known) as Record<string, string>,
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return { client, [Symbol.asyncDispose]: async () => await client.close() };
}
