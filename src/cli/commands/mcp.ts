/**
 * `holdfast mcp`: serves Holdfast's tools to Claude Code and other MCP clients over stdin and stdout. Before the
 * client's first request only the configuration is loaded, so that it does not wait.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { localTime, systemClock } from "../../base/clock.ts";
import { HoldfastError, hasCode, undefinedOn } from "../../base/errors.ts";
import { randomIds } from "../../base/ids.ts";
import { type Logger, createLogger } from "../../base/log.ts";
import { type Environment, agentLayout, resolveHome, resolveOpenClawHome } from "../../config/layout.ts";
import { loadConfig } from "../../config/load.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import type { BridgeClaude, McpParts } from "../../mcp/bridge-parts.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { Flags, Texts } from "../command.ts";
import { STORE_MISSING, type Setup, assertAgentId, withAgent } from "../context.ts";
import { print, printJson, talk } from "../output.ts";
import { lazy, lazyMap } from "../../base/async.ts";
import { type ClaudeSide, openClaudeSide } from "../../compose/claude.ts";
import { bringTranscripts, openAgent } from "../../compose/agent.ts";
import { type Viewer, discoverShown, mayShow } from "../../mcp/privacy.ts";

type McpOptions = Flags<"printConfig" | "announcements"> & Texts<"agent" | "repo" | "session">;

export async function mcp(options: McpOptions): Promise<void> {
  assertAgentId(options.agent);
  if (options.printConfig === true) await printConfig(options);
  else if (options.announcements === true) await printAnnouncements(options);
  else await serve(options);
}

async function serve(options: McpOptions): Promise<void> {
  const { env } = process;
  const home = resolveHome(env);
  const repoPath = repoOf(options.repo, env);
  const [{ config }, { serveStdio }] = await Promise.all([
    loadConfig({ env, cwd: repoPath, home }),
    import("../../mcp/create-mcp-server.ts"),
  ]);
  if (process.stdin.isTTY) talk("Waiting for an MCP client; `holdfast mcp --print-config` shows how to add one.");
  await serveStdio(openMcpParts({ home, config, repoPath, env, agentId: options.agent, sessionKey: options.session }));
}

/** Claude Code sets CLAUDE_PROJECT_DIR; other clients start in the repo. */
function repoOf(given: string | undefined, env: Environment): string {
  const named = given ?? env["CLAUDE_PROJECT_DIR"];
  const path = resolve(named === undefined || named === "" ? process.cwd() : named);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new HoldfastError("usage", "no-such-folder", `There is no folder ${path}`, {
    hint: "Set --repo to the folder of the project.",
    data: { path },
  });
}

export interface McpPartsOptions extends Setup {
  repoPath: string;
  env: Environment;
  agentId?: string | undefined;
  sessionKey?: string | undefined;
}

/** Everything is opened at first use. */
export function openMcpParts(options: McpPartsOptions): McpParts {
  const { home, config, repoPath, env, sessionKey } = options;
  const logger = createLogger({ level: config.log.level });
  const side = openClaudeSide({ home, config, agentId: options.agentId, env, logger });
  const { agentId, claudeHome } = side;
  const workspace = config.agents[agentId]?.workspace ?? agentLayout(home, agentId).workspace;
  const bring = async () => await bringTranscripts({ home, config }, agentId);
  const places = {
    home,
    openClawHome: resolveOpenClawHome(env),
    claudeHome,
    agentId,
    workspace,
    bringTranscripts: bring,
  };
  const claudeSessionId = env["CLAUDE_CODE_SESSION_ID"] === "" ? undefined : env["CLAUDE_CODE_SESSION_ID"];
  const claude = claudeShownTo({ sessionKey, claudeSessionId }, side);
  const agent = lazyAgent(async (create) => await openAgent({ home, config, agentId, create, logger }));
  const handoffs = lazyHandoffs(options, agentId, logger, agent.open);
  const index = lazy(async () => {
    const { openSearchIndex } = await import("../../compose/search.ts");
    return await openSearchIndex({ home, config, env, logger });
  });

  return {
    agentId,
    repoPath,
    sessionKey,
    claudeSessionId,
    config,
    claude,
    openAgent: agent.open,
    openHandoff: handoffs.open,
    openSearchIndex: () => index.get(),
    callSessionTool: async (call) => {
      const [{ requireGateway }, { createHttpCaller }] = await Promise.all([
        import("../../gateway/gateway-files.ts"),
        import("../../rpc/client.ts"),
      ]);
      try {
        return await createHttpCaller(await requireGateway(home)).call("sessions.tool", call);
      } catch (error) {
        const handle = hasCode(error, "gateway-not-running") ? await agent.open({ create: false }) : undefined;
        if (handle === undefined) throw error;
        const { callSessionToolHere } = await import("../../compose/local-session-tools.ts");
        return await callSessionToolHere({ agent: handle, claude: side, config, logger, refusal: error }, call);
      }
    },
    searchSources: async (want) => {
      const { searchSourcesOf } = await import("../../mcp/bridge-search.ts");
      return await searchSourcesOf(places, want);
    },
    clock: systemClock,
    ids: randomIds,
    logger,
    close: async () => {
      side.close();
      (await index.made())?.close();
      await handoffs.close();
      await agent.close();
    },
  };
}

