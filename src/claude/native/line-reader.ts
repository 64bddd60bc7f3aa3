/**
 * Adds the meaning of one transcript line to a scan. It gets the bytes of each line, does not
 * depend on files, and never throws because of a line. It decodes only facts that are counted: tool output, most of a transcript, is never parsed.
 */
import { redactText } from "../../base/redact.ts";
import { COMMA, DAMAGED, OPEN_BRACE, OPEN_BRACKET, decodeInstant, skipSpace, skipValue } from "./json-bytes.ts";
import {
  ANOTHER_LINE,
  ANSWER,
  LINE_MEMBERS,
  NAME_LENGTH,
  SYNTHETIC_MODEL,
  TOOL_RESULT,
  bounded,
  createLineTail,
  isBlank,
  isKnownLineType,
  isRealPrompt,
  promptText,
  readUsage,
} from "./line-format.ts";
import { type Passage, createObjectSkimmer } from "./object-skimmer.ts";
import { PROMPT_LENGTH, type SessionScan, createSessionScan } from "./session-scan.ts";
import { type UsageLedger, recordUsage } from "./usage.ts";

export interface LineReader {
  /** Starts a file. The following lines are added to this scan and this ledger. */
  begin(scan: SessionScan, ledger: UsageLedger): void;
  /**
   * Adds the line from `start` to `end`, without its newline. Returns false and adds nothing when the line is not a
   * complete JSON object. `text` is `bytes` as Latin-1, or empty unless `needsText`.
   */
  read(bytes: Buffer, text: string, start: number, end: number): boolean;
  /** One text for all lines of a chunk is cheaper than one for each, unless most of them are skipped. */
  needsText: boolean;
  /** Notes a damaged line. */
  reject(offset: number, reason: string): void;
}

const LIST_LIMIT = 100;
const FILE_LIMIT = 500;
const DAMAGED_LIMIT = 10;
const COMPACTION_LIMIT = 100;
const FIRST_PROMPTS = 3;
const PROMPT_LIMIT = 15;
const TRIGGER_LENGTH = 80;
const TITLE_LENGTH = 500;

