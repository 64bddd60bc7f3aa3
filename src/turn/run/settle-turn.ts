/**
 * The end of a turn: what its words mean for the entry and for the person. It works from what stands in
 * the transcript, so a turn whose answer was complete before a crash ends in the same way.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { EngineUsage } from "../../engine/engine.ts";
import { normalizeChatType } from "../../keys/chat-type.ts";
import { resolveSendPolicy } from "../../session/send-policy.ts";
import { tokenFields } from "../../session/usage.ts";
import type { Mutate } from "../../store/store.ts";
import { contentText } from "../../transcript/text.ts";
import { buildReplyPayloads } from "../reply/build-payloads.ts";
import type { ReplyPayload } from "../reply/payload.ts";
import type { TurnOutcome } from "../turn-events.ts";
import type { TurnRequest, TurnResult } from "../turn.ts";
import type { BegunTurn } from "./begin-turn.ts";
import { changeOwnEntry } from "./own-entry.ts";
import type { EngineMessage, TurnWords } from "./turn-record.ts";

export interface TurnEnding {
  words: TurnWords;
  /** What the agent said while it saved its memory. */
  flushed: ReplyPayload[];
  usage: EngineUsage | undefined;
  /** About how many tokens the conversation has. Left out: the usage tells. */
  estimate?: number;
  /** Those that the engine made itself. */
  compactions: number;
  aborted: boolean;
  error?: unknown;
}

export async function settleTurn(request: TurnRequest, begun: BegunTurn, ending: TurnEnding): Promise<TurnResult> {
  const { session, model } = begun;
  const { history } = request.parts;
  if (session.isGroup) await history.clear(session.sessionKey, request.turnId);
  tellHandoff(request, begun, ending);

  const told = await hookWords(request, begun);
  const payloads = ending.aborted ? [] : [...told, ...payloadsOf(request, ending)];
  const failure = lastFailure(ending.words);
  const shown = deliverable(request, begun, payloads);
  const text = textOf(shown);
  return {
    outcome: outcomeOf(ending, payloads, failure),
    session,
    payloads: shown,
    ...(text === "" ? {} : { text }),
    settle: entryChange(request, begun, ending),
    ...(ending.usage === undefined ? {} : { usage: ending.usage }),
    ...(model === undefined ? {} : { model }),
    ...(failure === undefined ? {} : { error: ending.error ?? new Error(failure) }),
  };
}

/** It captures behind the answer, when it is time. */
function tellHandoff({ parts }: TurnRequest, { session }: BegunTurn, { words, error }: TurnEnding): void {
  const results = words.messages.filter(({ role }) => role === "toolResult");
  parts.handoff?.turnEnded({
    sessionKey: session.sessionKey,
    messages: words.messages.length + 1,
    largestToolResult: Math.max(0, ...results.map(({ content }) => contentText(content).length)),
    timedOut: error instanceof HoldfastError && error.kind === "timeout",
  });
}

async function hookWords({ parts, itemId, emit }: TurnRequest, { session, hooks }: BegunTurn): Promise<ReplyPayload[]> {
  const words = await hooks.take();
  const name = { agentId: parts.agent.agentId, sessionKey: session.sessionKey, itemId };
  for (const text of words) emit({ type: "turn.notice", ...name, text });
  return words.map((text) => ({ text }));
}

function entryChange({ parts, isHeartbeat }: TurnRequest, { session }: BegunTurn, ending: TurnEnding): Mutate {
  const { agent } = parts;
  const { usage, estimate, compactions } = ending;
  return changeOwnEntry({ agent, sessionId: session.sessionId }, ({ compactionCount = 0 }) => ({
    ...(usage === undefined ? {} : { ...tokenFields(usage), model: usage.model, modelProvider: usage.provider }),
    ...(estimate === undefined ? {} : { totalTokens: estimate }),
    ...(compactions === 0 ? {} : { compactionCount: compactionCount + compactions }),
    ...(isHeartbeat === true ? {} : { lastInteractionAt: agent.clock.now() }),
    abortedLastRun: ending.aborted,
  }));
}

function payloadsOf(request: TurnRequest, { words, flushed }: TurnEnding): ReplyPayload[] {
  const { parts, turnId, replyToMode, isHeartbeat } = request;
  const currentMessageId = request.messages.at(-1)?.MessageSid;
  const { payloads, dropped } = buildReplyPayloads({
    payloads: words.messages.flatMap(wordsForPerson),
    sentByTool: words.sent,
    ...(isHeartbeat === undefined ? {} : { isHeartbeat }),
    ...(replyToMode === undefined ? {} : { replyToMode }),
    ...(currentMessageId === undefined ? {} : { currentMessageId }),
  });
  if (dropped.length > 0) {
    parts.agent.logger.debug("parts of an answer are not delivered", {
      turnId,
      reasons: dropped.map(({ reason }) => reason),
    });
  }
  return [...flushed, ...words.notices.map((text) => ({ text })), ...payloads];
}

/** More than this of an answer that failed is no help to anybody. */
const MOST_FAILED_TEXT = 20_000;

function wordsForPerson(message: EngineMessage): ReplyPayload[] {
  if (message.role !== "assistant" || message.stopReason === "aborted") return [];
  const text = contentText(message.content);
  if (message.stopReason !== "error") return [{ text }];
  const said = text === "" || text.length > MOST_FAILED_TEXT ? [] : [{ text }];
  return [...said, { text: message.errorMessage ?? "The answer failed. Try again.", isError: true }];
}

/** What the person was told of a turn that failed; undefined when it did not. */
function lastFailure({ messages }: TurnWords): string | undefined {
  const last = messages.at(-1);
  return last?.role === "assistant" && last.stopReason === "error" ? (last.errorMessage ?? "failed") : undefined;
}

function outcomeOf({ aborted }: TurnEnding, payloads: ReplyPayload[], failure: string | undefined): TurnOutcome {
  if (aborted) return "aborted";
  if (failure !== undefined) return "failed";
  return payloads.length === 0 ? "silent" : "answered";
}

/** Nothing where the session's send policy says so. */
export function deliverable(request: TurnRequest, { session }: BegunTurn, payloads: ReplyPayload[]): ReplyPayload[] {
  const { agent, config } = request.parts;
  const ctx = request.messages.at(-1) ?? {};
  const channel = ctx.OriginatingChannel ?? ctx.Provider;
  const chatType = normalizeChatType(ctx.ChatType);
  const policy = resolveSendPolicy({
    cfg: config,
    entry: session.sessionEntry,
    sessionKey: session.sessionKey,
    ...(channel === undefined ? {} : { channel }),
    ...(chatType === undefined ? {} : { chatType }),
  });
  if (policy === "allow" || payloads.length === 0) return payloads;
  const fields = { key: session.sessionKey, turnId: request.turnId, payloads: payloads.length };
  agent.logger.info("the send policy keeps an answer from being delivered", fields);
  return [];
}

export function textOf(payloads: readonly ReplyPayload[]): string {
  return payloads.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n\n");
}
