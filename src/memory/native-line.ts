/**
 * The passages of one line of Claude Code: what a person asked and what the model answered. Output of
 * tools, most of a transcript, is not indexed; nor are summaries of a compaction, which repeat the rest.
 */
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { HOLDFAST_ENTRYPOINT, readMarker } from "../claude/attribution.ts";
import { isRealPrompt, promptText } from "../claude/native/message-content.ts";
import { parseLine } from "../transcript/codec.ts";
import { entryPassages } from "./passages.ts";
import { type LineRole, instant } from "./read-step.ts";

/** Stands for an agent whose id is not known. No agent has it, so nobody sees what belongs to it. */
const UNKNOWN_AGENT = "?";

const SYNTHETIC_MODEL = "<synthetic>";
const NAME_LENGTH = 4096;

export function createNativeLineReader(wasSettled: boolean): LineRole {
  let settled = wasSettled;

  return (line, place) => {
    if (line.bytes.length === 0) return {};
    const parsed = parseLine(line);
    if (parsed.kind === "problem") return { damaged: true };
    const content = parsed.kind === "record" ? spokenContent(parsed.record) : undefined;
    if (parsed.kind !== "record" || content === undefined) return {};

    const { type, timestamp, uuid, cwd, entrypoint, isSidechain } = parsed.record;
    const isFirst = !settled && type === "user" && isSidechain !== true;
    const marked = isFirst ? readMarker(promptText(content)) : { text: promptText(content) };
    const folder = typeof cwd === "string" && cwd !== "" ? { folder: cwd.slice(0, NAME_LENGTH) } : {};
    const passages = entryPassages(marked.text, {
      ...place,
      role: type === "user" ? "user" : "assistant",
      ...instant(timestamp),
      ...(typeof uuid === "string" ? { entryId: uuid } : {}),
      ...folder,
    });
    if (!isFirst) return { passages, ...folder };
    settled = true;
    return { passages, ...folder, settled: starter(marked, entrypoint) };
  };
}

/** Undefined when the line is neither a real prompt nor an answer of the model. */
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

/** A session that an agent must have started and that does not say which one is shown to none. */
function starter({ agentId }: { agentId?: string }, entrypoint: unknown): { agentId?: string } {
  if (agentId !== undefined) return { agentId };
  return entrypoint === HOLDFAST_ENTRYPOINT ? { agentId: UNKNOWN_AGENT } : {};
}
