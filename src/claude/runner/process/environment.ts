/**
 * The environment of a spawned `claude`. Holdfast may itself run inside a Claude Code session (an agent
 * calls `holdfast cc run`); what that session tells its children about itself must not reach the new
 * one, which would take itself for a part of it: refuse to start, talk to the other's editor, or report
 * the other's id to its MCP servers.
 */
import type { Environment } from "../../../config/layout.ts";
import { HOLDFAST_ENTRYPOINT } from "../../attribution.ts";

const OF_AN_OUTER_SESSION = new Set([
  "CLAUDECODE",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_EFFORT",
  "CLAUDE_PROJECT_DIR",
  "AI_AGENT",
]);

/** Tells our own hooks what the session is for: `task`, or `chat` for a conversation with people. */
export const RUN_KIND_VARIABLE = "HOLDFAST_RUN";

export function claudeEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OF_AN_OUTER_SESSION.has(entry[0]),
  );
  return { ...Object.fromEntries(kept), CLAUDE_CODE_ENTRYPOINT: HOLDFAST_ENTRYPOINT };
}
