/**
 * Reads lines of Claude Code: prompts, answers, tool calls, titles and branches. Tool output, which is most of a
 * transcript, thinking and compaction summaries are not indexed; most of their lines are not even parsed.
 */
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { redactText } from "../base/redact.ts";
import { isHoldfastEntrypoint, readMarker } from "../claude/attribution.ts";
import {
  NAME_LENGTH,
  SYNTHETIC_MODEL,
  TOOL_RESULT,
  contentText,
  isRealPrompt,
  promptText,
} from "../claude/native/line-format.ts";
import { parseLine } from "../transcript/codec.ts";
import { entryPassages, instant } from "./passages.ts";
import type { LineReader, ReadStep } from "./sources.ts";
import { createToolCallReader } from "./tool-calls.ts";

/** Owner of sessions whose agent is unknown. No agent has this id, so no agent sees them. */
const UNKNOWN_AGENT = "?";

export function createNativeLineReader(wasSettled: boolean): LineReader {
  let settled = wasSettled;
  const branchOf = createBranchReader();
  const readCalls = createToolCallReader();

  return (line, place) => {
    if (line.bytes.length === 0 || isToolOutput(line.bytes) || isThinking(line.bytes)) return undefined;
    const parsed = parseLine(line);
    if (parsed.kind === "problem") return { damaged: true };
    if (parsed.kind !== "record") return undefined;
    const { record } = parsed;
    const content = spokenContent(record);
    if (content === undefined) {
      const title = titleOf(record);
      return title === undefined ? undefined : { title };
    }

    const { type, timestamp, uuid, cwd, entrypoint, isSidechain } = record;
    const isFirst = !settled && type === "user" && isSidechain !== true;
    const text = type === "user" ? promptText(content) : contentText(content);
    const marked = isFirst ? readMarker(text) : { text };
    const folder = typeof cwd === "string" && cwd !== "" ? cwd.slice(0, NAME_LENGTH) : undefined;
    const facts = { ...place, at: instant(timestamp), entryId: typeof uuid === "string" ? uuid : undefined, folder };
    const passages = entryPassages(marked.text, { ...facts, role: type === "user" ? "user" : "assistant" });
    const calls = readCalls(content, folder);
    passages.push(...entryPassages(calls.text, { ...facts, role: "tool" }));
    const step = { passages, folder, branch: branchOf(record), edits: calls.edits };
    if (!isFirst) return step;
    settled = true;
    return { ...step, settled: starter(marked, entrypoint) };
  };
}

const CLOSING_BRACE = 0x7d;
/** The envelope before the message is shorter. */
const HEAD_BYTES = 1024;

/** Inside a text these quotes would be escaped, so only a result has them. */
function isToolOutput(bytes: Buffer): boolean {
  return bytes.at(-1) === CLOSING_BRACE && bytes.subarray(0, HEAD_BYTES).includes(TOOL_RESULT.opening);
}

const THINKING = '"content":[{"type":"thinking"';
const SPOKEN = ['"type":"text"', '"type":"tool_use"'];

/** Claude Code usually writes thinking as a line of its own. */
function isThinking(bytes: Buffer): boolean {
  return (
    bytes.at(-1) === CLOSING_BRACE &&
    bytes.subarray(0, HEAD_BYTES).includes(THINKING) &&
    !SPOKEN.some((block) => bytes.includes(block))
  );
}

/** By how much they say: a person's own title wins. */
const TITLES = [
  { type: "custom-title", member: "customTitle", rank: 3 },
  { type: "ai-title", member: "aiTitle", rank: 2 },
  { type: "summary", member: "summary", rank: 1 },
] as const;
const TITLE_LENGTH = 500;

function titleOf(record: JsonRecord): ReadStep["title"] {
  const kind = TITLES.find(({ type }) => type === record["type"]);
  const text = kind === undefined ? undefined : record[kind.member];
  if (kind === undefined || typeof text !== "string" || text.trim() === "") return undefined;
  return { text: redactText(text).slice(0, TITLE_LENGTH).trim(), rank: kind.rank };
}

/** Every line names the branch, but it rarely changes. */
function createBranchReader(): (record: JsonRecord) => string | undefined {
  let last: unknown;
  let branch: string | undefined;
  return ({ gitBranch }) => {
    if (gitBranch === last) return branch;
    last = gitBranch;
    const isNamed = typeof gitBranch === "string" && gitBranch !== "";
    branch = isNamed ? redactText(gitBranch.slice(0, NAME_LENGTH)) : undefined;
    return branch;
  };
}

/** Undefined: neither a real prompt nor an answer of the model. */
function spokenContent(record: JsonRecord): string | unknown[] | undefined {
  const { type, message } = record;
  if (!isRecord(message)) return undefined;
  const { content, model } = message;
  if (type === "user") {
    if (record["isMeta"] === true || record["isCompactSummary"] === true) return undefined;
    return record["toolUseResult"] == null && isRealPrompt(content) ? content : undefined;
  }
  if (type !== "assistant" || model === SYNTHETIC_MODEL) return undefined;
  return typeof content === "string" || Array.isArray(content) ? content : undefined;
}

/** A session that some agent started, but does not name, is hidden from all agents. */
function starter({ agentId }: { agentId?: string | undefined }, entrypoint: unknown): { agentId?: string | undefined } {
  if (agentId !== undefined) return { agentId };
  return isHoldfastEntrypoint(entrypoint) ? { agentId: UNKNOWN_AGENT } : {};
}
