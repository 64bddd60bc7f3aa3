/**
 * The engine that lets Claude Code answer, through the runner: one writer per session, no orphans, limits.
 * Each conversation has its own Claude Code session. The first turn starts it, later turns resume it.
 *
 * Each turn starts a process. A resumed session sends its first request within 0.6 s, while an idle process
 * takes 215 MB. Between turns the session is free, so the person can open it in a terminal. There is no
 * `steer`, because Claude Code does not report in time whether it took a message into the running turn.
 */
import { Readable } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError, hasCode } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ClaudeCodeResult, RunnerEvent, SpawnOptions } from "../../claude/runner/runner-contract.ts";
import type { ClaudeRunner } from "../../claude/runner/runner.ts";
import type { Engine, EngineEvent } from "../engine.ts";
import { type RunRequest, isCompaction, toRunRequest, resumedSession } from "./run-request.ts";
import { TurnTranslator } from "./turn-translator.ts";
import type { ClaudeCodeConfig } from "../../config/claude-code.ts";
import { printableLine } from "../../base/text.ts";

export interface ClaudeCodeEngineOptions {
  runner: () => Promise<ClaudeRunner>;
  configOf: (agentId: string) => ClaudeCodeConfig;
  logger: Logger;
  clock: Clock;
  /** Returns the hand-off of a conversation, for a session that has lost it. Optional. */
  recall?: ((sessionKey: string) => Promise<string | undefined>) | undefined;
  /** How long to wait for a session that is in use before forking it. Default: 10 s. */
  heldWaitMs?: number | undefined;
}

/** Long enough for one of our own runs to end. */
const HELD_WAIT_MS = 10_000;

export function createClaudeCodeEngine(options: ClaudeCodeEngineOptions): Engine {
  const running = new Set<{ stop: AbortController; over: Promise<unknown> }>();
  return {
    name: "claude-code",
    keepsConversation: true,
    async *run(turn, signal) {
      if (signal.aborted) return;
      const isLost = resumedSession(turn) === undefined && turn.context.length > 1;
      const left = isLost ? await recall(options, turn.sessionKey) : undefined;
      const request = toRunRequest(turn, options.configOf(turn.agentId), left);
      // The stored id may not be one of Claude Code's: another program wrote it.
      if (turn.engineSessionId !== undefined && request.resumes === undefined && request.hasPast) {
        yield { type: "notice", text: STARTED_FRESH };
      }
      if (request.resumes === undefined && isCompaction(turn.text)) {
        yield { type: "notice", text: "Nothing to compact yet." };
        return;
      }
      const stop = new AbortController();
      const stopped = AbortSignal.any([signal, stop.signal]);
      // Buffers events until the turn reads them.
      const queue = new Readable({ objectMode: true, read: () => undefined });
      const push = (events: readonly EngineEvent[]): void => {
        for (const event of events) queue.push(event);
      };
      const translator = new TurnTranslator(options.clock);
      const over = spawn(options, request, {
        recall: async () => await recall(options, turn.sessionKey),
        signal: stopped,
        onMessage: (message) => push(translator.read(message)),
        onEvent: (event) => push(noticesOf(event, request)),
      }).finally(() => queue.push(null));
      // `conclude` awaits it. Without this, a consumer that stops early leaves an unhandled rejection.
      over.catch(() => undefined);
      const run = { stop, over };
      running.add(run);
      try {
        yield* queue as AsyncIterable<EngineEvent>;
        yield* conclude(translator, over, stopped);
      } finally {
        stop.abort();
        await over.catch(() => undefined);
        running.delete(run);
      }
    },
    async close() {
      for (const { stop } of running) stop.abort();
      await Promise.allSettled([...running].map(async ({ over }) => await over));
    },
  };
}

/** A failure is logged only: the conversation continues with its digest. */
async function recall(options: ClaudeCodeEngineOptions, sessionKey: string): Promise<string | undefined> {
  try {
    return await options.recall?.(sessionKey);
  } catch (error) {
    options.logger.warn("Cannot load the hand-off of a conversation", { sessionKey, error });
    return undefined;
  }
}

const STARTED_FRESH =
  "Claude Code no longer has this conversation. It continues in a fresh session that knows what Holdfast has recorded.";

async function spawn(
  { runner: openRunner, heldWaitMs = HELD_WAIT_MS, logger }: ClaudeCodeEngineOptions,
  { options, resumes }: RunRequest,
  watch: Required<Pick<SpawnOptions, "recall" | "signal" | "onMessage" | "onEvent">>,
): Promise<ClaudeCodeResult> {
  const runner = await openRunner();
  try {
    return await runner.spawnClaudeCode({ ...options, ...watch, onRunning: "queue", queueTimeoutMs: heldWaitMs });
  } catch (error) {
    if (resumes === undefined || !(error instanceof HoldfastError) || error.kind !== "locked") throw error;
    logger.warn("Session in use; continuing in a copy", { sessionId: resumes, error });
    const { resume: _taken, ...rest } = options;
    return await runner.spawnClaudeCode({ ...rest, ...watch, fork: resumes });
  }
}

