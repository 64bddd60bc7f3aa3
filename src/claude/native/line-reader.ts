/**
 * The meaning of one transcript line, added to a scan. It knows nothing of files and buffers: whoever
 * finds the lines hands over their bytes. The format belongs to Claude Code and changes without notice,
 * so every member may be missing or of another type, and nothing here throws because of a line.
 *
 * Only what is counted gets decoded. Tool output, most of a transcript, is never parsed.
 */
import { isRecord } from "../../base/json-record.ts";
import { LINE_MEMBERS, USAGE_MEMBERS, isKnownLineType } from "./line-types.ts";
import { isRealPrompt, promptText, touchedFiles } from "./message-content.ts";
import { createObjectSkimmer } from "./object-skimmer.ts";
import { PROMPT_LENGTH, type SessionScan } from "./session-scan.ts";
import { type UsageLedger, recordUsage } from "./usage.ts";

export interface LineReader {
  /** Takes in the line that fills `bytes` from `start` to `end`, its newline excluded. */
  read(bytes: Buffer, start: number, end: number, offset: number): void;
  /** Takes note of a line that could not even be held. */
  reject(offset: number, reason: string): void;
}

const LIST_LIMIT = 100;
const FILE_LIMIT = 500;
const DAMAGED_LIMIT = 10;
const COMPACTION_LIMIT = 100;
const TYPE_LIMIT = 100;
const TYPE_LENGTH = 80;
const TITLE_LENGTH = 500;
const NAME_LENGTH = 4096;
const OTHER_TYPES = "(other)";
/** Never crowded out by the others: the count of messages rests on them. */
const MESSAGE_TYPES = new Set(["user", "assistant"]);
/** What Claude Code writes in the model's place when it answers itself. */
const SYNTHETIC_MODEL = "<synthetic>";
const PATH_MEMBER = Buffer.from('_path"');

