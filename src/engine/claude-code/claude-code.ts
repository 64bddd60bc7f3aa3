/**
 * The engine that lets Claude Code answer, through the runner: one writer per session, no orphans, limits.
 * Each conversation has a session of Claude Code of its own; the first turn begins it, later ones resume it.
 *
 * One process per turn. Measured on 2 cores: a resumed session has its first request out 0.6 s after the
 * start, which is little beside a model's answer, while a process that waits takes 215 MB, more than the
 * gateway itself may. And between turns nobody holds the session: the person can open it in a terminal.
 * A message for a turn that runs waits for the next one, because Claude Code does not say in time whether
 * it still took it in; so there is no `steer`.
 */
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { ClaudeCodeResult, RunnerEvent, SpawnOptions } from "../../claude/runner/runner-contract.ts";
import type { ClaudeRunner } from "../../claude/runner/runner.ts";
import type { ClaudeCodeConfig } from "../../config/config.ts";
import type { Engine, EngineEvent, EngineTurn } from "../engine.ts";
import { createEventQueue } from "./event-queue.ts";
import { failureOf, inChat, noticeOf } from "./outcome.ts";
import { type RunRequest, isCompaction, toRunRequest, resumedSession } from "./run-request.ts";
import { type TurnTranslator, createTurnTranslator } from "./turn-translator.ts";

export interface ClaudeCodeEngineOptions {
  runner: () => Promise<ClaudeRunner>;
  /** With what the agent does differently. */
  configOf: (agentId: string) => ClaudeCodeConfig;
  logger: Logger;
  clock: Clock;
  /** What a conversation left so far, for a session that has to go on without it. Left out: nothing more is known. */
  recall?: (sessionKey: string) => Promise<string | undefined>;
  /** How long to wait for whoever has the session open before going on with a copy. */
  heldWaitMs?: number;
}

/** A run of ours that is ending is gone by then; a person at a terminal is not. */
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
      yield* noteLostId(turn, request);
      if (isCompactionOfNothing(turn, request)) {
        yield { type: "notice", text: "There is nothing to shorten yet." };
        return;
      }
      const stop = new AbortController();
      const stopped = AbortSignal.any([signal, stop.signal]);
      const queue = createEventQueue();
      const translator = createTurnTranslator(options.clock);
      const over = spawn(options, request, {
        recall: async () => await recall(options, turn.sessionKey),
        signal: stopped,
        onMessage: (message) => queue.push(translator.read(message)),
        onEvent: (event) => queue.push(noticesOf(event, request)),
      }).finally(() => queue.close());
      // Its failure is awaited below; a reader that leaves early must not make it an unhandled one.
      over.catch(() => undefined);
      const run = { stop, over };
      running.add(run);
      try {
        yield* queue;
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

/** It may fail: the conversation goes on with what its record says. */
async function recall(options: ClaudeCodeEngineOptions, sessionKey: string): Promise<string | undefined> {
  try {
    return await options.recall?.(sessionKey);
  } catch (error) {
    options.logger.warn("What a conversation left cannot be told", { sessionKey, error });
    return undefined;
  }
}

/** An id that is none of Claude Code's: another program wrote it. */
function* noteLostId(turn: EngineTurn, { resumes, hasPast }: RunRequest): Generator<EngineEvent> {
  if (turn.engineSessionId !== undefined && resumes === undefined && hasPast)
    yield { type: "notice", text: BEGUN_ANEW };
}

const BEGUN_ANEW =
  "Claude Code no longer has this conversation: it goes on in a fresh session that was told what Holdfast knows of it.";

function isCompactionOfNothing({ text }: EngineTurn, { resumes }: RunRequest): boolean {
  return resumes === undefined && isCompaction(text);
}

type Watch = Required<Pick<SpawnOptions, "recall" | "signal" | "onMessage" | "onEvent">>;

/** In the conversation's session; in a copy of it when somebody else has it open and keeps it. */
async function spawn(
  { runner: openRunner, heldWaitMs = HELD_WAIT_MS, logger }: ClaudeCodeEngineOptions,
  { options, resumes }: RunRequest,
  watch: Watch,
): Promise<ClaudeCodeResult> {
  const runner = await openRunner();
  try {
    return await runner.spawnClaudeCode({ ...options, ...watch, onRunning: "queue", queueTimeoutMs: heldWaitMs });
  } catch (error) {
    if (resumes === undefined || !(error instanceof HoldfastError) || error.kind !== "locked") throw error;
    logger.warn("A session is in use; the conversation goes on in a copy", { sessionId: resumes, error });
    const { resume: _taken, ...rest } = options;
    return await runner.spawnClaudeCode({ ...rest, ...watch, fork: resumes });
  }
}

function noticesOf(event: RunnerEvent, { hasPast }: RunRequest): EngineEvent[] {
  switch (event.type) {
    case "fallback":
      // Of a conversation that had not begun nothing is lost.
      return hasPast ? [{ type: "notice", text: BEGUN_ANEW }] : [];
    case "started":
      return event.how === "fork" ? [{ type: "notice", text: ON_A_COPY }] : [];
    case "second-writer":
      return [{ type: "notice", text: event.text }];
    default:
      return [];
  }
}

const ON_A_COPY =
  "Somebody has this conversation open in another `claude`: it goes on here in a copy, which does not see what is said there.";

/** What was left unsaid, what the turn cost, and how it ended. */
async function* conclude(
  translator: TurnTranslator,
  over: Promise<ClaudeCodeResult>,
  stopped: AbortSignal,
): AsyncGenerator<EngineEvent> {
  let result: ClaudeCodeResult;
  try {
    result = await over;
  } catch (error) {
    // Stopped before anything was sent.
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