/** Serves any number of files, one after the other. */
export function createLineReader(): LineReader {
  const line = createObjectSkimmer(LINE_MEMBERS);
  const member = line.slots;
  const passages: (Passage | undefined)[] = [];
  passages[member.message] = TOOL_RESULT;
  passages[member["message.content"]] = ANSWER;
  const shortCut = { last: member.toolUseResult, passages, other: ANOTHER_LINE };
  const tail = createLineTail();
  /** The branch in the kept tail. */
  let tailBranch: string | undefined;
  let scan: SessionScan = createSessionScan();
  let ledger: UsageLedger = new Map();

  const read = (bytes: Buffer, text: string, start: number, end: number): boolean => {
    if (isBlank(bytes, start, end)) return true;
    const known = tail.find(bytes, start, end);
    const isKnown = known !== -1 && line.skim(bytes, start, known, text, shortCut) === known;
    if (!isKnown) {
      const objectEnd = line.skim(bytes, start, end, text);
      if (objectEnd !== end && (objectEnd === -1 || !isBlank(bytes, objectEnd, end))) return false;
    }
    scan.lines += 1;
    const type = line.text(member.type);
    if (type === "user" || type === "assistant") scan.messages += 1;
    else if (!isKnownLineType(type ?? "")) scan.unknownLines += 1;
    if (isKnown) scan.lastBranch = tailBranch ?? scan.lastBranch;
    else readEnvelope(bytes, end);
    const at = readHead(bytes);
    if (type === "user") readUser();
    else if (type === "assistant") readAssistant(bytes, text, at);
    else if (type === "system" && line.text(member.subtype) === "compact_boundary") readCompaction(at);
    else readNote(type);
    return true;
  };

  const reject = (offset: number, reason: string): void => {
    scan.lines += 1;
    scan.damagedLines += 1;
    if (scan.damaged.length < DAMAGED_LIMIT) scan.damaged.push({ offset, reason });
  };

  /** Members that rarely change from line to line. */
  const readEnvelope = (bytes: Buffer, end: number): void => {
    addOnce(scan.cwds, line.text(member.cwd));
    addOnce(scan.versions, line.text(member.version));
    addOnce(scan.entrypoints, line.text(member.entrypoint));
    const branch = bounded(line.text(member.gitBranch), NAME_LENGTH);
    addOnce(scan.branches, branch);
    if (branch !== undefined && branch !== "") scan.lastBranch = branch;
    scan.slug = bounded(line.text(member.slug), NAME_LENGTH) ?? scan.slug;
    if (!line.has(member.userType)) return;
    tail.keep(bytes, line.start(member.userType), end);
    tailBranch = branch === "" ? undefined : branch;
  };

  /** Members of every single line. Returns its timestamp. */
  const readHead = (bytes: Buffer): number | undefined => {
    scan.rootUuid ??= bounded(line.text(member.uuid), NAME_LENGTH);
    const at = decodeInstant(bytes, line.start(member.timestamp), line.end(member.timestamp));
    if (at === undefined) return undefined;
    scan.openedAt ??= at;
    if (scan.firstAt === undefined || at < scan.firstAt) scan.firstAt = at;
    if (scan.lastAt === undefined || at > scan.lastAt) scan.lastAt = at;
    return at;
  };

  const readUser = (): void => {
    if (line.has(member.toolUseResult) || line.isTrue(member.isMeta)) return;
    if (line.isTrue(member.isSidechain) || line.isTrue(member.isCompactSummary)) return;
    const content = line.parse(member["message.content"]);
    if (!isRealPrompt(content)) return;
    scan.userTurns += 1;
    if (scan.prompts.length === PROMPT_LIMIT) scan.prompts.splice(FIRST_PROMPTS, 1);
    scan.prompts.push(kept(promptText(content), PROMPT_LENGTH) ?? "");
    scan.permissionMode = bounded(line.text(member.permissionMode), NAME_LENGTH) ?? scan.permissionMode;
  };

  const readAssistant = (bytes: Buffer, text: string, at: number | undefined): void => {
    const content = line.start(member["message.content"]);
    findTouchedFiles(bytes, text, content, line.end(member["message.content"]));
    const model = line.text(member["message.model"]);
    if (model === SYNTHETIC_MODEL) return;
    addOnce(scan.models, model);
    const used = readUsage(line, at);
    if (used === undefined) return;
    const { messageId, usage } = used;
    scan.firstMessageId ??= messageId;
    recordUsage(ledger, messageId, usage);
    if (!line.isTrue(member.isSidechain)) scan.contextTokens = usage.input + usage.cacheRead + usage.cacheWrite;
  };

  /** Moves the file to the end. Beyond the limit the least recently touched file is dropped. */
  const touchFile = (path: string, edited: boolean): void => {
    const before = scan.files.get(path) ?? false;
    scan.files.delete(path);
    scan.files.set(path, edited || before);
    if (scan.files.size <= FILE_LIMIT) return;
    const [oldest] = scan.files.keys();
    if (oldest !== undefined) scan.files.delete(oldest);
  };

  const findTouchedFiles = createTouchedFileFinder(touchFile);

  const readCompaction = (at: number | undefined): void => {
    const trigger = bounded(line.text(member["compactMetadata.trigger"]), TRIGGER_LENGTH);
    const before = member["compactMetadata.preTokens"];
    const after = member["compactMetadata.postTokens"];
    scan.compactionCount += 1;
    scan.compactions.push({
      trigger,
      preTokens: line.has(before) ? line.count(before) : undefined,
      postTokens: line.has(after) ? line.count(after) : undefined,
      at,
    });
    if (scan.compactions.length > COMPACTION_LIMIT) scan.compactions.shift();
    if (line.has(after)) scan.contextTokens = line.count(after);
  };

  /** Lines about the session as a whole. The last of each kind counts. */
  const readNote = (type: string | undefined): void => {
    if (type === "custom-title") scan.customTitle = noteText(member.customTitle) ?? scan.customTitle;
    else if (type === "ai-title") scan.aiTitle = noteText(member.aiTitle) ?? scan.aiTitle;
    else if (type === "summary") scan.summary = noteText(member.summary) ?? scan.summary;
  };

  const noteText = (slot: number): string | undefined => kept(line.text(slot), TITLE_LENGTH);

  return {
    needsText: true,
    begin(nextScan, nextLedger) {
      tail.forget();
      scan = nextScan;
      ledger = nextLedger;
    },
    read,
    reject,
  };
}

function addOnce(list: string[], text: string | undefined): void {
  if (text === undefined || text === "" || list.at(-1) === text || list.length >= LIST_LIMIT) return;
  const value = text.slice(0, NAME_LENGTH);
  if (!list.includes(value)) list.push(value);
}

/**
 * Redacts before cutting: half a secret is not recognised. `SECRET_LENGTH` covers the longest known secret and the
 * rest of one that the cut splits.
 */
function kept(text: string | undefined, length: number): string | undefined {
  return text === undefined ? undefined : bounded(redactText(text.slice(0, length + SECRET_LENGTH)), length);
}

const SECRET_LENGTH = 8192;

const EDITING_TOOLS = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);

/** Reports the files that tool calls name in the content from `start` to `end`. */
function createTouchedFileFinder(report: (path: string, edited: boolean) => void) {
  const block = createObjectSkimmer(["type", "name", "input.file_path", "input.notebook_path"]);
  const member = block.slots;
  return (bytes: Buffer, text: string, start: number, end: number): void => {
    if (end === start || bytes[start] !== OPEN_BRACKET) return;
    let at = skipSpace(bytes, start + 1, end);
    while (at < end) {
      const next = bytes[at] === OPEN_BRACE ? block.skim(bytes, at, end, text) : skipValue(bytes, text, at, end);
      if (next === DAMAGED) return;
      if (bytes[at] === OPEN_BRACE && block.text(member.type) === "tool_use") {
        const path = block.text(member["input.file_path"]) ?? block.text(member["input.notebook_path"]);
        if (path !== undefined && path !== "" && path.length <= NAME_LENGTH) {
          report(path, EDITING_TOOLS.has(block.text(member.name) ?? ""));
        }
      }
      at = skipSpace(bytes, next, end);
      if (bytes[at] !== COMMA) return;
      at = skipSpace(bytes, at + 1, end);
    }
  };
}
