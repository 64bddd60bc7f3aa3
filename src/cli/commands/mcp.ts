/**
 * `holdfast mcp`: the bridge for Claude Code and other MCP clients, over stdin and stdout. Until the
 * client says hello nothing is opened but the configuration; it waits for us.
 */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { localTime, systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { randomIds } from "../../base/ids.ts";
import { type Logger, createLogger } from "../../base/log.ts";
import { openClaudeSide } from "../../compose-claude.ts";
import { openAgent } from "../../compose.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import {
  type Environment,
  agentLayout,
  resolveHome,
  resolveOpenClawHome,
  searchIndexFile,
} from "../../config/layout.ts";
import { loadConfig } from "../../config/load.ts";
import type { Handoff } from "../../handoff/handoff.ts";
import type { McpParts } from "../../mcp/bridge-parts.ts";
import type { SearchIndex } from "../../memory/search-index.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { assertAgentId, withAgent } from "../context.ts";
import { print, printJson, talk } from "../output.ts";

export interface McpOptions {
  agent?: string;
  repo?: string;
  session?: string;
  printConfig?: true;
  announcements?: true;
}

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
    import("../../mcp/serve-stdio.ts"),
  ]);
  if (process.stdin.isTTY) talk("Waiting for an MCP client; `holdfast mcp --print-config` tells how to add one.");
  await serveStdio(openMcpParts({ home, config, repoPath, env, agentId: options.agent, sessionKey: options.session }));
}

/** Claude Code says where its session works; other clients are started there. */
function repoOf(given: string | undefined, env: Environment): string {
  const named = given ?? env["CLAUDE_PROJECT_DIR"];
  const path = resolve(named === undefined || named === "" ? process.cwd() : named);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new HoldfastError("usage", "no-such-folder", `There is no folder ${path}`, {
    hint: "Give --repo the folder that the tasks work in.",
    data: { path },
  });
}

export interface McpPartsOptions {
  home: string;
  config: HoldfastConfig;
  repoPath: string;
  env: Environment;
  agentId?: string | undefined;
  sessionKey?: string | undefined;
}

/** Opens nothing yet. */
export function openMcpParts(options: McpPartsOptions): McpParts {
  const { home, config, repoPath, env, sessionKey } = options;
  const logger = createLogger({ level: config.log.level });
  const claude = openClaudeSide({ home, config, agentId: options.agentId, env, logger });
  const { agentId, claudeHome } = claude;
  const workspace = config.agents[agentId]?.workspace ?? agentLayout(home, agentId).workspace;
  const places = { home, openClawHome: resolveOpenClawHome(env), claudeHome, agentId, workspace };
  const claudeSessionId = env["CLAUDE_CODE_SESSION_ID"];
  const agent = lazyAgent(async (create) => await openAgent({ home, config, agentId, create, logger }));
  const handoffs = lazyHandoffs({ home, config, env, agentId, logger }, agent.open);
  let index: Promise<SearchIndex> | undefined;

  return {
    agentId,
    repoPath,
    sessionKey,
    claudeSessionId: claudeSessionId === "" ? undefined : claudeSessionId,
    config,
    claude,
    openAgent: agent.open,
    openHandoff: handoffs.open,
    openSearchIndex: async () => await (index ??= openIndex()),
    searchSources: async (want) => {
      const { searchSourcesOf } = await import("../../mcp/search-sources.ts");
      return await searchSourcesOf(places, want);
    },
    clock: systemClock,
    ids: randomIds,
    logger,
    close: async () => {
      claude.close();
      (await index?.catch(() => undefined))?.close();
      await handoffs.close();
      await agent.close();
    },
  };

  async function openIndex(): Promise<SearchIndex> {
    const { createSearchIndex } = await import("../../memory/search-index.ts");
    return await createSearchIndex({ path: searchIndexFile(home), clock: systemClock, logger });
  }
}

/** One handle for all calls. An agent that has no store yet is looked for again by the next call. */
function lazyAgent(open: (create: boolean) => Promise<AgentHandle>): {
  open: McpParts["openAgent"];
  close(): Promise<void>;
} {
  let opening: Promise<AgentHandle | undefined> = Promise.resolve(undefined);
  const openNext = async (known: AgentHandle | undefined, create: boolean): Promise<AgentHandle | undefined> => {
    if (known !== undefined) return known;
    try {
      return await open(create);
    } catch (error) {
      if (!create && error instanceof HoldfastError && error.kind === "not-found") return undefined;
      throw error;
    }
  };
  return {
    open: async ({ create }) => {
      const before = opening.catch(() => undefined);
      opening = before.then(async (known) => await openNext(known, create));
      return await opening;
    },
    close: async () => await (await opening.catch(() => undefined))?.store.close(),
  };
}

interface HandoffSetup extends Pick<McpPartsOptions, "home" | "config" | "env"> {
  agentId: string;
  logger: Logger;
}

/** Opened by the first call that needs them. What Claude Code's sessions left is the default agent's to keep. */
function lazyHandoffs(
  { home, config, env, agentId, logger }: HandoffSetup,
  openOwn: McpParts["openAgent"],
): { open: McpParts["openHandoff"]; close(): Promise<void> } {
  const { defaultAgent } = config;
  const other = lazyAgent(async (create) => await openAgent({ home, config, agentId: defaultAgent, create, logger }));
  const known = new Map<AgentHandle, Promise<Handoff | undefined>>();
  return {
    open: async (whose) => {
      const isNative = whose === "claude-code";
      const open = isNative && agentId !== defaultAgent ? other.open : openOwn;
      const agent = await open({ create: isNative });
      if (agent === undefined) return undefined;
      const { openHandoff } = await import("../../compose-handoff.ts");
      const opening = known.get(agent) ?? openHandoff({ home, config, env, agent });
      known.set(agent, opening);
      const handoff = await opening;
      return handoff === undefined ? undefined : { agent, handoff };
    },
    close: async () => {
      for (const opening of known.values()) await (await opening.catch(() => undefined))?.close();
      await other.close();
    },
  };
}

async function printConfig(options: McpOptions): Promise<void> {
  const { clientConfig, claudeAddCommand } = await import("../../mcp/client-config.ts");
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
  const shown = await withAgent(options.agent === undefined ? {} : { agent: options.agent }, show).catch(
    noneWithoutStore,
  );
  if (shown === 0) talk("Nothing was announced since you last looked.");
}

/** Who has no store yet has announced nothing. */
function noneWithoutStore(error: unknown): number {
  if (error instanceof HoldfastError && error.code === "store-not-found") return 0;
  throw error;
}
