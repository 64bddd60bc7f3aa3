/**
 * One turn, from messages to payloads, under the session's lease: begin, write the message, ask the engine,
 * settle. The person's message is on disk before the engine sees it, each message of the engine is on disk
 * before it is asked to continue, and the whole turn is on disk before its payloads are returned. A turn that
 * is repeated after a crash continues from the transcript, in the window that has its message.
 *
 * `runTurn` resolves for every failure of an engine. It rejects when the session cannot be written: the
 * lease is lost, the disk is full, the store is gone.
 */
import { faultPoint } from "../../base/faults.ts";
import { isExpired } from "../../handoff/kept-state.ts";
import type { ContentBlock } from "../../transcript/entries.ts";
import type { TranscriptLog } from "../../transcript/log.ts";
import { type TurnBody, buildTurnBody, resetWord } from "../body/body.ts";
import type { TurnRequest, TurnResult } from "../pipeline.ts";
import { failedResult, failureText, turnArchived } from "../turn-errors.ts";
import { answerTurn, willCompact } from "./answer-turn.ts";
import { type Turn, beginTurn } from "./begin-turn.ts";
import { flushWords } from "./flush-memory.ts";
import { askForOffer, askForSpare, captureWindow, confirmOffer, offerBlock, offerInTurn } from "./hooks-and-handoff.ts";
import { deliverable, settleTurn } from "./settle-turn.ts";
import { createAssistantMessage, createTurnRecord, noteDraft, openTurnLog, usageOf } from "./turn-record.ts";
import { type TurnTrace, findTurn } from "./turn-trace.ts";
import { printableLine } from "../../base/text.ts";
import { contentText } from "../../transcript/messages.ts";

export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  const { parts, held, turnId, attempt } = request;
  const trace = attempt > 1 ? await findTurn(parts.agent, held.lease.key, turnId) : undefined;
  const turn = await beginTurn(request, trace);
  faultPoint("turn.initialised");
  // A new message is written to the transcript while the entry is being written.
  if (trace !== undefined) await turn.written;
  if (trace?.complete === true) return await deliverAgain(turn, trace);
  if (trace?.steered === true) return { outcome: "silent", session: turn.session, payloads: [] };
  if (trace?.place?.isArchived === true) return failedTurn(turn, turnArchived());
  if (trace?.asked !== undefined) return await continueTurn(turn, trace, trace.asked);
  const body = await buildTurnBody(turn);
  return body === undefined ? await endWithoutQuestion(turn) : await askTurn(turn, body);
}

async function askTurn(turn: Turn, body: TurnBody): Promise<TurnResult> {
  const { parts, held, turnId, session } = turn;
  const { sessionKey, sessionEntry: entry } = session;
  const mayOffer = turn.isHeartbeat !== true;
  const isFirst = session.windowReason === "initial";
  const offer = mayOffer ? await askForOffer(parts, { sessionKey, entry, isFirst }) : undefined;
  const content: ContentBlock[] = [
    ...(offer === undefined ? [] : [offerBlock(offer)]),
    { type: "text", text: body.text },
  ];
  await using log = await openTurnLog(parts, held, entry);
  const needsSpare = mayOffer && (await willCompact(turn, log, body.text));
  const spare = needsSpare ? await askForSpare(parts, { sessionKey, entry }) : undefined;
  const told = await writeMessage(turn, log, content, body);
  await turn.written;
  faultPoint("turn.message-written");
  await confirmOffer(parts, offer);
  if (body.hasEvents) await parts.agent.store.systemEvents.acknowledgeSystemEvents(sessionKey, turnId);
  return await answerTurn({ ...turn, log, text: contentText(content), told, spare });
}

async function continueTurn(turn: Turn, trace: TurnTrace, text: string): Promise<TurnResult> {
  const { parts, held, turnId, session } = turn;
  const { sessionKey, sessionEntry: entry } = session;
  await using log = await openTurnLog(parts, held, entry);
  faultPoint("turn.message-written");
  // Hand-offs are offered only in the session's current window.
  const isCurrent = trace.place === undefined;
  // The message has the hand-off, but the process may have died before that was marked.
  if (isCurrent && trace.handedOver) await confirmOffer(parts, await askForOffer(parts, { sessionKey, entry }));
  await parts.agent.store.systemEvents.acknowledgeSystemEvents(sessionKey, turnId);
  // The process may have died after the compaction and before the offer.
  const mayOffer = isCurrent && !trace.handedOver && turn.isHeartbeat !== true;
  if (mayOffer && (entry.compactionCount ?? 0) > 0) await offerInTurn(parts, log, { sessionKey, entry }, undefined);
  return await answerTurn({ ...turn, log, text, told: [], spare: undefined });
}

/** A message that waited longer keeps the time when it was sent. */
const WAITED_MS = 60_000;

