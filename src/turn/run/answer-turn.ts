/**
 * The part of a turn in which the engine speaks. A conversation that turns out to be too long for it is
 * shortened and asked once more. However it ends, the end stands in the transcript before it is told.
 */
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import type { EngineUsage } from "../../engine/engine.ts";
import type { Offer } from "../../handoff/handoff.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import { isFlushEntry } from "../../transcript/turn-mark.ts";
import { canCompact, isContextTooLong } from "../compact-session.ts";
import { flushWords } from "../flush-memory.ts";
import type { TurnRequest, TurnResult } from "../turn.ts";
import { createAssistantMessage } from "./assistant-message.ts";
import type { BegunTurn } from "./begin-turn.ts";
import { estimateTokens } from "../../transcript/estimate-tokens.ts";
import { failureText } from "./failure-text.ts";
import { type Room, makeRoom, shorten } from "./make-room.ts";
import { modelOf, rememberEngineSession } from "./own-entry.ts";
import { type EngineRunResult, runEngine } from "./run-engine.ts";
import { settleTurn } from "./settle-turn.ts";
import { type TurnRecord, createTurnRecord } from "./turn-record.ts";
import type { TurnTrace } from "./turn-trace.ts";
import { type TurnWatch, createTurnWatch } from "./turn-watch.ts";
import { usageOf } from "./usage-of.ts";

export interface AnswerRequest {
  request: TurnRequest;
  begun: BegunTurn;
  log: TranscriptLog;
  /** What the engine reads of the person's message. */
  text: string;
  trace: TurnTrace | undefined;
  /** What is to be told if the conversation is shortened. */
  spare: Offer | undefined;
}

export async function answerTurn(answer: AnswerRequest): Promise<TurnResult> {
  const { request, begun, log, trace } = answer;
  const { held, turnId, itemId } = request;
  const { sessionKey } = begun.session;
  const watch = createTurnWatch({ agentId: request.parts.agent.agentId, sessionKey, itemId }, request.emit);
  const record = createTurnRecord(log, turnId, trace?.words);

  const { run, room, context } = await askEngine(answer, record, watch);
  // Another process has the session now; what is left to do is its part.
  if (held.signal.aborted) throw held.signal.reason;
  await sayLastWords(request, record, run, room.entry);
  await log.sync();
  faultPoint("turn.answered");
  // What an earlier attempt let the agent say is told once, whether or not it is asked again.
  const flushed = [...begun.flushed, ...(room.flushed ?? [])];
  const usage = run.usage ?? usageOf(record.words.messages);
  return await settleTurn(request, begun, {
    words: record.words,
    flushed: flushed.length > 0 ? flushed : flushWords(trace?.flush.messages ?? []),
    usage,
    ...(countsTokens(usage) ? {} : { estimate: estimateTokens([...context, ...record.words.messages]) }),
    compactions: run.compactions,
    aborted: run.ending.kind === "aborted",
    ...(run.ending.kind === "failed" ? { error: run.ending.error } : {}),
  });
}

async function askEngine(
  answer: AnswerRequest,
  record: TurnRecord,
  watch: TurnWatch,
): Promise<{ run: EngineRunResult; room: Room; context: TranscriptMessage[] }> {
  const { request, begun, log, trace } = answer;
  const { session, workspace } = begun;
  const place = { request, sessionKey: session.sessionKey, log, watch, trace, hooks: begun.hooks, spare: answer.spare };
  let context = await conversation(log);
  const room = await makeRoom({ ...place, entry: session.sessionEntry }, context);
  if (room.compacted) context = await conversation(log);
  if (workspace.error !== undefined) return { run: failedBefore(workspace.error), room, context };

  const run = await runEngine(engineRun(answer, { messages: context, entry: room.entry, record, watch }));
  const isTooLong = run.ending.kind === "failed" && isContextTooLong(run.ending.error);
  if (!isTooLong || !canCompact(request.parts.engine) || request.signal.aborted) return { run, room, context };
  if (!(await shorten({ ...place, entry: room.entry }, "by-half"))) return { run, room, context };
  context = await conversation(log);
  const again = await runEngine(engineRun(answer, { messages: context, entry: room.entry, record, watch }));
  return { run: again, room, context };
}

/** What the engine reads: everything but the turns in which memory was saved. */
async function conversation(log: TranscriptLog): Promise<TranscriptMessage[]> {
  return (await log.context({ omit: isFlushEntry })).messages;
}

/** Some servers count nothing and say zero. */
function countsTokens(usage: EngineUsage | undefined): boolean {
  return usage !== undefined && usage.input + usage.cacheRead + usage.cacheWrite > 0;
}

function failedBefore(error: unknown): EngineRunResult {
  return { ending: { kind: "failed", error }, unsaid: "", usage: undefined, compactions: 0 };
}

function engineRun(
  { request, begun, text }: AnswerRequest,
  {
    messages,
    entry,
    record,
    watch,
  }: { messages: TranscriptMessage[]; entry: SessionEntry; record: TurnRecord; watch: TurnWatch },
): Parameters<typeof runEngine>[0] {
  const { parts, held } = request;
  const { agent, config, engine } = parts;
  const { sessionKey, sessionId } = begun.session;
  const seconds = config.turns.timeoutSeconds;
  return {
    engine,
    turn: {
      agentId: agent.agentId,
      sessionKey,
      sessionId,
      kind: request.isHeartbeat === true ? "heartbeat" : "message",
      text,
      context: messages,
      system: begun.workspace.prompt?.system ?? "",
      model: modelOf(entry, config, agent.agentId),
      thinking: entry.thinkingLevel,
      workspace: agent.workspace,
      engineSessionId: entry.sdkSessionId,
    },
    record,
    watch,
    now: () => agent.clock.now(),
    signal: AbortSignal.any([request.signal, held.signal]),
    timeLimit: { ms: seconds * 1000, error: () => tooSlow(seconds) },
    onSession: async (id) =>
      await rememberEngineSession({ agent, held, sessionKey, sessionId }, entry.sdkSessionId, id),
    onCompaction: () => begun.hooks.beside({ parts, sessionKey, event: "session:compact", entry, reason: "engine" }),
  };
}

/** What came in pieces and was cut off, and what went wrong, so that the transcript tells all of it. */
async function sayLastWords(
  { parts }: TurnRequest,
  record: TurnRecord,
  { ending, unsaid }: EngineRunResult,
  entry: SessionEntry,
): Promise<void> {
  const { agent, config } = parts;
  const common = { text: unsaid, model: modelOf(entry, config, agent.agentId), timestamp: agent.clock.now() };
  if (ending.kind === "failed") {
    agent.logger.warn("an engine failed", { engine: parts.engine.name, error: ending.error });
    const errorMessage = failureText(ending.error);
    await record.say(createAssistantMessage({ ...common, stopReason: "error", errorMessage }));
  } else if (unsaid.trim() !== "") {
    await record.say(createAssistantMessage({ ...common, stopReason: ending.kind === "done" ? "stop" : "aborted" }));
  }
}

function tooSlow(seconds: number): HoldfastError {
  return new HoldfastError(
    "timeout",
    "turn-timeout",
    `Your message was not answered within ${seconds} s and was given up`,
    {
      hint: "Ask again, or for less at a time; turns.timeoutSeconds sets the limit.",
    },
  );
}
