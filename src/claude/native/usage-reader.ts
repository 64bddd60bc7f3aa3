/**
 * Reads lines for accounting only: the usage of each message, and the few facts that tell forks and folders apart. Most
 * bytes are in lines from people and tools, which use nothing; the beginning of such a line is enough to skip it. The
 * content of an answer is cut out before the line is parsed. Damaged lines are ignored.
 */
import { type JsonRecord, isRecord, parseJson, recordOf } from "../../base/json-record.ts";
import { latin1, utf8 } from "./json-bytes.ts";
import { ANOTHER_LINE, NAME_LENGTH, SYNTHETIC_MODEL, bounded, isBlank } from "./line-format.ts";
import type { LineReader } from "./line-reader.ts";
import { type SessionScan, createSessionScan } from "./session-scan.ts";
import { type MessageUsage, type UsageLedger, recordUsage } from "./usage.ts";

/** Serves any number of files, one after the other. */
export function createUsageReader(): LineReader {
  let scan: SessionScan = createSessionScan();
  let ledger: UsageLedger = new Map();
  /** Whether the facts that only the first lines need to give are known. */
  let isIntroduced = false;
  /** Of the last answer. */
  let lastRepeated = "";

  const introduce = (line: JsonRecord): void => {
    const cwd = nameOf(line["cwd"]);
    scan.rootUuid ??= nameOf(line["uuid"]);
    scan.openedAt ??= instantOf(line);
    if (cwd !== undefined && cwd !== "" && scan.cwds.length === 0) scan.cwds.push(cwd);
    isIntroduced = scan.rootUuid !== undefined && scan.openedAt !== undefined && scan.cwds.length > 0;
  };

  return {
    needsText: false,
    begin(nextScan, nextLedger) {
      isIntroduced = false;
      lastRepeated = "";
      scan = nextScan;
      ledger = nextLedger;
    },
    read(bytes, _text, start, end) {
      if (isIntroduced && isUserLine(bytes, start, end)) return true;
      const text = latin1(bytes, start, end);
      const cut = findContent(text);
      if (isIntroduced && cut === undefined && !text.includes(ASSISTANT)) return true;
      const repeated = cut === undefined ? "" : repeatedPart(text, cut);
      if (isIntroduced && repeated !== "" && repeated === lastRepeated) return true;
      lastRepeated = repeated;
      const line = (cut && parseAnswer(bytes, start, end, cut)) ?? parseJson(utf8(bytes, start, end));
      if (!isRecord(line)) return isBlank(bytes, start, end);
      if (!isIntroduced) introduce(line);
      if (line["type"] !== "assistant") return true;
      const at = instantOf(line);
      if (at !== undefined && (scan.lastAt === undefined || at > scan.lastAt)) scan.lastAt = at;
      const message = recordOf(line["message"]);
      const messageId = nameOf(message["id"]) ?? nameOf(line["uuid"]);
      if (message["usage"] == null || message["model"] === SYNTHETIC_MODEL || messageId === undefined) return true;
      scan.firstMessageId ??= messageId;
      recordUsage(ledger, messageId, usageOf(message, at));
      return true;
    },
    reject: () => undefined,
  };
}

const USER = '"type":"user"';
/** With or without a space after the colon. */
const ASSISTANT = '"assistant"';
const HEAD_BYTES = 512;

/** Whether the line gives its type as `user` before its first nested value. In a text, the quotes would be escaped. */
function isUserLine(bytes: Buffer, start: number, end: number): boolean {
  const head = latin1(bytes, start, Math.min(end, start + HEAD_BYTES));
  const type = head.indexOf(USER);
  return type !== -1 && head.lastIndexOf("{", type) === 0 && !head.slice(0, type).includes("[");
}

const MESSAGE = '"message":{';
const CONTENT = '"content":[';
const AFTER_CONTENT = '],"stop_reason":';
const AFTER_USAGE = '},"requestId":';

/** The content of a message: from after its opening bracket to its closing one. */
interface Cut {
  from: number;
  to: number;
}

/** Text cannot forge the places to cut, because its quotes are escaped. */
function findContent(text: string): Cut | undefined {
  const content = text.indexOf(CONTENT);
  const from = content + CONTENT.length;
  const to = content === -1 ? -1 : text.indexOf(AFTER_CONTENT, content);
  return to === -1 || text.slice(from, to).includes(ANOTHER_LINE) ? undefined : { from, to };
}

/** What all lines of one message have in common: model, id and, unless it has grown, usage. */
function repeatedPart(text: string, { from, to }: Cut): string {
  const message = text.indexOf(MESSAGE);
  const end = text.indexOf(AFTER_USAGE, to);
  return message === -1 || end === -1 ? "" : text.slice(message, from) + text.slice(to, end);
}

/**
 * Parses an answer without its content. If a nested value has the places to cut, the brackets of the rest do not
 * balance. Undefined if it is not certain that this is an answer.
 */
function parseAnswer(bytes: Buffer, start: number, end: number, { from, to }: Cut): JsonRecord | undefined {
  const line = parseJson(utf8(bytes, start, start + from) + utf8(bytes, start + to, end));
  const isAnswer = isRecord(line) && line["type"] === "assistant" && recordOf(line["message"])["usage"] != null;
  return isAnswer ? line : undefined;
}

function usageOf({ model, usage }: JsonRecord, at: number | undefined): MessageUsage {
  const used = recordOf(usage);
  const cacheWrite = countOf(used["cache_creation_input_tokens"]);
  const hour = countOf(recordOf(used["cache_creation"])["ephemeral_1h_input_tokens"]);
  return {
    input: countOf(used["input_tokens"]),
    output: countOf(used["output_tokens"]),
    cacheRead: countOf(used["cache_read_input_tokens"]),
    cacheWrite,
    cacheWriteHour: Math.min(cacheWrite, hour),
    model: typeof model === "string" ? model : undefined,
    at,
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && value > 0 && Number.isSafeInteger(value) ? value : 0;
}

function nameOf(value: unknown): string | undefined {
  return typeof value === "string" ? bounded(value, NAME_LENGTH) : undefined;
}

function instantOf({ timestamp }: JsonRecord): number | undefined {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
