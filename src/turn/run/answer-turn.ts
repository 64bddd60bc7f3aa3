/**
 * The part of a turn in which the engine answers. Before the context window is full, the agent saves its
 * memory, and Holdfast compacts the conversation if the engine does not. A conversation that turns out to be
 * too long is compacted and tried once more. The end of the run is in the transcript before it is reported.
 */
import { faultPoint } from "../../base/faults.ts";
import type { Offer } from "../../handoff/handoff.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import type { TurnResult } from "../pipeline.ts";
import { failureText, isFenced, turnTooSlow } from "../turn-errors.ts";
import type { Turn } from "./begin-turn.ts";
import { type CompactOutcome, canCompact, compactWindow, findWindowCut, isContextTooLong } from "./compact.ts";
import { flushMemory, flushWords, memoryFlushMargins, shouldRunMemoryFlush } from "./flush-memory.ts";
import { offerInTurn } from "./hooks-and-handoff.ts";
import { type EngineRunResult, runInSession } from "./run-engine.ts";
import { answerSoFar, maySend, settleTurn } from "./settle-turn.ts";
import { MAX_TOOL_LINES, isShown, isVerbose, toolLine } from "../reply/levels.ts";
import type { ReplyPayload } from "../reply/payloads.ts";
import {
  type TurnRecord,
  type TurnWatch,
  contextWindowOf,
  createAssistantMessage,
  createTurnRecord,
  createTurnWatch,
  modelOf,
  usageOf,
} from "./turn-record.ts";
import { estimateTokens, textTokens, isFlushEntry } from "../../transcript/messages.ts";

/** A turn whose message is in the transcript. */
export interface WrittenTurn extends Turn {
  log: TranscriptLog;
  text: string;
  /** Notices for the person that are in the transcript already. */
  told: readonly string[];
  /** The hand-off to offer if the conversation is compacted. Default: computed then. */
  spare: Offer | undefined;
}

interface AnsweringTurn extends WrittenTurn {
  record: TurnRecord;
  watch: TurnWatch;
}

export async function answerTurn(written: WrittenTurn): Promise<TurnResult> {
  const { parts, held, turnId, itemId, log, trace, told, session } = written;
  const name = { agentId: parts.agent.agentId, sessionKey: session.sessionKey, itemId };
  const record = createTurnRecord(log, turnId, trace?.words);
  const watch = createTurnWatch(name, written.emit);
  const turn: AnsweringTurn = { ...written, record, watch };
  for (const text of told) watch.notice(text);
  record.words.notices.push(...told);

  const { run, room, context } = await askEngine(turn);
  // Another process has the session now and continues the turn.
  if (held.signal.aborted) throw held.signal.reason;
  await writeLastWords(turn, run, room.entry);
  await log.sync();
  faultPoint("turn.answered");
  // Without a flush in this attempt, the messages from the flush of an earlier attempt are delivered.
  const flushed = [...turn.flushed, ...room.flushed];
  const usage = run.usage ?? usageOf(record.words);
  // Some servers report zero tokens because they count none.
  const isCounted = usage !== undefined && usage.input + usage.cacheRead + usage.cacheWrite > 0;
  return await settleTurn(turn, {
    words: record.words,
    flushed: flushed.length > 0 ? flushed : flushWords(trace?.flush.messages ?? []),
    usage,
    estimate: isCounted ? undefined : estimateTokens([...context, ...record.words.messages]),
    compactions: run.compactions,
    aborted: run.ending.kind === "aborted",
    end: log.end,
    error: run.ending.kind === "failed" ? run.ending.error : undefined,
  });
}

async function askEngine(turn: AnsweringTurn) {
  const { log, workspace } = turn;
  let context = await readConversation(log);
  const room = await makeRoom(turn, context);
  if (room.compacted) context = await readConversation(log);
  if (workspace.error !== undefined) {
    const ending: EngineRunResult["ending"] = { kind: "failed", error: workspace.error };
    return { run: { ending, unsaid: "", usage: undefined, compactions: 0 }, room, context };
  }

  const run = await askOnce(turn, room.entry, context);
  const isTooLong = run.ending.kind === "failed" && isContextTooLong(run.ending.error);
  if (!isTooLong || !canCompact(turn.parts.engine) || turn.signal.aborted) return { run, room, context };
  if (!(await compactInTurn(turn, room.entry, "by-half"))) return { run, room, context };
  context = await readConversation(log);
  return { run: await askOnce(turn, room.entry, context), room, context };
}

/** Everything except memory flushes. */
async function readConversation(log: TranscriptLog): Promise<TranscriptMessage[]> {
  return (await log.context({ omit: isFlushEntry })).messages;
}

async function askOnce(turn: AnsweringTurn, entry: SessionEntry, context: TranscriptMessage[]) {
  const { parts, hooks, session, text } = turn;
  const { sessionKey } = session;
  const seconds = parts.config.turns.timeoutSeconds;
  const kind = turn.isHeartbeat === true ? "heartbeat" : "message";
  await using live = createLiveAnswer(turn, entry);
  return await runInSession({
    ...turn,
    sessionKey,
    entry,
    question: { kind, text, context, system: turn.workspace.prompt?.system ?? "" },
    timeLimit: { ms: seconds * 1000, error: () => turnTooSlow(seconds) },
    onCompaction: () => hooks.inBackground({ parts, sessionKey, event: "session:compact", entry, reason: "engine" }),
    onTool: toolTeller(turn, entry),
    onText: live?.take,
  });
}

/** A quick answer is sent once, when it is complete. */
const STREAM_AFTER_MS = 1000;