function claudeShownTo(viewer: Viewer, side: ClaudeSide): BridgeClaude {
  return {
    config: side.config,
    discover: async (repoPath, { limit } = {}) =>
      await discoverShown(viewer, async (choice) => await side.discover(repoPath, choice), limit),
    find: async (id) => await side.find(id),
    status: async (repoPath) => await side.status(repoPath, { mayShow: (session) => mayShow(viewer, session) }),
    select: async (task, repoPath, options) =>
      await side.select(task, repoPath, { ...options, sessionKey: viewer.sessionKey }),
    liveRun: async (sessionId) => await side.liveRun(sessionId),
  };
}

/** One handle for all calls. While the agent has no store, each call looks again. */
function lazyAgent(open: (create: boolean) => Promise<AgentHandle>) {
  let opening: Promise<AgentHandle | undefined> = Promise.resolve(undefined);
  const openNext = async (create: boolean): Promise<AgentHandle | undefined> =>
    create ? await open(true) : await undefinedOn(open(false), "not-found");
  return {
    open: async ({ create }: { create: boolean }) => {
      const before = opening.catch(() => undefined);
      opening = before.then(async (known) => known ?? (await openNext(create)));
      return await opening;
    },
    close: async () => await (await opening.catch(() => undefined))?.store.close(),
  };
}

/** Opened at first use. The default agent keeps the hand-offs of Claude Code's sessions. */
function lazyHandoffs(
  { home, config, env }: McpPartsOptions,
  agentId: string,
  logger: Logger,
  openOwn: McpParts["openAgent"],
): { open: McpParts["openHandoff"]; close(): Promise<void> } {
  const { defaultAgent } = config;
  const other = lazyAgent(async (create) => await openAgent({ home, config, agentId: defaultAgent, create, logger }));
  const known = lazyMap<AgentHandle, Handoff | undefined>();
  return {
    open: async (whose) => {
      const isNative = whose === "claude-code";
      const open = isNative && agentId !== defaultAgent ? other.open : openOwn;
      const agent = await open({ create: isNative });
      if (agent === undefined) return undefined;
      const handoff = await known.get(agent, async () => {
        const { openHandoff } = await import("../../compose/handoff.ts");
        return await openHandoff({ home, config, env, agent });
      });
      return handoff === undefined ? undefined : { agent, handoff };
    },
    close: async () => {
      for (const handoff of await known.made()) await handoff?.close();
      await other.close();
    },
  };
}

async function printConfig(options: McpOptions): Promise<void> {
  const { clientConfig, claudeAddCommand } = await import("../../mcp/bridge-parts.ts");
  const home = process.env["HOLDFAST_HOME"]?.trim();
  const given = {
    agent: options.agent,
    repo: options.repo === undefined ? undefined : resolve(options.repo),
    session: options.session,
    home: home === undefined || home === "" ? undefined : resolve(home),
  };
  printJson(clientConfig(given));
  talk(`For Claude Code: ${claudeAddCommand(given)}`);
}

async function printAnnouncements(options: McpOptions): Promise<void> {
  const { showAnnouncements } = await import("../../mcp/announcer.ts");
  const show = async (agent: AgentHandle): Promise<number> =>
    await showAnnouncements(agent, ({ text, priority, repoPath }, at) => {
      print(`${localTime(at)}  ${priority === "normal" ? "" : `[${priority}] `}${repoPath}\n${text}\n`);
    });
  const shown = await undefinedOn(withAgent({ agent: options.agent }, show), STORE_MISSING);
  if (shown === undefined || shown === 0) talk("No new announcements.");
}
