/**
 * Everything the tools of the bridge may use. The bridge serves one agent in one repo, so no tool can reach data of
 * another agent. Stores and indexes are opened on first use, because clients wait for the server to start.
 */
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import type { SESSION_TOOL_NAMES } from "../engine/tools/session-tools.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { HandoffPlace } from "../handoff/find-handoff.ts";
import type { SearchIndex } from "../memory/search-index.ts";
import type { SearchSources } from "../memory/sources.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { programFile } from "../base/package.ts";

export interface McpParts {
  agentId: string;
  repoPath: string;
  /** The conversation behind this task. Default: the agent's only one, if it has exactly one. */
  sessionKey?: string | undefined;
  /** The Claude Code session that started the server. Undefined: another client did. */
  claudeSessionId?: string | undefined;
  config: HoldfastConfig;
  claude: BridgeClaude;
  /** Undefined: the agent has no store yet, and `create` is false. */
  openAgent(options: { create: boolean }): Promise<AgentHandle | undefined>;
  /** The default agent keeps the hand-offs of Claude Code sessions for all agents. Undefined: turned off, or no store yet. */
  openHandoff(whose: "agent" | "claude-code"): Promise<HandoffPlace | undefined>;
  openSearchIndex(): Promise<SearchIndex>;
  /** Asks the gateway. Without one, only tools that read work; the others fail with `gateway-not-running`. */
  callSessionTool(call: SessionToolCall): Promise<{ text: string; isError: boolean }>;
  /** The files that the agent may search. `archived` are session ids. */
  searchSources(
    want: { memory: true } | { nativeFolders: readonly string[]; archived: readonly string[] },
  ): Promise<SearchSources>;
  clock: Clock;
  ids: Ids;
  logger: Logger;
  close(): Promise<void>;
}

export interface SessionToolCall {
  /** The conversation in whose name the tool runs. */
  sessionKey: string;
  agentId: string;
  idempotencyKey: string;
  tool: string;
  input: Record<string, unknown>;
}

export type BridgeClaude = Pick<ClaudeSide, "config" | "discover" | "find" | "status" | "select" | "liveRun">;

/** May be used without asking. */
export const TOOL_NAMES = [
  "openclaw_conversation_context",
  "openclaw_memory_search",
  "openclaw_announce",
  "openclaw_session_info",
  "openclaw_project_status",
  "openclaw_session_list",
  "openclaw_session_search",
  "openclaw_decide_session",
  "openclaw_handoff",
] as const;

/** Tools over sessions are for conversations. Not in TOOL_NAMES: a task has to ask before it uses them. */
export type ToolName = (typeof TOOL_NAMES)[number] | (typeof SESSION_TOOL_NAMES)[number];

/** `home` is HOLDFAST_HOME, if set: a client may start the server without our environment. */
type ClientConfigOptions = Partial<Record<"agent" | "repo" | "session" | "home", string | undefined>>;

/** Uses absolute paths: a client may have another PATH or working folder. */
export function clientConfig(options: ClientConfigOptions) {
  const given = (["agent", "repo", "session"] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
  return {
    mcpServers: {
      holdfast: {
        type: "stdio",
        command: process.execPath,
        args: [programFile(), "mcp", ...given],
        env: options.home === undefined ? undefined : { HOLDFAST_HOME: options.home },
        // Makes Claude Code wait for the server before the first turn and keep its tools visible.
        alwaysLoad: true,
      },
    },
  };
}

/** The shell command that adds the server to Claude Code. */
export function claudeAddCommand(options: ClientConfigOptions): string {
  const entry = JSON.stringify(clientConfig(options).mcpServers.holdfast);
  return `claude mcp add-json --scope user holdfast '${entry.replaceAll("'", String.raw`'\''`)}'`;
}
