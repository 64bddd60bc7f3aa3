/**
 * Reads lines for accounting only: the usage of each message, and the few facts that tell forks and folders apart. Most
 * lines are from people and tools and use nothing; when the first members show that, the rest of the line is skipped.
 * Damaged lines are ignored.
 */
import { BACKSLASH, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, decodeInstant } from "./json-bytes.ts";
import {
  ANSWER,
  LINE_START,
  NAME_LENGTH,
  USAGE_MEMBERS,
  bounded,
  createLineTail,
  isBlank,
  readUsage,
} from "./line-format.ts";
import type { LineReader } from "./line-reader.ts";
import { type Passage, createObjectSkimmer } from "./object-skimmer.ts";
import { type SessionScan, createSessionScan } from "./session-scan.ts";
import { type UsageLedger, recordUsage } from "./usage.ts";

const MEMBERS = [...USAGE_MEMBERS, "type", "timestamp", "cwd", "userType", "toolUseResult"] as const;

/** Serves any number of files, one after the other. */
export function createUsageReader(): LineReader {
  const line = createObjectSkimmer(MEMBERS);
  const member = line.slots;
  const passages: (Passage | undefined)[] = [];
  passages[member["message.content"]] = ANSWER;
  const shortCut = { last: member.toolUseResult, passages, other: LINE_START };
  const tail = createLineTail();
  let scan: SessionScan = createSessionScan();
  let ledger: UsageLedger = new Map();
  /** Whether the facts that only the first lines need to give are known. */
  let isIntroduced = false;

  const read = (bytes: Buffer, text: string, start: number, end: number): boolean => {
    if (isBlank(bytes, start, end)) return true;
    const known = tail.find(bytes, start, end);
    if (known === -1 || line.skim(bytes, start, known, text, shortCut) !== known) {
      const objectEnd = line.skim(bytes, start, end, text);
      if (objectEnd !== end && (objectEnd === -1 || !isBlank(bytes, objectEnd, end))) return false;
      if (line.has(member.userType)) tail.keep(bytes, line.start(member.userType), end);
    }
    const at = decodeInstant(bytes, line.start(member.timestamp), line.end(member.timestamp));
    if (at !== undefined && (scan.lastAt === undefined || at > scan.lastAt)) scan.lastAt = at;
    if (!isIntroduced) introduce(at);
    if (line.text(member.type) !== "assistant") return true;
    const used = readUsage(line, at);
    if (used === undefined) return true;
    scan.firstMessageId ??= used.messageId;
    recordUsage(ledger, used.messageId, used.usage);
    return true;
  };

  const introduce = (at: number | undefined): void => {
    const cwd = bounded(line.text(member.cwd), NAME_LENGTH);
    scan.rootUuid ??= bounded(line.text(member.uuid), NAME_LENGTH);
    scan.openedAt ??= at;
    if (cwd !== undefined && cwd !== "" && scan.cwds.length === 0) scan.cwds.push(cwd);
    isIntroduced = scan.rootUuid !== undefined && scan.openedAt !== undefined && scan.cwds.length > 0;
  };

  return {
    begin(nextScan, nextLedger) {
      tail.forget();
      isIntroduced = false;
      scan = nextScan;
      ledger = nextLedger;
    },
    skips: (bytes, start, end) => isIntroduced && isUserLine(bytes, start, end),
    read,
    reject: () => undefined,
  };
}

const TYPE = Buffer.from('type":"user"');

/** Whether the line gives its type as `user` before its first nested value. Reads only the beginning of the line. */
function isUserLine(bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  while (bytes[at] === (at === start ? OPEN_BRACE : COMMA) && bytes[at + 1] === QUOTE) {
    const name = at + 2;
    const colon = afterPlainString(bytes, name, end);
    if (bytes[colon] !== COLON) return false;
    if (colon - name === TYPE_NAME && startsWith(bytes, name, TYPE_NAME)) return startsWith(bytes, name, TYPE.length);
    const first = bytes[colon + 1];
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return false;
    at = first === QUOTE ? afterPlainString(bytes, colon + 2, end) : bytes.indexOf(COMMA, colon);
    if (at < start || at >= end) return false;
  }
  return false;
}

/** The length of `type"`. */
const TYPE_NAME = 5;

/** Whether `TYPE`, up to `length`, is at this place. */
function startsWith(bytes: Uint8Array, start: number, length: number): boolean {
  for (let at = 0; at < length; at += 1) if (bytes[start + at] !== TYPE[at]) return false;
  return true;
}

/** The place after the closing quote, or -1 if the string has an escape or no end. */
function afterPlainString(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === QUOTE) return at + 1;
    if (bytes[at] === BACKSLASH) return -1;
  }
  return -1;
}
