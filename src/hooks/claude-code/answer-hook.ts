/**
 * One call of one of our hooks, from what Claude Code says to what it is told. A start is answered; everything else
 * is a reason to capture, which is left to another process.
 */
import { existsSync } from "node:fs";
import type { Logger } from "../../base/log.ts";
import { HOLDFAST_ENTRYPOINT } from "../../claude/attribution.ts";
import { RUN_KIND_VARIABLE } from "../../claude/runner/process/environment.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import { type Environment, claudeLayout } from "../../config/layout.ts";
import type { CaptureReason } from "../../handoff/state.ts";
import { nativeSessionKey } from "../../handoff/handoff.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import type { KeptHandoff } from "../../store/store.ts";
import { requestCapture } from "./capture-requests.ts";
import type { ClaudeHookEvent } from "./hook-command.ts";
import type { HookInput } from "./hook-input.ts";

export interface HookParts {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  claudeHome: string;
  logger: Logger;
  /** In ms, until the answer is due. */
  timeLeft(): number;
  /** Called before a transcript is read, which is the most work there is. Left out: nobody wants to know. */
  beforeReading?(): Promise<void>;
  readHandoffs(query: { agentId: string; prefix: string; limit: number; busyMs: number }): Promise<KeptHandoff[]>;
  /** The answer is known; what is still to be done nobody waits for. */
  answer(text: string): Promise<void>;
}

const REASONS: Record<Exclude<ClaudeHookEvent, "SessionStart">, CaptureReason> = {
  PreCompact: "compaction",
  PostCompact: "compaction",
  Stop: "messages",
  SessionEnd: "ended",
};

/** Turns may end every second. What is captured soon need not be read when the next session starts. */
const BETWEEN_STOPS_MS = 5_000;
const MOST_STATES = 30;
const BUSY_MS = 10;

export async function answerHook(event: ClaudeHookEvent, input: HookInput, parts: HookParts): Promise<void> {
  const { config, env, home, logger } = parts;
  // Where nobody uses Holdfast, there is nothing to tell, and no home is made.
  if (!config.handoff.enabled || isConversation(env) || !existsSync(home)) return;
  const folder = claudeLayout(home).hookRequestsFolder;
  const { sessionId, transcriptPath, cwd } = input;
  if (event !== "SessionStart") {
    const captures = [{ sessionId, transcriptPath, cwd, reason: REASONS[event] }];
    const betweenMs = event === "Stop" ? BETWEEN_STOPS_MS : 0;
    return requestCapture(sessionId, { captures }, { folder, env, betweenMs });
  }
  // What a task of ours is to know at its beginning stands in its first message.
  if (isTask(env) && input.source !== "compact") return;
  const { answerStart } = await import("./session-start.ts");
  const agentId = normalizeAgentId(config.defaultAgent);
  const prefix = nativeSessionKey(agentId, "");
  const kept = await parts.readHandoffs({ agentId, prefix, limit: MOST_STATES, busyMs: BUSY_MS });
  const start = await answerStart({ ...parts, agentId, config: config.handoff, kept }, input);
  if (start.text !== undefined) await parts.answer(contextAnswer(start.text));
  const reason = input.source === "compact" ? ("compaction" as const) : ("found" as const);
  const captures = start.captures.map((target) => ({
    sessionId: target.sessionId,
    transcriptPath: target.transcriptPath,
    cwd: target.cwd,
    reason,
  }));
  if (captures.length === 0 && start.told === undefined) return;
  const told = start.told === undefined ? {} : { told: { ...start.told, sessionId } };
  try {
    requestCapture(sessionId, { captures, ...told }, { folder, env });
  } catch (error) {
    logger.warn("what a session left could not be kept", { sessionId, error });
  }
}

function contextAnswer(additionalContext: string): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName: "SessionStart", additionalContext } });
}

/** What people say to an agent is kept with their conversation, and is for them alone. */
function isConversation(env: Environment): boolean {
  return env["CLAUDE_CODE_ENTRYPOINT"] === HOLDFAST_ENTRYPOINT && !isTask(env);
}

function isTask(env: Environment): boolean {
  return env["CLAUDE_CODE_ENTRYPOINT"] === HOLDFAST_ENTRYPOINT && env[RUN_KIND_VARIABLE] === "task";
}