function noticesOf(event: RunnerEvent, { hasPast }: RunRequest): EngineEvent[] {
  switch (event.type) {
    case "fallback":
      return hasPast ? [{ type: "notice", text: STARTED_FRESH }] : [];
    case "started":
      return event.how === "fork" ? [{ type: "notice", text: ON_A_COPY }] : [];
    case "second-writer":
      return [{ type: "notice", text: event.text }];
    default:
      return [];
  }
}

const ON_A_COPY =
  "This conversation is open in another `claude`. It continues here in a copy, which does not see the other one.";

async function* conclude(
  translator: TurnTranslator,
  over: Promise<ClaudeCodeResult>,
  stopped: AbortSignal,
): AsyncGenerator<EngineEvent> {
  let result: ClaudeCodeResult;
  try {
    result = await over;
  } catch (error) {
    // Stopped before the task was sent.
    if (stopped.aborted) return;
    throw inChat(error);
  }
  const isStopped = stopped.aborted && result.outcome !== "completed";
  const failure = isStopped ? undefined : failureOf(result, translator.apiError);
  const wasCut = isStopped || failure?.kind === "interrupted" || failure?.kind === "timeout";
  yield* translator.end(wasCut ? "aborted" : failure === undefined ? "stop" : "error");
  if (failure === undefined && !isStopped && !translator.hasSaid) yield* translator.say(result.text);
  const { usage } = translator;
  if (usage !== undefined) yield { type: "usage", usage: { ...usage, costUsd: result.costUsd } };
  if (failure !== undefined) throw failure;
  const notice = isStopped ? undefined : noticeOf(result);
  if (notice !== undefined) yield { type: "notice", text: notice };
}

const REASON_LENGTH = 500;

/** Undefined: the run succeeded or hit a limit. */
function failureOf(result: ClaudeCodeResult, apiError: string | undefined): HoldfastError | undefined {
  const reason = printableLine(result.error ?? "no reason given", REASON_LENGTH);
  const { sessionId, apiStatus } = result;
  const fail = (...[kind, code, message, hint]: Failure): HoldfastError =>
    new HoldfastError(kind, code, message, { hint, data: { sessionId, apiStatus } });
  switch (result.outcome) {
    case "completed":
    case "permission-denied":
    case "limit-turns":
    case "limit-budget":
      return undefined;
    case "api-error":
      return fail(...refusal(result, apiError, reason));
    case "rate-limited":
      return fail("unavailable", "claude-rate-limited", `The model's rate limit is reached: ${reason}`, LATER);
    case "timed-out":
      return fail("timeout", "claude-timed-out", "Claude Code took too long and was stopped.", TOO_LONG);
    case "interrupted":
      return fail("interrupted", "claude-interrupted", "Claude Code was stopped.", "Send the message again.");
    case "stale-resume":
    case "crashed":
    default:
      return fail("unavailable", "claude-crashed", `Claude Code exited before it answered: ${reason}`, TRY_BY_HAND);
  }
}

type Failure = [kind: HoldfastError["kind"], code: string, message: string, hint: string];

const LATER = "Wait until the limit resets, or choose another model with /model.";
const TOO_LONG = "Ask for less at once, or raise claudeCode.timeoutMinutes.";
const TRY_BY_HAND = "Run `claude` in the agent's workspace to see what is wrong.";
const LOG_IN = "On the gateway's machine run `claude` and /login, or set ANTHROPIC_API_KEY for the gateway.";

function refusal({ apiStatus }: ClaudeCodeResult, apiError: string | undefined, reason: string): Failure {
  if (apiError === "authentication_failed" || apiStatus === 401 || apiStatus === 403 || /\/login\b/.test(reason)) {
    return ["forbidden", "claude-not-logged-in", `Claude Code is not logged in: ${reason}`, LOG_IN];
  }
  if (apiStatus === undefined || apiStatus >= 500 || apiStatus === 408) {
    return ["unavailable", "claude-api-error", `The model could not be reached: ${reason}`, "Try again later."];
  }
  return ["usage", "claude-api-refused", `The model refused the request: ${reason}`, REFUSED];
}

const REFUSED = "Choose another model with /model, or start over with /new.";

function noticeOf(result: ClaudeCodeResult): string | undefined {
  switch (result.outcome) {
    case "limit-turns":
      return "Claude Code reached its step limit (claudeCode.maxTurns). Ask it to continue if there is more to do.";
    case "limit-budget":
      return "Claude Code stopped: the budget of this conversation is used up. Start another with /new, or raise claudeCode.maxBudgetUsd.";
    case "permission-denied": {
      const tools = [...new Set(result.denials.map(({ toolName }) => printableLine(toolName, 60)))].join(", ");
      return `Claude Code was not allowed to use: ${tools}. See claudeCode.permissionMode and claudeCode.allowedTools.`;
    }
    default:
      return undefined;
  }
}

/** Replaces hints that name CLI commands with hints for a chat. */
function inChat(error: unknown): unknown {
  if (!hasCode(error, "budget-used-up")) return error;
  return new HoldfastError(error.kind, error.code, error.message, {
    hint: "Start another conversation with /new, or raise claudeCode.maxBudgetUsd.",
    data: error.data,
    cause: error,
  });
}
