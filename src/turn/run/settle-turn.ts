/**
 * The end of a turn: the replies for the person, and the changes of the session's entry. Everything is read
 * from the transcript's messages, so that a turn whose answer was complete before a crash ends the same way.
 */
import { isDeepStrictEqual } from "node:util";
import { HoldfastError } from "../../base/errors.ts";
import type { HoldfastConfig } from "../../config/config.ts";
import type { EngineUsage } from "../../engine/engine.ts";
import { resolveSendPolicy } from "../../session/send-policy.ts";
import type { TranscriptEnd } from "../../transcript/damage.ts";
import type { AgentParts, TurnOutcome, TurnResult } from "../pipeline.ts";
import { thinkingPayload, usageLine, withUsageLine } from "../reply/levels.ts";
import type { StreamedAnswer } from "../reply/chat-blocks.ts";
import { type ReplyPayload, type ReplyResult, buildReplyPayloads } from "../reply/payloads.ts";
import type { Turn } from "./begin-turn.ts";
import { type EngineMessage, type TurnWords, changeOwnEntry } from "./turn-record.ts";
import { normalizeChatType } from "../../keys/message-context.ts";
import { tokenFields } from "../../session/entry-updates.ts";
import type { Mutate, SessionEntry } from "../../store/session-entry.ts";
import { resolveContextWindow } from "../../models/model-info.ts";
import { contentText } from "../../transcript/messages.ts";

export interface TurnEnding {
  words: TurnWords;
  flushed: ReplyPayload[];
  usage: EngineUsage | undefined;
  /** Estimated tokens of the conversation. Default: the usage. */
  estimate?: number | undefined;
  /** Compactions by the engine itself. */
  compactions: number;
  aborted: boolean;
  /** The end of the transcript on disk. Optional. */
  end?: TranscriptEnd | undefined;
  error?: unknown;
}

export async function settleTurn(turn: Turn, ending: TurnEnding): Promise<TurnResult> {
  const { parts, session, model } = turn;
  if (session.isGroup) await parts.agent.store.history.clear(session.sessionKey, turn.turnId);
  informHandoff(turn, ending);

  const notices = await hookNotices(turn);
  const replies = ending.aborted ? NOTHING : repliesOf(turn, ending);
  const failure = lastFailure(ending.words);
  const shown = ending.aborted ? undefined : await shownBlocks(turn);
  const beside = ending.aborted ? [] : [...notices, ...replies.beside];
  // The chat shows the answer already, so everything else follows it.
  const payloads = shown === undefined ? [...beside, ...replies.answer] : [...replies.answer, ...beside];
  return {
    ...deliverable(turn, payloads),
    streamed: shown && { ...shown, payloads: countShowable(replies.answer), isWhole: failure === undefined },
    outcome: outcomeOf(ending, payloads, failure),
    session,
    settle: entryChange(turn, ending),
    usage: ending.usage,
    model,
    error: failure === undefined ? undefined : (ending.error ?? new Error(failure)),
  };
}

const NOTHING: Replies = { beside: [], answer: [] };

/** Undefined: the chat shows nothing of the answer. */
async function shownBlocks({ blocks, attempt }: Turn): Promise<Pick<StreamedAnswer, "target" | "blocks"> | undefined> {
  if (blocks === undefined || (attempt === 1 && !blocks.isOpen)) return undefined;
  const opened = await blocks.open();
  const shown = (await opened?.shown()) ?? [];
  return opened === undefined || shown.length === 0 ? undefined : { target: opened.target, blocks: shown };
}

/** Errors are at the end, and never in a message with the answer. */
function countShowable(answer: readonly ReplyPayload[]): number {
  const error = answer.findIndex(({ isError }) => isError === true);
  return error === -1 ? answer.length : error;
}

/** The hand-off captures in the background when it is due. */
function informHandoff({ parts, session }: Turn, { words, error }: TurnEnding): void {
  const results = words.messages.filter(({ role }) => role === "toolResult");
  parts.handoff?.turnEnded({
    sessionKey: session.sessionKey,
    messages: words.messages.length + 1,
    largestToolResult: Math.max(0, ...results.map(({ content }) => contentText(content).length)),
    timedOut: error instanceof HoldfastError && error.kind === "timeout",
  });
}

async function hookNotices({ parts, itemId, emit, session, hooks }: Turn): Promise<ReplyPayload[]> {
  const texts = await hooks.take();
  const name = { agentId: parts.agent.agentId, sessionKey: session.sessionKey, itemId };
  for (const text of texts) emit({ type: "turn.notice", ...name, text });
  return texts.map((text) => ({ text }));
}

