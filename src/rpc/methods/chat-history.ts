/**
 * `chat.history`: what was said in a window, read backward from the end and only as far as the page
 * needs. Everything is shown, also what a compaction has taken out of the agent's context.
 */
import { HoldfastError } from "../../base/errors.ts";
import { fileExists } from "../../base/files.ts";
import { locateWindowTranscript, transcriptPath } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { TranscriptEntry, TranscriptMessage } from "../../transcript/entries.ts";
import { messageText } from "../../transcript/text.ts";
import { isFlushEntry, turnIdOf } from "../../transcript/turn-mark.ts";
import { walkPath } from "../../transcript/walk.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import type { HistoryMessage } from "../contract/shapes.ts";
import type { RpcCall } from "../handler.ts";
import { type TargetSession, openTarget } from "./target-session.ts";

type Params = CheckedParamsOf<"chat.history">;

/** A page ends early when it has so many characters, and a single message longer than that is cut. */
const PAGE_CHARS = 2_000_000;
const MESSAGE_CHARS = 500_000;

export async function readHistory(params: Params, { parts }: RpcCall): Promise<ResultOf<"chat.history">> {
  const target = await openTarget(parts, { ...params, key: params.sessionKey });
  const { agent, key } = target;
  const entry = await agent.store.get(key);
  // A conversation that is about to begin has an empty history.
  if (entry === undefined && params.sessionId === undefined) {
    return { sessionKey: key, isCurrent: true, messages: [] };
  }
  const { path, sessionId, isCurrent } = await locate(target, entry, params.sessionId);
  const page = (await fileExists(path)) ? await readPage(path, params) : { messages: [] };
  const running = parts.pipeline.status().running.find(({ sessionKey }) => sessionKey === key);
  return {
    sessionKey: key,
    sessionId,
    isCurrent,
    ...page,
    ...(entry?.thinkingLevel === undefined ? {} : { thinkingLevel: entry.thinkingLevel }),
    ...(running === undefined || !isCurrent
      ? {}
      : { running: { itemId: running.itemId, startedAt: running.startedAt } }),
  };
}

interface Located {
  path: string;
  sessionId: string;
  isCurrent: boolean;
}

async function locate(
  { agent, key }: TargetSession,
  entry: SessionEntry | undefined,
  sessionId: string | undefined,
): Promise<Located> {
  if (entry !== undefined && (sessionId === undefined || sessionId === entry.sessionId)) {
    return { path: transcriptPath(agent, entry), sessionId: entry.sessionId, isCurrent: true };
  }
  const window = (await agent.store.windows(key)).find((known) => known.sessionId === sessionId);
  if (window === undefined) {
    throw new HoldfastError("not-found", "window-not-found", `Session ${key} has no window ${sessionId}`, {
      hint: "sessions.windows lists those that there are.",
      data: { key, sessionId },
    });
  }
  return { path: await locateWindowTranscript(agent, window), sessionId: window.sessionId, isCurrent: false };
}

async function readPage(
  path: string,
  { limit, before }: Params,
): Promise<{ messages: HistoryMessage[]; before?: string }> {
  const newestFirst: HistoryMessage[] = [];
  let chars = 0;
  let isSkipping = before !== undefined;
  for await (const { entry } of walkPath(path, { onProblem: () => undefined })) {
    if (isSkipping) {
      isSkipping = entry.id !== before;
      continue;
    }
    const message = toMessage(entry);
    if (message === undefined) continue;
    const { shown, length } = bounded({ ...message, ...turnMark(entry), entryId: entry.id });
    const oldest = newestFirst.at(-1);
    if (oldest !== undefined && (newestFirst.length >= limit || chars + length > PAGE_CHARS)) {
      return { messages: newestFirst.reverse(), before: oldest.entryId };
    }
    newestFirst.push(shown);
    chars += length;
  }
  if (isSkipping) throw pageGone(String(before));
  return { messages: newestFirst.reverse() };
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
    case "compaction":
      return {
        role: "compactionSummary",
        summary: entry.summary,
        tokensBefore: entry.tokensBefore,
        timestamp,
      };
    case "branch_summary":
      return { role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp };
    default:
      return undefined;
  }
}

/** Which turn it belongs to, and what the person wrote of it: a view shows that alone. */
function turnMark(entry: TranscriptEntry): Omit<HistoryMessage, keyof TranscriptMessage | "entryId"> {
  if (entry.type !== "message") return {};
  const turnId = turnIdOf(entry);
  return {
    ...(turnId === undefined ? {} : { turnId }),
    ...(typeof entry.said === "string" ? { said: entry.said } : {}),
    ...(entry.steered === true ? { steered: true } : {}),
    ...(isFlushEntry(entry) ? { isFlush: true } : {}),
  };
}

function bounded(message: HistoryMessage): { shown: HistoryMessage; length: number } {
  const { length } = JSON.stringify(message);
  if (length <= MESSAGE_CHARS) return { shown: message, length };
  const text = (message.said ?? messageText(message)).slice(0, MESSAGE_CHARS).toWellFormed();
  const role = message.role === "user" || message.role === "assistant" ? message.role : "assistant";
  return {
    shown: {
      role,
      content: [{ type: "text", text }],
      timestamp: message.timestamp,
      entryId: message.entryId,
      ...(message.turnId === undefined ? {} : { turnId: message.turnId }),
      ...(message.steered === true ? { steered: true } : {}),
      ...(message.isFlush === true ? { isFlush: true } : {}),
      isCut: true,
    },
    length: text.length,
  };
}

function pageGone(before: string): HoldfastError {
  return new HoldfastError("conflict", "history-moved", `The history has no entry ${before} any more`, {
    hint: "It was shortened meanwhile: read it again from the end.",
    data: { before },
  });
}