/** Resolves to notices about the transcript itself: a part of it was lost. */
async function writeMessage(
  { parts, turnId, isHeartbeat, messages }: TurnRequest,
  log: TranscriptLog,
  content: ContentBlock[],
  { said, attachments }: TurnBody,
): Promise<string[]> {
  const timestamp = parts.agent.clock.now();
  const sent = messages.at(-1)?.Timestamp ?? timestamp;
  const sentAt = timestamp - sent >= WAITED_MS ? sent : undefined;
  const message = { role: "user" as const, content, attachments, sentAt, timestamp };
  const marks = {
    said: said === contentText(content) ? undefined : said,
    heartbeat: isHeartbeat === true ? true : undefined,
  };
  const notices = log.untold === undefined || isHeartbeat === true ? [] : [log.untold];
  const notes = notices.map((notice) => noteDraft({ turnId, notice }));
  await log.append([{ type: "message", turnId, ...marks, message }, ...notes]);
  await log.sync();
  return notices;
}

/** The answer was complete when the process died, but not delivered. */
async function deliverAgain(turn: Turn, { words, flush, place }: TurnTrace): Promise<TurnResult> {
  await turn.parts.agent.store.systemEvents.acknowledgeSystemEvents(turn.session.sessionKey, turn.turnId);
  return await settleTurn(turn, {
    words,
    flushed: turn.flushed.length > 0 ? turn.flushed : flushWords(flush.messages),
    // The token count of an earlier window does not apply to the current one.
    usage: place === undefined ? usageOf(words) : undefined,
    compactions: 0,
    aborted: false,
  });
}

function failedTurn({ session }: Turn, error: unknown): TurnResult {
  return { session, ...failedResult(error) };
}

/** A reset without a question, or a message without content. */
async function endWithoutQuestion(turn: Turn): Promise<TurnResult> {
  await turn.written;
  const { session, model, flushed } = turn;
  if (!session.resetTriggered) return { session, model, outcome: "silent", payloads: [] };
  const named = model === undefined ? "" : ` with ${model.provider}/${model.model}`;
  const inProgress = await describeInProgress(turn);
  const begins = [`A new conversation has begun${named}.`, ...inProgress].join("\n");
  const notices = (await turn.hooks.take()).map((text) => ({ text }));
  const replies = deliverable(turn, [...flushed, ...notices, { text: begins }]);
  return { session, model, outcome: "command", ...replies };
}

const MAX_TASK = 160;

/** One line about the task that the reset interrupted, unless it is too old to be offered. */
async function describeInProgress({ parts, session }: Turn): Promise<string[]> {
  const { sessionKey, previousSessionEntry: left, sessionCtx } = session;
  if (left === undefined) return [];
  const reason = resetWord(sessionCtx, parts.config.session.resetTriggers);
  const state = await captureWindow(parts, sessionKey, left, reason);
  if (state === undefined || !state.resumeAvailable || state.previousSessionId !== left.sessionId) return [];
  const [task] = state.summary.inProgress;
  if (task === undefined || isExpired(state, parts.agent.clock.now())) return [];
  const shown = printableLine(task, MAX_TASK).replace(/[.\s]+$/, "");
  return [`You were working on: ${shown}. Keep typing to continue, or see /handoff.`];
}

/**
 * Ends a turn that is not tried again: the message and the reason go into the transcript, and the sender gets
 * the reason. No engine, hook or memory flush runs, because one of them may have ended the processes. An
 * answer that was complete when the last process died is delivered instead.
 */
export async function giveUpTurn(request: TurnRequest, error: unknown): Promise<TurnResult> {
  const { parts, held, turnId } = request;
  const trace = await findTurn(parts.agent, held.lease.key, turnId);
  const turn = await beginTurn(request, trace, { isQuiet: true });
  if (trace.complete) return await deliverAgain(turn, trace);
  if (trace.place?.isArchived === true) return failedTurn(turn, error);

  const isWritten = trace.asked !== undefined;
  const body = isWritten ? undefined : await buildTurnBody(turn);
  if (!isWritten && body === undefined) return failedTurn(turn, error);
  const { sessionKey, sessionEntry } = turn.session;
  await using log = await openTurnLog(parts, held, sessionEntry);
  if (body !== undefined) await writeMessage(turn, log, [{ type: "text", text: body.text }], body);
  await parts.agent.store.systemEvents.acknowledgeSystemEvents(sessionKey, turnId);
  const record = createTurnRecord(log, turnId, trace.words);
  await record.givenUp();
  const timestamp = parts.agent.clock.now();
  const errorMessage = failureText(error);
  await record.say(
    createAssistantMessage({ text: "", model: undefined, stopReason: "error", errorMessage, timestamp }),
  );
  await log.sync();
  const { words } = record;
  const nothing = { flushed: [], usage: undefined, compactions: 0, aborted: false };
  return await settleTurn(turn, { ...nothing, words, end: log.end, error });
}