function entryChange({ parts, isHeartbeat, session, workspace }: Turn, ending: TurnEnding): Mutate {
  const { agent, config } = parts;
  const { usage, estimate, compactions, end } = ending;
  const { sessionId } = session;
  return changeOwnEntry(agent, sessionId, ({ compactionCount = 0 }) => ({
    ...(usage === undefined ? {} : { ...tokenFields(usage), ...modelFields(usage, config) }),
    ...(session.sessionEntry.groupActivationNeedsSystemIntro === true ? INTRODUCED : {}),
    // Aborted or failed, an engine that was asked has seen it.
    ...(workspace.prompt === undefined ? {} : { systemSent: true }),
    ...hookReport(parts, session.sessionEntry, workspace),
    ...(estimate === undefined ? {} : { totalTokens: estimate }),
    ...(compactions === 0 ? {} : { compactionCount: compactionCount + compactions }),
    ...(isHeartbeat === true ? {} : { lastInteractionAt: agent.clock.now() }),
    ...(end === undefined ? {} : { transcriptEnd: { sessionId, ...end } }),
    abortedLastRun: ending.aborted,
  }));
}

/** Hooks may change the prompt in each turn, so what it consisted of is known at the end. */
function hookReport({ hooks }: AgentParts, { systemPromptReport }: SessionEntry, { prompt }: Turn["workspace"]) {
  const report = hooks?.listens("agent:bootstrap") === true ? prompt?.report : undefined;
  const isKnown = report === undefined || isDeepStrictEqual(report, systemPromptReport);
  return isKnown ? {} : { systemPromptReport: report };
}

const INTRODUCED = { groupActivationNeedsSystemIntro: false };

/** The window of an unknown model is not guessed. */
function modelFields({ provider, model }: EngineUsage, { models }: HoldfastConfig): Partial<SessionEntry> {
  const { tokens, source } = resolveContextWindow(`${provider}/${model}`, models);
  return { model, modelProvider: provider, ...(source === "assumed" ? {} : { contextTokens: tokens }) };
}

/** `beside`: notices and thoughts. */
interface Replies {
  beside: ReplyPayload[];
  answer: ReplyPayload[];
}

function repliesOf(turn: Turn, { words, flushed, usage }: TurnEnding): Replies {
  const { parts, turnId } = turn;
  const { reasoningLevel, responseUsage } = turn.session.sessionEntry;
  const { payloads, dropped } = answerSoFar(turn, words);
  if (dropped.length > 0) {
    const reasons = dropped.map(({ reason }) => reason);
    parts.agent.logger.debug("parts of an answer are not delivered", { turnId, reasons });
  }
  const notices = words.notices.map((text) => ({ text }));
  if (payloads.length === 0) return { beside: [...flushed, ...notices], answer: [] };
  const thinking = thinkingPayload(reasoningLevel, words.messages.flatMap(thoughtsOf));
  const answer = withUsageLine(payloads, usageLine(responseUsage, usage));
  return { beside: [...flushed, ...notices, ...(thinking === undefined ? [] : [thinking])], answer };
}

/** `unsaid`: text that is not a message yet. */
export function answerSoFar({ messages, replyToMode }: Turn, words: TurnWords, unsaid = ""): ReplyResult {
  return buildReplyPayloads({
    payloads: [...words.messages.flatMap(payloadsOf), ...(unsaid === "" ? [] : [{ text: unsaid }])],
    sentByTool: words.sent,
    replyToMode,
    currentMessageId: messages.at(-1)?.MessageSid,
  });
}

function thoughtsOf({ role, content }: EngineMessage): string[] {
  if (role !== "assistant" || typeof content === "string") return [];
  return content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : []));
}

const MAX_FAILED_TEXT = 20_000;

function payloadsOf(message: EngineMessage): ReplyPayload[] {
  if (message.role !== "assistant" || message.stopReason === "aborted") return [];
  const text = contentText(message.content);
  if (message.stopReason !== "error") return [{ text }];
  const said = text === "" || text.length > MAX_FAILED_TEXT ? [] : [{ text }];
  return [...said, { text: message.errorMessage ?? "The answer failed. Try again.", isError: true }];
}

function lastFailure({ messages }: TurnWords): string | undefined {
  const last = messages.at(-1);
  return last?.role === "assistant" && last.stopReason === "error" ? (last.errorMessage ?? "failed") : undefined;
}

function outcomeOf({ aborted }: TurnEnding, payloads: ReplyPayload[], failure: string | undefined): TurnOutcome {
  if (aborted) return "aborted";
  if (failure !== undefined) return "failed";
  return payloads.length === 0 ? "silent" : "answered";
}

/** The send policy allows messages to the chat of the turn. */
export function maySend({ parts, session, messages }: Turn): boolean {
  const { sessionEntry: entry, sessionKey } = session;
  const ctx = messages.at(-1) ?? {};
  const channel = ctx.OriginatingChannel ?? ctx.Provider;
  const chatType = normalizeChatType(ctx.ChatType);
  return resolveSendPolicy({ cfg: parts.config, entry, sessionKey, channel, chatType }) === "allow";
}

export function deliverable(turn: Turn, payloads: ReplyPayload[]): Pick<TurnResult, "payloads" | "text" | "withheld"> {
  const { agent } = turn.parts;
  const { sessionKey } = turn.session;
  const text = payloads.flatMap((payload) => payload.text ?? []).join("\n\n") || undefined;
  if (payloads.length === 0 || maySend(turn)) return { payloads, text };
  const fields = { key: sessionKey, turnId: turn.turnId, payloads: payloads.length };
  agent.logger.info("the send policy withholds an answer", fields);
  return { payloads: [], withheld: "send-policy" };
}
