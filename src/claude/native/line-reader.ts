/**
 * The meaning of one transcript line, added to a scan. It knows nothing of files and buffers: whoever
 * finds the lines hands over their bytes. The format belongs to Claude Code and changes without notice,
 * so every member may be missing or of another type, and nothing here throws because of a line.
 *
 * Only what is counted gets decoded. Tool output, most of a transcript, is never parsed.
 */
import { redactText } from "../../base/redact.ts";
import { NAME_LENGTH, bounded } from "./bounded-text.ts";
import { createInstantReader } from "./instant.ts";
import { createLineTail } from "./line-tail.ts";
import { ANSWER, LINE_MEMBERS, LINE_START, TOOL_RESULT, isKnownLineType } from "./line-types.ts";
import { createTouchedFiles, isRealPrompt, promptText } from "./message-content.ts";
import { type Passage, createObjectSkimmer } from "./object-skimmer.ts";
import { PROMPT_LENGTH, type SessionScan, createSessionScan } from "./session-scan.ts";
import { SYNTHETIC_MODEL, readUsage } from "./usage-line.ts";
import { type UsageLedger, recordUsage } from "./usage.ts";

export interface LineReader {
  /** What follows is added, in place, to this scan and this ledger. */
  begin(scan: SessionScan, ledger: UsageLedger): void;
  /**
   * Takes in the line from `start` to `end`, its newline excluded. False when it is no whole JSON object:
   * then nothing was taken in. `text` is `bytes` as Latin-1.
   */
  read(bytes: Buffer, text: string, start: number, end: number): boolean;
  /** Takes note of a line that could not be read. */
  reject(offset: number, reason: string): void;
}

const LIST_LIMIT = 100;
const FILE_LIMIT = 500;
const DAMAGED_LIMIT = 10;
const COMPACTION_LIMIT = 100;
const TYPE_LIMIT = 100;
const FIRST_PROMPTS = 3;
const PROMPT_LIMIT = 15;
const TYPE_LENGTH = 80;
const TITLE_LENGTH = 500;
const OTHER_TYPES = "(other)";

/** To be used for one file after the other. */
export function createLineReader(): LineReader {
  const line = createObjectSkimmer(LINE_MEMBERS);
  const member = line.slots;
  const passages: (Passage | undefined)[] = [];
  passages[member.message] = TOOL_RESULT;
  passages[member["message.content"]] = ANSWER;
  const shortCut = { last: member.toolUseResult, passages, other: LINE_START };
  const instants = createInstantReader();
  const touchedFiles = createTouchedFiles();
  const tail = createLineTail();
  /** The branch that the kept tail names. */
  let tailBranch: string | undefined;
  let scan: SessionScan = createSessionScan();
  let ledger: UsageLedger = new Map();

  const read = (bytes: Buffer, text: string, start: number, end: number): boolean => {
    if (isBlank(bytes, start, end)) return true;
    const known = tail.find(bytes, start, end);
    const isKnown = known !== -1 && line.skimUpTo(bytes, start, known, text, shortCut) === known;
    if (!isKnown) {
      const objectEnd = line.skim(bytes, start, end, text);
      if (objectEnd !== end && (objectEnd === -1 || !isBlank(bytes, objectEnd, end))) return false;
    }
    scan.lines += 1;
    const type = line.text(member.type);
    countType(type);
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

  const countType = (type = ""): void => {
    let detail: string | undefined;
    const isMessage = type === "user" || type === "assistant";
    if (isMessage) scan.messages += 1;
    else if (!isKnownLineType(type)) scan.unknownLines += 1;
    if (type === "system") detail = line.text(member.subtype);
    else if (type === "attachment") detail = line.text(member["attachment.type"]);
    const name = (detail === undefined ? type : `${type}:${detail}`).slice(0, TYPE_LENGTH);
    const count = scan.lineTypes.get(name);
    const isListed = count !== undefined || isMessage || scan.lineTypes.size < TYPE_LIMIT;
    if (isListed) scan.lineTypes.set(name, (count ?? 0) + 1);
    else scan.lineTypes.set(OTHER_TYPES, (scan.lineTypes.get(OTHER_TYPES) ?? 0) + 1);
  };

  /** What rarely changes from line to line. */
  const readEnvelope = (bytes: Buffer, end: number): void => {
    scan.sessionId ??= bounded(line.text(member.sessionId), NAME_LENGTH);
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

  /** What every line has for itself. Returns its instant. */
  const readHead = (bytes: Buffer): number | undefined => {
    scan.rootUuid ??= bounded(line.text(member.uuid), NAME_LENGTH);
    if (line.isTrue(member.isSidechain)) scan.sidechainLines += 1;
    const at = instants.read(bytes, line.start(member.timestamp), line.end(member.timestamp));
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
    touchedFiles.find(bytes, text, content, line.end(member["message.content"]), touchFile);
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
    const trigger = bounded(line.text(member["compactMetadata.trigger"]), TYPE_LENGTH);
    const before = member["compactMetadata.preTokens"];
    const after = member["compactMetadata.postTokens"];
    scan.compactionCount += 1;
    scan.compactions.push({
      ...(trigger === undefined ? {} : { trigger }),
      ...(line.has(before) ? { preTokens: line.count(before) } : {}),
      ...(line.has(after) ? { postTokens: line.count(after) } : {}),
      ...(at === undefined ? {} : { at }),
    });
    if (scan.compactions.length > COMPACTION_LIMIT) scan.compactions.shift();
    if (line.has(after)) scan.contextTokens = line.count(after);
  };

  /** Lines that are about the session; the last of each kind holds. */
  const readNote = (type: string | undefined): void => {
    if (type === "last-prompt") scan.notedPrompt = noteText(member.lastPrompt) ?? scan.notedPrompt;
    else if (type === "custom-title") scan.customTitle = noteText(member.customTitle) ?? scan.customTitle;
    else if (type === "ai-title") scan.aiTitle = noteText(member.aiTitle) ?? scan.aiTitle;
    else if (type === "summary") scan.summary = noteText(member.summary) ?? scan.summary;
  };

  const noteText = (slot: number): string | undefined => kept(line.text(slot), TITLE_LENGTH);

  return {
    begin(nextScan, nextLedger) {
      tail.forget();
      scan = nextScan;
      ledger = nextLedger;
    },
    read,
    reject,
  };
}

export function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1)
    if (bytes[at] !== 0x0d && bytes[at] !== 0x20 && bytes[at] !== 0x09) return false;
  return true;
}

function addOnce(list: string[], text: string | undefined): void {
  if (text === undefined || text === "" || list.at(-1) === text || list.length >= LIST_LIMIT) return;
  const value = text.slice(0, NAME_LENGTH);
  if (!list.includes(value)) list.push(value);
}

/**
 * Text that is stored. Secrets are taken out before it is cut: half of one would not be recognised. The
 * longest secret that is looked for, and what a cut may leave of the next, lie within `SECRET_LENGTH`.
 */
function kept(text: string | undefined, length: number): string | undefined {
  return text === undefined ? undefined : bounded(redactText(text.slice(0, length + SECRET_LENGTH)), length);
}

const SECRET_LENGTH = 8192;
