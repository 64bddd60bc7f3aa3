/**
 * Answers one call of our hooks. A session start gets the hand-off; every other event requests a capture, which another
 * process does.
 */
import { existsSync } from "node:fs";
import type { Logger } from "../../base/log.ts";
import { isHoldfastEntrypoint, RUN_KIND_VARIABLE } from "../../claude/attribution.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import { type Environment, claudeLayout } from "../../config/layout.ts";
import type { CaptureReason } from "../../handoff/state.ts";
import { nativeSessionKey } from "../../handoff/handoff.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import type { KeptHandoff } from "../../store/store.ts";
import { requestCapture } from "./capture-requests.ts";
import type { ClaudeHookEvent, HookInput } from "./hook-call.ts";

interface HookParts {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  claudeHome: string;
  logger: Logger;
  /** Milliseconds since the hook was called. */
  elapsedMs(): number;
  readHandoffs(query: { agentId: string; prefix: string; limit: number; busyMs: number }): Promise<KeptHandoff[]>;
  answer(text: string): Promise<void>;
}

const REASONS: Record<Exclude<ClaudeHookEvent, "SessionStart">, CaptureReason> = {
  PreCompact: "compaction",
  PostCompact: "compaction",
  Stop: "messages",
  SessionEnd: "ended",
};

/** Turns may end every second. A recent capture saves reading the transcript at the next start. */
const BETWEEN_STOPS_MS = 5_000;
const MAX_STATES = 30;
const BUSY_MS = 10;

export async function answerHook(event: ClaudeHookEvent, input: HookInput, parts: HookParts): Promise<void> {
  const { config, env, home, logger } = parts;
  // Without a home folder Holdfast is not in use, and the hook must not create one.
  if (!config.handoff.enabled || isConversation(env) || !existsSync(home)) return;
  const folder = claudeLayout(home).hookRequestsFolder;
  const { sessionId, transcriptPath, cwd } = input;
  if (event !== "SessionStart") {
    const captures = [{ sessionId, transcriptPath, cwd, reason: REASONS[event] }];
    const betweenMs = event === "Stop" ? BETWEEN_STOPS_MS : 0;
    return requestCapture(sessionId, { captures }, { folder, env, betweenMs });
  }
  // Our own tasks get their hand-off in the first message.
  if (isTask(env) && input.source !== "compact") return;
  const { answerStart } = await import("./session-start.ts");
  const agentId = normalizeAgentId(config.defaultAgent);
  const prefix = nativeSessionKey(agentId, "");
  const { offersFolder } = claudeLayout(home);
  const readKept = async (): Promise<KeptHandoff[]> =>
    await parts.readHandoffs({ agentId, prefix, limit: MAX_STATES, busyMs: BUSY_MS });
  const start = await answerStart({ ...parts, agentId, config: config.handoff, offersFolder, readKept }, input);
  if (start.text !== undefined) {
    const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: start.text };
    await parts.answer(JSON.stringify({ hookSpecificOutput }));
  }
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
    logger.warn("Cannot request a capture", { sessionId, error });
  }
}

/** Chats with an agent are captured with their own session, for its people only. */
function isConversation(env: Environment): boolean {
  return env[RUN_KIND_VARIABLE] === "chat" || (isHoldfastEntrypoint(env["CLAUDE_CODE_ENTRYPOINT"]) && !isTask(env));
}

function isTask(env: Environment): boolean {
  return isHoldfastEntrypoint(env["CLAUDE_CODE_ENTRYPOINT"]) && env[RUN_KIND_VARIABLE] === "task";
}
