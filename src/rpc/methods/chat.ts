/** Messages to an agent, the history of a window, and event subscriptions. */
import { HoldfastError } from "../../base/errors.ts";
import { fileExists } from "../../base/files.ts";
import {
  type AgentHandle,
  locateWindowTranscript,
  expectedOfWindow,
  locateTranscript,
} from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { findDamage } from "../../transcript/damage.ts";
import type { TranscriptEntry, TranscriptMessage } from "../../transcript/entries.ts";
import { walkPath } from "../../transcript/walk.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import type { HistoryMessage } from "../contract/shapes.ts";
import { EVENT_NAMES } from "../protocol.ts";
import type { HandlersOf, RpcCall } from "../rpc-parts.ts";
import { type TargetSession, openTarget, setThinking, toOwnerMessage } from "./target.ts";
import { type TranscriptProblem, addProblem, createProblemList, isLoss } from "../../transcript/scan.ts";
import { droppedText, messageText, isFlushEntry, turnIdOf } from "../../transcript/messages.ts";

export const chatHandlers: HandlersOf<"chat.send" | "chat.history" | "chat.abort" | "events.subscribe"> = {
  "chat.send": async (params, { parts }) => {
    const target = await openTarget(parts, { ...params, key: params.sessionKey });
    const { idempotencyKey, thinking } = params;
    const known = await target.agent.store.get(target.key);
    const entry = thinking === undefined ? known : await setThinking({ ...target, entry: known }, thinking);
    const message = toOwnerMessage(parts, { ...target, entry }, { ...params, idempotencyKey });
    const { admitted, item, agentId, sessionKey } = await parts.pipeline.admit(message);
    const isOver = item.state === "done" || item.state === "dropped";
    const status = admitted ? "started" : isOver ? "ok" : "in_flight";
    return { runId: idempotencyKey, status, agentId, sessionKey, itemId: item.id };
  },

  "chat.history": readHistory,

  "chat.abort": async (params, { parts }) => {
    const { agent, key } = await openTarget(parts, { ...params, key: params.sessionKey });
    if (params.runId !== undefined && !(await isRunning(agent, key, params.runId))) return { ok: true, aborted: false };
    return { ok: true, aborted: await parts.pipeline.abort(key, "stopped by the owner") };
  },

  "events.subscribe": async ({ sessionKeys: named, events }, { parts, subscribe }) => {
    if (subscribe === undefined) {
      throw new HoldfastError("usage", "events-need-websocket", "Events need a WebSocket", {
        hint: "Connect to /ws of the gateway and subscribe there.",
      });
    }
    const sessionKeys = named && (await Promise.all(named.map(async (key) => (await openTarget(parts, { key })).key)));
    subscribe({ sessionKeys, events });
    return { ok: true, events: [...(events ?? EVENT_NAMES)], sessionKeys };
  },
};

async function isRunning({ store }: AgentHandle, key: string, runId: string): Promise<boolean> {
  const pending = await store.inbox.pending(key);
  return pending.some(({ state, address }) => state === "running" && address.messageId === runId);
}

type Params = CheckedParamsOf<"chat.history">;

/** A page ends early at this size; a longer message is cut. */
const PAGE_CHARS = 2_000_000;
const MESSAGE_CHARS = 500_000;

/** Reads backward from the end, as far as the page needs, including messages before a compaction. */
async function readHistory(params: Params, { parts }: RpcCall): Promise<ResultOf<"chat.history">> {
  const target = await openTarget(parts, { ...params, key: params.sessionKey });
  const { agent, key } = target;
  const entry = await agent.store.get(key);
  // A new conversation has an empty history.
  if (entry === undefined && params.sessionId === undefined) {
    return { sessionKey: key, isCurrent: true, messages: [] };
  }
  const { path, expected, sessionId, isCurrent } = await locate(target, entry, params.sessionId);
  const damage = await findDamage(path, expected);
  const exists = damage?.kind !== "not-a-file" && (await fileExists(path));
  const { problems, ...page } = exists ? await readPage(path, params) : EMPTY_PAGE;
  const losses = [...(damage === undefined ? [] : [damage]), ...problems.filter(isLoss)].map(({ reason }) => reason);
  const running = parts.pipeline.status().running.find(({ sessionKey }) => sessionKey === key);
  const isRunning = running !== undefined && isCurrent;
  return {
    sessionKey: key,
    sessionId,
    isCurrent,
    ...page,
    problems: losses.length === 0 ? undefined : losses,
    thinkingLevel: entry?.thinkingLevel,
    running: isRunning ? { itemId: running.itemId, startedAt: running.startedAt } : undefined,
  };
}

