/**
 * The format of Claude Code's transcript lines, as far as Holdfast reads it: types, members, prompts and token usage.
 * The format changes without notice, so every member may be missing or of another type.
 */
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import type { ObjectSkimmer, Passage } from "./object-skimmer.ts";
import type { MessageUsage } from "./usage.ts";

/** Lines of other types are counted but not read. */
export function isKnownLineType(type: string): boolean {
  return KNOWN_TYPES.has(type) || type.startsWith("api-request");
}

const KNOWN_TYPES = new Set([
  "agent-name",
  "ai-title",
  "assistant",
  "attachment",
  "cost-state",
  "custom-title",
  "file-history-snapshot",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "queue-operation",
  "relocated",
  "summary",
  "system",
  "tag",
  "tools-used",
  "user",
  "worktree-state",
]);

/** A tool's result in its message. The same result follows in `toolUseResult`. */
export const TOOL_RESULT: Passage = {
  opening: '{"role":"user","content":[{"tool_use_id":"',
  next: '},"uuid":"',
};
/** The model's content blocks: text, thinking and tool use all begin with `t`. */
export const ANSWER: Passage = {
  opening: '[{"type":"t',
  next: '],"stop_reason":',
};
/** A member of nearly every line. In a value that is jumped over, it may belong to a second line joined to this one. */
export const ANOTHER_LINE = '"parentUuid":';

export const LINE_MEMBERS = [
  "uuid",
  "message.id",
  "message.model",
  "message.content",
  "message.usage",
  "message.usage.input_tokens",
  "message.usage.output_tokens",
  "message.usage.cache_read_input_tokens",
  "message.usage.cache_creation_input_tokens",
  "message.usage.cache_creation.ephemeral_1h_input_tokens",
  "type",
  "subtype",
  "timestamp",
  "cwd",
  "gitBranch",
  "version",
  "entrypoint",
  "slug",
  "userType",
  "isSidechain",
  "isMeta",
  "isCompactSummary",
  "toolUseResult",
  "permissionMode",
  "customTitle",
  "aiTitle",
  "summary",
  "compactMetadata.trigger",
  "compactMetadata.preTokens",
  "compactMetadata.postTokens",
  "message",
] as const;

/** Limit for ids, folders, branches and other names: the size of a scan must not depend on the transcript. */
export const NAME_LENGTH = 4096;

/** Cuts to `length` UTF-16 units, but never inside a character. */
export function bounded(text: string | undefined, length: number): string | undefined {
  if (text === undefined || text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}

export function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1)
    if (bytes[at] !== 0x0d && bytes[at] !== 0x20 && bytes[at] !== 0x09) return false;
  return true;
}

/** How a text begins that Claude Code writes when a person interrupts it. */
export const INTERRUPTED = "[Request interrupted";
/** Tags around texts that Claude Code writes in the user's name: its own commands, their output, notices. */
const NOT_A_PROMPT =
  /^<(?:command-name|command-message|local-command-[a-z]+|bash-input|bash-stdout|bash-stderr|user-memory-input|task-notification|teammate-message)>/;
/** Claude Code adds this to a person's words for the model. */
const REMINDER = /<system-reminder>[\s\S]*?(?:<\/system-reminder>|$)/g;

/** Whether a person wrote the content of a user line. The caller has checked the flags of the line. */
export function isRealPrompt(content: unknown): content is string | unknown[] {
  if (!hasText(content) || blocksOf(content).some((block) => block["type"] === "tool_result")) return false;
  const whole = contentText(content);
  const text = promptText(content);
  return (text !== "" || whole.trim() === "") && !text.startsWith(INTERRUPTED) && !NOT_A_PROMPT.test(text);
}

/** What the person wrote, one text block per line; empty for an image alone. */
export function promptText(content: string | unknown[]): string {
  return contentText(content).replaceAll(REMINDER, "").trim();
}

/** All text blocks, one per line. Empty if the content has another form. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return blocksOf(content)
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
    .join("\n");
}

export function hasText(content: unknown): content is string | unknown[] {
  return typeof content === "string" || Array.isArray(content);
}

export function blocksOf(content: unknown): JsonRecord[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

/** The model name in answers that Claude Code wrote itself. */
export const SYNTHETIC_MODEL = "<synthetic>";

/** The usage on the line that `line` skimmed last. Undefined when the line uses nothing. */
export function readUsage(
  line: ObjectSkimmer<(typeof LINE_MEMBERS)[number]>,
  at: number | undefined,
): { messageId: string; usage: MessageUsage } | undefined {
  const member = line.slots;
  const model = line.text(member["message.model"]);
  if (model === SYNTHETIC_MODEL || !line.has(member["message.usage"])) return undefined;
  const messageId = bounded(line.text(member["message.id"]) ?? line.text(member.uuid), NAME_LENGTH);
  if (messageId === undefined) return undefined;
  const cacheWrite = line.count(member["message.usage.cache_creation_input_tokens"]);
  const hour = line.count(member["message.usage.cache_creation.ephemeral_1h_input_tokens"]);
  const usage: MessageUsage = {
    input: line.count(member["message.usage.input_tokens"]),
    output: line.count(member["message.usage.output_tokens"]),
    cacheRead: line.count(member["message.usage.cache_read_input_tokens"]),
    cacheWrite,
    cacheWriteHour: Math.min(cacheWrite, hour),
    model,
    at,
  };
  return { messageId, usage };
}

const TAIL_START = '"userType":';
/** Members with the same meaning on every line of a session. */
const TAIL_MEMBERS = new Set(["userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug"]);
const MAX_TAIL_BYTES = 2048;

/**
 * The end of most lines repeats the line before: `"userType":…,"cwd":…,"version":…,"gitBranch":…}`. Then its members
 * need not be read again, and the large value before it need not be walked.
 */
export function createLineTail() {
  const kept = Buffer.alloc(MAX_TAIL_BYTES);
  let length = 0;
  return {
    /** Where the known tail begins if the line up to `end` has it, else -1. */
    find(bytes: Buffer, start: number, end: number): number {
      const from = end - length;
      if (length === 0 || from <= start) return -1;
      return bytes.compare(kept, 0, length, from, end) === 0 ? from : -1;
    },
    /** Keeps the tail of a line whose member `userType` has its value at `valueStart`. */
    keep(bytes: Buffer, valueStart: number, end: number): void {
      const from = valueStart - TAIL_START.length;
      length = 0;
      if (from < 0 || end - from > MAX_TAIL_BYTES || !isFlat(bytes.toString("utf8", from, end))) return;
      length = bytes.copy(kept, 0, from, end);
    },
    forget(): void {
      length = 0;
    },
  };
}

/** Whether all members are texts, so that the last brace can only be that of the line. */
function isFlat(tail: string): boolean {
  if (!tail.startsWith(TAIL_START)) return false;
  const members = parseJson(`{${tail}`);
  if (!isRecord(members)) return false;
  return Object.entries(members).every(([name, value]) => TAIL_MEMBERS.has(name) && typeof value === "string");
}
