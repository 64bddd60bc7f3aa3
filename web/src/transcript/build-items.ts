/**
 * Converts transcript messages into items to show: joins tool calls with their results, collapses turns that
 * saved memory, inserts notes. Transcripts may contain anything; unknown parts are skipped without an error.
 */
import { isFlushMessage } from "../state/turn-number.ts";
import type { HistoryMessage, Note } from "../state/state.ts";
import { type ShownBlock, type ShownTool, asText, blocksOf, handoffOf, resultText, textOf } from "./message-blocks.ts";

export type Item = { id: string; at: number } & (
  | { kind: "user"; text: string; images: string[]; isCut: boolean }
  | {
      kind: "assistant";
      blocks: ShownBlock[];
      error: string | undefined;
      isStopped: boolean;
      isCut: boolean;
      isLast: boolean;
    }
  | { kind: "tool"; tool: ShownTool }
  | { kind: "summary"; title: string; text: string }
  | { kind: "custom"; title: string; text: string }
  | { kind: "handoff"; title: string; text: string }
  | { kind: "flush"; items: Item[] }
  | { kind: "note"; note: Note }
);

type ToolResult = Extract<HistoryMessage, { role: "toolResult" }>;

export function buildItems(messages: readonly HistoryMessage[], notes: readonly Note[]): Item[] {
  const results = new Map(
    messages.flatMap((message) => (message.role === "toolResult" ? [[message.toolCallId, message] as const] : [])),
  );
  const used = new Set<string>();
  const items: Item[] = notes.filter(({ after }) => after === undefined).map(noteItem);
  let flush: Item[] | undefined;
  for (const message of messages) {
    const item = toItem(message, results, used);
    if (isFlushMessage(message)) {
      if (flush === undefined) {
        flush = [];
        items.push({ kind: "flush", id: `flush ${message.entryId}`, at: message.timestamp, items: flush });
      }
      if (item !== undefined) flush.push(item);
    } else {
      flush = undefined;
      const handoff = handoffItem(message);
      if (handoff !== undefined) items.push(handoff);
      if (item !== undefined) items.push(item);
    }
    items.push(...notes.filter(({ after }) => after === message.entryId).map(noteItem));
  }
  return items;
}

/** The hand-off that precedes the person's message. */
function handoffItem(message: HistoryMessage): Item | undefined {
  const text = message.role === "user" ? handoffOf(message.content) : undefined;
  if (text === undefined) return undefined;
  const isShortened = text.startsWith("What this conversation was about");
  const title = isShortened ? "Hand-off from before the summary" : "Hand-off from the previous window";
  return { kind: "handoff", id: `handoff ${message.entryId}`, at: message.timestamp, title, text };
}

function toItem(
  message: HistoryMessage,
  results: ReadonlyMap<string, ToolResult>,
  used: Set<string>,
): Item | undefined {
  const place = { id: message.entryId, at: message.timestamp };
  const isCut = message.isCut === true;
  switch (message.role) {
    case "user": {
      const blocks = blocksOf(message.content);
      const images = blocks.flatMap((block) => (block.kind === "image" ? [block.source] : []));
      return { ...place, kind: "user", text: message.said ?? textOf(blocks), images, isCut };
    }
    case "assistant": {
      const blocks = blocksOf(message.content).map((block) => withResult(block, results, used));
      const error = message.stopReason === "error" ? asText(message.errorMessage) || "The answer failed." : undefined;
      const isStopped = message.stopReason === "aborted";
      if (blocks.length === 0 && error === undefined && !isStopped) return undefined;
      const isLast = message.stopReason !== "toolUse";
      return { ...place, kind: "assistant", blocks, error, isStopped, isCut, isLast };
    }
    case "toolResult": {
      if (used.has(message.toolCallId)) return undefined;
      const { toolName, content, isError } = message;
      return { ...place, kind: "tool", tool: { name: asText(toolName), output: resultText(content), isError } };
    }
    case "bashExecution": {
      const isError = message.cancelled || (message.exitCode ?? 0) !== 0;
      const tool = { name: "bash", input: asText(message.command), output: asText(message.output), isError };
      return { ...place, kind: "tool", tool };
    }
    case "compactionSummary":
    case "branchSummary":
      return { ...place, kind: "summary", title: SUMMARY_TITLES[message.role], text: asText(message.summary) };
    case "custom":
      return { ...place, kind: "custom", title: asText(message.customType), text: textOf(blocksOf(message.content)) };
    default:
      return undefined;
  }
}

const SUMMARY_TITLES = {
  compactionSummary: "Older messages were replaced by a summary",
  branchSummary: "What happened on another branch",
};

function withResult(block: ShownBlock, results: ReadonlyMap<string, ToolResult>, used: Set<string>): ShownBlock {
  if (block.kind !== "tool") return block;
  const result = results.get(block.id);
  if (result === undefined) return block;
  used.add(block.id);
  const output = resultText(result.content);
  return { ...block, tool: { ...block.tool, output, isError: result.isError } };
}

function noteItem(note: Note): Item {
  return { kind: "note", id: `note ${note.itemId}`, at: Number.NaN, note };
}
