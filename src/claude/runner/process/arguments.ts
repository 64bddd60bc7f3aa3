/**
 * The command line of `claude`. Values go into the same argument as their option (`--model=…`), so that
 * no text, whatever it starts with, can be read as an option of its own.
 */
import { resolve } from "node:path";
import { HoldfastError } from "../../../base/errors.ts";
import type { ClaudeProcessOptions, SessionStart } from "./claude-process.ts";

export function claudeArguments(options: ClaudeProcessOptions): string[] {
  return [
    "--print",
    "--input-format=stream-json",
    "--output-format=stream-json",
    // Without it stream-json is refused.
    "--verbose",
    // Tells which turn is ours: a finished background command starts one that nobody asked for.
    "--replay-user-messages",
    ...(options.partialMessages === false ? [] : ["--include-partial-messages"]),
    ...sessionArguments(options.session),
    ...valueOf("--model", options.model),
    ...valueOf("--permission-mode", options.permissionMode),
    ...valuesOf("--allowedTools", options.allowedTools),
    ...valuesOf("--disallowedTools", options.disallowedTools),
    ...valueOf("--mcp-config", pathOf(options.mcpConfigFile)),
    ...(options.strictMcpConfig === true ? ["--strict-mcp-config"] : []),
    ...valueOf("--max-turns", positive("maxTurns", options.maxTurns)),
    ...valueOf("--max-budget-usd", positive("maxBudgetUsd", options.maxBudgetUsd)),
    ...valueOf("--append-system-prompt-file", pathOf(options.appendSystemPromptFile)),
    ...valueOf("--effort", options.effort),
    ...valuesOf("--add-dir", options.addDirs),
    ...valueOf("--name", options.name),
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

/** Claude Code works in another folder. */
function pathOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : resolve(file);
}

function valueOf(option: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`${option}=${value}`];
}

/** Once for each value: some of these options would otherwise take in all arguments that follow. */
function valuesOf(option: string, values: readonly string[] = []): string[] {
  return values.flatMap((value) => valueOf(option, value));
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Anything else would be taken for the title of a session. */
function uuid(sessionId: string | undefined): string | undefined {
  if (sessionId === undefined || UUID.test(sessionId)) return sessionId;
  throw new HoldfastError("usage", "claude-session-id", `"${sessionId}" is no id of a Claude Code session.`, {
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
