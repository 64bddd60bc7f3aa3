/**
 * One turn, from messages to payloads, under the session's lease. What a person said is on disk before
 * any engine sees it, what the engine said is on disk before it is asked for more, and the whole turn is
 * on disk before its payloads are returned. A turn that is begun again after a crash goes on from what
 * it finds; when five processes have died in it, the person is told instead.
 *
 * It resolves for everything that an engine can do. It rejects when the session cannot be written: the
 * lease is lost, the disk is full, the store is gone. Then nothing was promised to anybody.
 */
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import type { ContentBlock } from "../transcript/entries.ts";
import type { TranscriptLog } from "../transcript/log.ts";
import { contentText } from "../transcript/text.ts";
import { flushWords } from "./flush-memory.ts";
import { answerTurn } from "./run/answer-turn.ts";
import { createAssistantMessage } from "./run/assistant-message.ts";
import { type BegunTurn, beginTurn } from "./run/begin-turn.ts";
import { failureText } from "./run/failure-text.ts";
import { askForOffer, askForSpare, confirmAgain, confirmOffer, offerAgain, offerBlock } from "./run/hand-over.ts";
import { leftInProgress } from "./run/left-in-progress.ts";
import { willShorten } from "./run/make-room.ts";
import { openTurnLog } from "./run/open-log.ts";
import { deliverable, settleTurn, textOf } from "./run/settle-turn.ts";
import { type TurnBody, buildTurnBody } from "./run/turn-body.ts";
import { createTurnRecord } from "./run/turn-record.ts";
import { type TurnTrace, findTurn } from "./run/turn-trace.ts";
import { usageOf } from "./run/usage-of.ts";
import type { TurnRequest, TurnResult } from "./turn.ts";

/**
 * How often the engine is asked again for one message. What it said before its process died was paid for,
 * and it may be what the process died of. An attempt that did not get as far as the engine does not count.
 */
const MOST_REPEATS = 4;

export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  const { parts, held, turnId, attempt } = request;
  const trace = attempt > 1 ? await findTurn(parts.agent, held.lease.key, turnId) : undefined;
  const begun = await beginTurn(request, trace);
  faultPoint("turn.initialised");
  // A new message is kept while the entry is written; whatever else there is to do comes after it.
  if (trace !== undefined) await begun.written;
  if (trace?.complete === true) return await deliverAgain(request, begun, trace);
  if (trace?.steered === true) return { outcome: "silent", session: begun.session, payloads: [] };

  const { sessionKey, isGroup, transcriptPath, sessionEntry: entry } = begun.session;
  const body =
    trace?.asked === undefined
      ? await buildTurnBody({ request, sessionKey, isGroup, messages: begun.messages })
      : { text: trace.asked, said: trace.asked };
  if (body === undefined) return await nothingAsked(request, begun);

  const mayOffer = trace?.asked === undefined && request.isHeartbeat !== true;
  const isFirst = begun.session.windowReason === "initial";
  const offer = mayOffer ? await askForOffer(parts, { sessionKey, entry, isFirst }) : undefined;
  const content: ContentBlock[] = [
    ...(offer === undefined ? [] : [offerBlock(offer)]),
    { type: "text", text: body.text },
  ];
  await using log = await openTurnLog(parts, held, transcriptPath);
  const mayShorten = mayOffer && (await willShorten(parts, { entry, log }, body.text));
  const spare = mayShorten ? await askForSpare(parts, { sessionKey, entry }) : undefined;
  if (trace?.asked === undefined) await writeMessage(request, log, content, body);
  await begun.written;
  faultPoint("turn.message-written");
  await confirmOffer(parts, offer);
  if (trace?.handedOver === true) await confirmAgain(parts, { sessionKey, entry });
  await parts.systemEvents.acknowledgeSystemEvents(sessionKey, turnId);
  if (trace?.asked !== undefined) {
    if (trace.repeats >= MOST_REPEATS) return await giveUp(request, begun, log, trace);
    await createTurnRecord(log, turnId).repeated();
    if (!trace.handedOver && request.isHeartbeat !== true) await offerAgain(parts, log, { sessionKey, entry });
  }
  return await answerTurn({ request, begun, log, text: contentText(content), trace, spare });
}

async function writeMessage(
  { parts, turnId, isHeartbeat }: TurnRequest,
  log: TranscriptLog,
  content: ContentBlock[],
  { said, attachments }: TurnBody,
): Promise<void> {
  const files = attachments === undefined ? {} : { attachments };
  const message = { role: "user" as const, content, ...files, timestamp: parts.agent.clock.now() };
  const marks = {
    ...(said === contentText(content) ? {} : { said }),
    ...(isHeartbeat === true ? { heartbeat: true } : {}),
  };
  await log.append([{ type: "message", turnId, ...marks, message }]);
  await log.sync();
}

/** The answer was on disk when the process died; only its delivery is missing. */
async function deliverAgain(request: TurnRequest, begun: BegunTurn, trace: TurnTrace): Promise<TurnResult> {
  const { words, flush, asked } = trace;
  const { parts, turnId } = request;
  await parts.systemEvents.acknowledgeSystemEvents(begun.session.sessionKey, turnId);
  const flushed = begun.flushed.length > 0 ? begun.flushed : flushWords(flush.messages);
  return await settleTurn(request, begun, {
    words,
    flushed,
    // The tokens of an answer in an earlier window say nothing about this one.
    usage: asked === undefined ? undefined : usageOf(words.messages),
    compactions: 0,
    aborted: false,
  });
}

/** A bare reset, or a message without any content. */
async function nothingAsked(request: TurnRequest, begun: BegunTurn): Promise<TurnResult> {
  await begun.written;
  const { session, model, flushed } = begun;
  const described = { session, ...(model === undefined ? {} : { model }) };
  if (!session.resetTriggered) return { ...described, outcome: "silent", payloads: [] };
  const named = model === undefined ? "" : ` with ${model.provider}/${model.model}`;
  const left = await leftInProgress(request, begun);
  const begins = [`A new conversation has begun${named}.`, ...(left === undefined ? [] : [left])].join("\n");
  const told = (await begun.hooks.take()).map((text) => ({ text }));
  const payloads = deliverable(request, begun, [...flushed, ...told, { text: begins }]);
  const text = textOf(payloads);
  return { ...described, outcome: "command", payloads, ...(text === "" ? {} : { text }) };
}

async function giveUp(
  request: TurnRequest,
  begun: BegunTurn,
  log: TranscriptLog,
  trace: TurnTrace | undefined,
): Promise<TurnResult> {
  const { parts, turnId } = request;
  const error = new HoldfastError(
    "unavailable",
    "turn-cut-short",
    "Your message could not be answered: the process that was answering it ended unexpectedly, five times.",
    { hint: "Send it again if you still want an answer.", data: { turnId } },
  );
  parts.agent.logger.error("a turn was cut short five times and is given up", {
    key: begun.session.sessionKey,
    turnId,
  });
  const record = createTurnRecord(log, turnId, trace?.words);
  const timestamp = parts.agent.clock.now();
  const errorMessage = failureText(error);
  await record.say(
    createAssistantMessage({ text: "", model: undefined, stopReason: "error", errorMessage, timestamp }),
  );
  await log.sync();
  faultPoint("turn.answered");
  return await settleTurn(request, begun, {
    words: record.words,
    flushed: [],
    usage: undefined,
    compactions: 0,
    aborted: false,
    error,
  });
}
