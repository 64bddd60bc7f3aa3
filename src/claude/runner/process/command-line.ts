/**
 * How `claude` is called: program, arguments, environment. Values share an argument with their option
 * (`--model=…`), so no text can be read as an option of its own.
 */
import { resolve } from "node:path";
import { HoldfastError } from "../../../base/errors.ts";
import { findProgram } from "../../../base/processes.ts";
import type { Environment } from "../../../config/layout.ts";
import { CHAT_ENTRYPOINT, HOLDFAST_ENTRYPOINT, RUN_KIND_VARIABLE } from "../../attribution.ts";
import { isNativeSessionId } from "../run-files.ts";
import type { ClaudeProcessOptions, SessionStart } from "./claude-process.ts";

/** `command` is a name on the PATH, or a path. */
export function findClaude(command: string, env: Environment): string {
  const found = findProgram(command, env);
  if (found !== undefined) return found;
  throw new HoldfastError("unavailable", "claude-not-found", `Claude Code was not found: no program "${command}".`, {
    hint: "Install it (npm install -g @anthropic-ai/claude-code), or set claudeCode.command to its path.",
    data: { command },
  });
}

export function claudeArguments(options: ClaudeProcessOptions): string[] {
  return [
    "--print",
    "--input-format=stream-json",
    "--output-format=stream-json",
    // Required for stream-json.
    "--verbose",
    // Shows which turn answers our message: a finished background command starts a turn of its own.
    "--replay-user-messages",
    "--include-partial-messages",
    ...sessionArguments(options.session),
    ...valueOf("--model", options.model),
    ...valueOf("--permission-mode", options.permissionMode),
    // One argument per tool: a list would consume all arguments that follow.
    ...(options.allowedTools ?? []).flatMap((tool) => valueOf("--allowedTools", tool)),
    ...valueOf("--mcp-config", absolute(options.mcpConfigFile)),
    ...valueOf("--max-turns", positive("maxTurns", options.maxTurns)),
    ...valueOf("--max-budget-usd", positive("maxBudgetUsd", options.maxBudgetUsd)),
    ...valueOf("--append-system-prompt-file", absolute(options.appendSystemPromptFile)),
    ...valueOf("--effort", options.effort),
    // Asks on stdout instead of refusing.
    ...valueOf("--permission-prompt-tool", options.onPermission === undefined ? undefined : "stdio"),
  ];
}

function sessionArguments(session: SessionStart = { kind: "new" }): string[] {
  switch (session.kind) {
    case "new":
      return valueOf("--session-id", uuid(session.sessionId));
    case "resume":
      return valueOf("--resume", uuid(session.sessionId));
    default:
      return [
        ...valueOf("--resume", uuid(session.sessionId)),
        "--fork-session",
        ...valueOf("--session-id", uuid(session.newSessionId)),
      ];
  }
}

/** Claude Code runs in another folder. */
function absolute(file: string | undefined): string | undefined {
  return file === undefined ? undefined : resolve(file);
}

function valueOf(option: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`${option}=${value}`];
}

/** Claude Code would take any other text for the title of a session. */
function uuid(sessionId: string | undefined): string | undefined {
  if (sessionId === undefined || isNativeSessionId(sessionId)) return sessionId;
  throw new HoldfastError("usage", "claude-session-id", `"${sessionId}" is not a Claude Code session id.`, {
    hint: "Session ids are UUIDs; list them with: holdfast cc list",
    data: { sessionId },
  });
}

function positive(name: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isFinite(value) && value > 0)) return value;
  throw new HoldfastError("usage", "claude-limit", `${name} is ${value}, but must be a number above 0.`, {
    hint: `Set claudeCode.${name} to a number above 0.`,
    data: { name, value },
  });
}

/**
 * Holdfast may itself run inside a Claude Code session. With these variables the new process would take itself for a
 * part of that session: it would refuse to start, use its editor, or report its id to MCP servers.
 */
const OUTER_SESSION_VARIABLES = new Set([
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

export function claudeEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OUTER_SESSION_VARIABLES.has(entry[0]),
  );
  const isChat = env[RUN_KIND_VARIABLE] === "chat";
  return { ...Object.fromEntries(kept), CLAUDE_CODE_ENTRYPOINT: isChat ? CHAT_ENTRYPOINT : HOLDFAST_ENTRYPOINT };
}