/** Adds to `scan` and `ledger` in place. */
export function createLineReader(scan: SessionScan, ledger: UsageLedger): LineReader {
  const line = createObjectSkimmer(LINE_MEMBERS);
  const attachment = createObjectSkimmer(["type"]);
  const message = createObjectSkimmer(["id", "model", "usage", "content"]);
  const usage = createObjectSkimmer(USAGE_MEMBERS);
  const compaction = createObjectSkimmer(["trigger", "preTokens", "postTokens"]);
  const cacheCreation = createObjectSkimmer(["ephemeral_1h_input_tokens"]);

  const reject = (offset: number, reason: string): void => {
    scan.lines += 1;
    scan.damagedLines += 1;
    if (scan.damaged.length < DAMAGED_LIMIT) scan.damaged.push({ offset, reason });
  };

  const read = (bytes: Buffer, start: number, end: number, offset: number): void => {
    if (isBlank(bytes, start, end)) return;
    if (!line.skim(bytes, start, end)) {
      reject(offset, "not a complete JSON object");
      return;
    }
    scan.lines += 1;
    const type = line.text("type");
    countType(type);
    const at = readEnvelope();
    if (type === "user") readUser();
    else if (type === "assistant") readAssistant(at);
    else if (type === "system" && line.text("subtype") === "compact_boundary") readCompaction(at);
    else readNote(type);
  };

  const countType = (type = ""): void => {
    if (!isKnownLineType(type)) scan.unknownLines += 1;
    let detail: string | undefined;
    if (type === "system") detail = line.text("subtype");
    else if (type === "attachment" && line.into("attachment", attachment)) detail = attachment.text("type");
    const name = (detail === undefined ? type : `${type}:${detail}`).slice(0, TYPE_LENGTH);
    const listed = scan.lineTypes.has(name) || scan.lineTypes.size < TYPE_LIMIT || MESSAGE_TYPES.has(name);
    const key = listed ? name : OTHER_TYPES;
    scan.lineTypes.set(key, (scan.lineTypes.get(key) ?? 0) + 1);
  };

  /** What stands on lines of every type. Returns the line's instant. */
  const readEnvelope = (): number | undefined => {
    scan.sessionId ??= bounded(line.text("sessionId"), NAME_LENGTH);
    scan.rootUuid ??= bounded(line.text("uuid"), NAME_LENGTH);
    addOnce(scan.cwds, line.text("cwd"));
    addOnce(scan.branches, line.text("gitBranch"));
    addOnce(scan.versions, line.text("version"));
    addOnce(scan.entrypoints, line.text("entrypoint"));
    scan.slug = bounded(line.text("slug"), NAME_LENGTH) ?? scan.slug;
    if (line.isTrue("isSidechain")) scan.sidechainLines += 1;
    const at = Date.parse(line.text("timestamp") ?? "");
    if (Number.isNaN(at)) return undefined;
    scan.firstAt = Math.min(scan.firstAt ?? at, at);
    scan.lastAt = Math.max(scan.lastAt ?? at, at);
    return at;
  };

  const readUser = (): void => {
    if (line.has("toolUseResult") || line.isTrue("isMeta")) return;
    if (line.isTrue("isSidechain") || line.isTrue("isCompactSummary")) return;
    const parsed = line.parse("message");
    const content = isRecord(parsed) ? parsed["content"] : undefined;
    if (!isRealPrompt(content)) return;
    scan.userTurns += 1;
    const prompt = bounded(promptText(content), PROMPT_LENGTH);
    scan.firstPrompt ??= prompt;
    scan.latestPrompt = prompt;
    scan.permissionMode = bounded(line.text("permissionMode"), NAME_LENGTH) ?? scan.permissionMode;
  };

  const readAssistant = (at: number | undefined): void => {
    if (!line.into("message", message)) return;
    if (message.mentions("content", PATH_MEMBER)) {
      for (const { path, edited } of touchedFiles(message.parse("content"))) touchFile(path, edited);
    }
    const model = message.text("model");
    if (model === SYNTHETIC_MODEL) return;
    addOnce(scan.models, model);
    const messageId = message.text("id") ?? line.text("uuid");
    if (messageId === undefined || !message.into("usage", usage)) return;
    const tokens = {
      input: usage.count("input_tokens"),
      output: usage.count("output_tokens"),
      cacheRead: usage.count("cache_read_input_tokens"),
      cacheWrite: usage.count("cache_creation_input_tokens"),
      cacheWriteHour: 0,
    };
    if (tokens.cacheWrite > 0 && usage.into("cache_creation", cacheCreation)) {
      tokens.cacheWriteHour = Math.min(tokens.cacheWrite, cacheCreation.count("ephemeral_1h_input_tokens"));
    }
    recordUsage(ledger, messageId, {
      ...tokens,
      ...(model === undefined ? {} : { model }),
      ...(at === undefined ? {} : { at }),
    });
    if (!line.isTrue("isSidechain")) scan.contextTokens = tokens.input + tokens.cacheRead + tokens.cacheWrite;
  };

  /** A file that is touched again moves to the end; beyond the limit the one not touched for longest goes. */
  const touchFile = (path: string, edited: boolean): void => {
    const before = scan.files.get(path) ?? false;
    scan.files.delete(path);
    scan.files.set(path, edited || before);
    if (scan.files.size <= FILE_LIMIT) return;
    const [oldest] = scan.files.keys();
    if (oldest !== undefined) scan.files.delete(oldest);
  };

  const readCompaction = (at: number | undefined): void => {
    const known = line.into("compactMetadata", compaction);
    const trigger = known ? bounded(compaction.text("trigger"), TYPE_LENGTH) : undefined;
    const postTokens = known && compaction.has("postTokens") ? compaction.count("postTokens") : undefined;
    scan.compactionCount += 1;
    scan.compactions.push({
      ...(trigger === undefined ? {} : { trigger }),
      ...(known && compaction.has("preTokens") ? { preTokens: compaction.count("preTokens") } : {}),
      ...(postTokens === undefined ? {} : { postTokens }),
      ...(at === undefined ? {} : { at }),
    });
    if (scan.compactions.length > COMPACTION_LIMIT) scan.compactions.shift();
    scan.contextTokens = postTokens ?? scan.contextTokens;
  };

  /** Lines that are about the session; the last of each kind holds. */
  const readNote = (type: string | undefined): void => {
    if (type === "last-prompt") scan.notedPrompt = noteText("lastPrompt") ?? scan.notedPrompt;
    else if (type === "custom-title") scan.customTitle = noteText("customTitle") ?? scan.customTitle;
    else if (type === "ai-title") scan.aiTitle = noteText("aiTitle") ?? scan.aiTitle;
    else if (type === "summary") scan.summary = noteText("summary") ?? scan.summary;
  };

  const noteText = (name: "lastPrompt" | "customTitle" | "aiTitle" | "summary"): string | undefined =>
    bounded(line.text(name), TITLE_LENGTH);

  return { read, reject };
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  return end === start || (end === start + 1 && bytes[start] === 0x0d);
}

function addOnce(list: string[], text: string | undefined): void {
  if (text === undefined || text === "" || list.at(-1) === text || list.length >= LIST_LIMIT) return;
  const value = text.slice(0, NAME_LENGTH);
  if (!list.includes(value)) list.push(value);
}

/** Cut to `length` units, but not through the middle of a character. */
function bounded(text: string | undefined, length: number): string | undefined {
  if (text === undefined || text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
