/**
 * Reads lines for accounting alone: what every message of the model used, and the little that tells forks and
 * folders apart. Most lines are those of people and tools, which use nothing; where the first members of a line
 * say that it is one of them, the rest is not looked at. Damage is not counted either, but a damaged line counts
 * for nothing, as everywhere.
 */
import { NAME_LENGTH, bounded } from "./bounded-text.ts";
import { createInstantReader } from "./instant.ts";
import { COLON, COMMA, DAMAGED, OPEN_BRACE, OPEN_BRACKET, QUOTE, skipString, skipValue } from "./json-steps.ts";
import { type LineReader, isBlank } from "./line-reader.ts";
import { createLineTail } from "./line-tail.ts";
import { ANSWER, LINE_START, USAGE_MEMBERS } from "./line-types.ts";
import { type Passage, createObjectSkimmer } from "./object-skimmer.ts";
import { type SessionScan, createSessionScan } from "./session-scan.ts";
import { readUsage } from "./usage-line.ts";
import { type UsageLedger, recordUsage } from "./usage.ts";

const MEMBERS = [...USAGE_MEMBERS, "type", "timestamp", "cwd", "userType", "toolUseResult"] as const;

/** To be used for one file after the other. */
export function createUsageReader(): LineReader {
  const line = createObjectSkimmer(MEMBERS);
  const member = line.slots;
  const passages: (Passage | undefined)[] = [];
  passages[member["message.content"]] = ANSWER;
  const shortCut = { last: member.toolUseResult, passages, other: LINE_START };
  const instants = createInstantReader();
  const tail = createLineTail();
  let scan: SessionScan = createSessionScan();
  let ledger: UsageLedger = new Map();
  /** Whether the first lines have said what only they are needed for. */
  let isIntroduced = false;

  const read = (bytes: Buffer, text: string, start: number, end: number): boolean => {
    if (isBlank(bytes, start, end) || (isIntroduced && isUserLine(bytes, text, start, end))) return true;
    const known = tail.find(bytes, start, end);
    if (known === -1 || line.skimUpTo(bytes, start, known, text, shortCut) !== known) {
      const objectEnd = line.skim(bytes, start, end, text);
      if (objectEnd !== end && (objectEnd === -1 || !isBlank(bytes, objectEnd, end))) return false;
      if (line.has(member.userType)) tail.keep(bytes, line.start(member.userType), end);
    }
    const at = instants.read(bytes, line.start(member.timestamp), line.end(member.timestamp));
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
    read,
    reject: () => undefined,
  };
}

/** Whether the line says that it is a person's or a tool's before anything larger begins. */
function isUserLine(bytes: Buffer, text: string, start: number, end: number): boolean {
  let at = start;
  while (bytes[at] === (at === start ? OPEN_BRACE : COMMA) && bytes[at + 1] === QUOTE) {
    const colon = skipString(bytes, text, at + 2, end);
    if (colon === DAMAGED || bytes[colon] !== COLON) return false;
    if (text.startsWith('"type":', at + 1)) return text.startsWith('"user"', colon + 1);
    const first = bytes[colon + 1];
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return false;
    at = skipValue(bytes, text, colon + 1, end);
  }
  return false;
}