/** Shows an answer that takes longer in the chat while it grows. Thoughts come before the answer, so it waits for them. */
function createLiveAnswer(turn: AnsweringTurn, { reasoningLevel }: SessionEntry) {
  const { blocks, isHeartbeat, record, parts } = turn;
  if (blocks?.canShow !== true || isHeartbeat === true || isShown(reasoningLevel) || !maySend(turn)) return undefined;
  let unsaid = "";
  let timer: NodeJS.Timeout | undefined;
  let streaming: Promise<AsyncDisposable | undefined> | undefined;
  const begin = async (): Promise<AsyncDisposable | undefined> => {
    const [{ completePart, streamAnswer }, opened] = await Promise.all([
      import("../reply/chat-blocks.ts"),
      blocks.open(),
    ]);
    const payloads = (): ReplyPayload[] => answerSoFar(turn, record.words, completePart(unsaid)).payloads;
    return opened && streamAnswer(opened, payloads, parts.agent.clock);
  };
  return {
    take: (text: string): void => {
      unsaid = text;
      timer ??= setTimeout(() => {
        streaming = begin().catch((error: unknown) => {
          parts.agent.logger.warn("an answer cannot be streamed", { key: turn.session.sessionKey, error });
          return undefined;
        });
      }, STREAM_AFTER_MS);
    },
    [Symbol.asyncDispose]: async () => {
      clearTimeout(timer);
      await (await streaming)?.[Symbol.asyncDispose]();
    },
  };
}

/** Shows tools as they start: in the chat, and to clients. A line that cannot be sent must not fail the turn. */
function toolTeller(turn: AnsweringTurn, entry: SessionEntry) {
  const { tell, parts } = turn;
  if (!isVerbose(entry) || turn.isHeartbeat === true || !maySend(turn)) return undefined;
  let lines = 0;
  return async (tool: { id: string; name: string; input: unknown }): Promise<string | undefined> => {
    lines += 1;
    if (lines > MAX_TOOL_LINES) return undefined;
    const text = lines === MAX_TOOL_LINES ? "→ … more tools are not shown." : toolLine(tool);
    await tell?.(`tool:${tool.id}`, text).catch((error: unknown) => {
      parts.agent.logger.warn("a tool could not be shown in the chat", { key: turn.session.sessionKey, error });
    });
    return text;
  };
}

/** Writes streamed text that was cut off, and the error, so that the transcript is complete. */
async function writeLastWords(
  { parts, record }: AnsweringTurn,
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

/** A failure here must not prevent the answer. */
async function makeRoom(turn: AnsweringTurn, context: readonly TranscriptMessage[]) {
  const { agent, config, engine } = turn.parts;
  const { sessionKey, sessionEntry: entry } = turn.session;
  const contextWindowTokens = contextWindowOf(entry, config, agent.agentId);
  const margins = memoryFlushMargins(contextWindowTokens);
  const { totalTokens: counted = 0 } = entry;
  // The model's last count plus the new message, or an estimate of everything.
  const totalTokens = counted > 0 ? counted + estimateTokens(context.slice(-1)) : estimateTokens(context);

  const mayFlush = shouldRunMemoryFlush({ entry: { ...entry, totalTokens }, contextWindowTokens, ...margins });
  const flush = { ...turn, sessionKey, entry, occasion: "compaction" as const, before: turn };
  const flushed = mayFlush ? await flushMemory(flush) : [];
  const isFull = isTooMuch(totalTokens, contextWindowTokens);
  const compacted = isFull && canCompact(engine) && (await compactInTurn(turn, entry, "to-fit"));
  if (!mayFlush && !compacted) return { entry, compacted, flushed };
  const current = await agent.store.get(sessionKey);
  return { entry: current?.sessionId === entry.sessionId ? current : entry, compacted, flushed };
}

function isTooMuch(tokens: number, contextWindowTokens: number): boolean {
  return tokens > contextWindowTokens - memoryFlushMargins(contextWindowTokens).reserveTokensFloor;
}

/** Predicts, before the message is written, whether it makes Holdfast compact the conversation. */
export async function willCompact({ parts, session }: Turn, log: TranscriptLog, text: string): Promise<boolean> {
  const { sessionEntry: entry } = session;
  const { totalTokens = 0 } = entry;
  if (totalTokens === 0 || !canCompact(parts.engine)) return false;
  const contextWindowTokens = contextWindowOf(entry, parts.config, parts.agent.agentId);
  if (!isTooMuch(totalTokens + textTokens(text), contextWindowTokens)) return false;
  return (await findWindowCut({ parts, entry, log, shorten: "to-fit" })) !== undefined;
}

/** Whether the conversation is shorter now. A failure becomes a notice: the engine reports what is too long. */
async function compactInTurn(turn: AnsweringTurn, entry: SessionEntry, shorten: "to-fit" | "by-half") {
  const { parts, held, signal, log, watch, spare } = turn;
  const { sessionKey } = turn.session;
  let outcome: CompactOutcome;
  try {
    outcome = await compactWindow({ ...turn, sessionKey, entry, shorten });
  } catch (error) {
    if (held.signal.aborted || isFenced(error)) throw error;
    parts.agent.logger.warn("the conversation could not be compacted", { key: sessionKey, error });
    if (!signal.aborted) watch.notice(`The conversation could not be compacted: ${failureText(error)}`);
    return false;
  }
  if (!outcome.compacted) return false;
  faultPoint("turn.shortened");
  if (outcome.entry !== undefined && turn.isHeartbeat !== true) {
    await offerInTurn(parts, log, { sessionKey, entry: outcome.entry }, spare);
  }
  return true;
}