async function locate({ agent, key }: TargetSession, entry: SessionEntry | undefined, sessionId: string | undefined) {
  if (entry !== undefined && (sessionId === undefined || sessionId === entry.sessionId)) {
    return { ...(await locateTranscript(agent, { key, entry })), sessionId: entry.sessionId, isCurrent: true };
  }
  const window = (await agent.store.windows(key)).find((known) => known.sessionId === sessionId);
  if (window === undefined) {
    throw new HoldfastError("not-found", "window-not-found", `Session ${key} has no window ${sessionId}`, {
      hint: "sessions.windows lists its windows.",
      data: { key, sessionId },
    });
  }
  const path = await locateWindowTranscript(agent, window);
  return { path, expected: expectedOfWindow(window, entry), sessionId: window.sessionId, isCurrent: false };
}

interface Page {
  messages: HistoryMessage[];
  before?: string | undefined;
  problems: readonly TranscriptProblem[];
}

const EMPTY_PAGE: Page = { messages: [], problems: [] };

async function readPage(path: string, { limit, before }: Params): Promise<Page> {
  const newestFirst: HistoryMessage[] = [];
  const list = createProblemList();
  let chars = 0;
  let isSkipping = before !== undefined;
  for await (const { entry } of walkPath(path, { onProblem: (problem) => addProblem(list, problem) })) {
    if (isSkipping) {
      isSkipping = entry.id !== before;
      continue;
    }
    const message = toMessage(entry);
    if (message === undefined) continue;
    const { shown, length } = bounded({ ...message, ...turnMark(entry), entryId: entry.id });
    const oldest = newestFirst.at(-1);
    if (oldest !== undefined && (newestFirst.length >= limit || chars + length > PAGE_CHARS)) {
      return { messages: newestFirst.reverse(), before: oldest.entryId, problems: list.problems };
    }
    newestFirst.push(shown);
    chars += length;
  }
  if (!isSkipping) return { messages: newestFirst.reverse(), problems: list.problems };
  throw new HoldfastError("conflict", "history-moved", `The history no longer has the entry ${before}`, {
    hint: "It was shortened meanwhile: read it again from the end.",
    data: { before },
  });
}

function toMessage(entry: TranscriptEntry): TranscriptMessage | undefined {
  const timestamp = Date.parse(entry.timestamp);
  switch (entry.type) {
    case "message":
      return entry.message;
    case "custom_message": {
      const { customType, content, display } = entry;
      return display ? { role: "custom", customType, content, display, timestamp } : undefined;
    }
    case "custom": {
      const content = droppedText(entry);
      return content === undefined
        ? undefined
        : { role: "custom", customType: entry.customType, content, display: true, timestamp };
    }
    case "compaction": {
      const { summary, tokensBefore } = entry;
      return { role: "compactionSummary", summary, tokensBefore, timestamp };
    }
    case "branch_summary":
      return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp };
    default:
      return undefined;
  }
}

function turnMark(entry: TranscriptEntry): Omit<HistoryMessage, keyof TranscriptMessage | "entryId"> {
  if (entry.type !== "message") return {};
  return {
    turnId: turnIdOf(entry),
    said: typeof entry.said === "string" ? entry.said : undefined,
    steered: entry.steered === true ? true : undefined,
    isFlush: isFlushEntry(entry) ? true : undefined,
  };
}

function bounded(message: HistoryMessage): { shown: HistoryMessage; length: number } {
  const { length } = JSON.stringify(message);
  if (length <= MESSAGE_CHARS) return { shown: message, length };
  const { timestamp, entryId, turnId, steered, isFlush } = message;
  const text = (message.said ?? messageText(message)).slice(0, MESSAGE_CHARS).toWellFormed();
  const role = message.role === "user" ? "user" : "assistant";
  const content = [{ type: "text" as const, text }];
  return { shown: { role, content, timestamp, entryId, turnId, steered, isFlush, isCut: true }, length: text.length };
}
