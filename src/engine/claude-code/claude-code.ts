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
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ClaudeCodeResult, RunnerEvent, SpawnOptions } from "../../claude/runner/runner-contract.ts";
import type { ClaudeRunner } from "../../claude/runner/runner.ts";
import type { Engine, EngineEvent } from "../engine.ts";
import { failureOf, inChat, noticeOf } from "./outcome.ts";
import { type RunRequest, isCompaction, toRunRequest, resumedSession } from "./run-request.ts";
import { TurnTranslator } from "./turn-translator.ts";
import type { ClaudeCodeConfig } from "../../config/claude-code.ts";

export interface ClaudeCodeEngineOptions {
  runner: () => Promise<ClaudeRunner>;
  /** The configuration with the agent's overrides applied. */
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

/** Resumes the conversation's session, or forks it if another process keeps it open. */
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

/** Yields unfinished text, the cost and a notice, or throws the failure. */
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
