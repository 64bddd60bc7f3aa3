/**
 * The end of a transcript as a short text, for whoever takes over: what the person asked, what Claude
 * Code answered, which tools it used on which files, and on which branch. It follows the conversation from
 * its last message upwards, across compactions; branches that were left are passed over. A transcript is
 * read from its end and no further than needed; a compressed copy in the archive only from its start.
 *
 * What is quoted is hostile text: control characters are made visible, secrets replaced, and only the
 * first line of a message begins at the margin, so that no message can pass for another.
 */
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { printable } from "../base/printable.ts";
import { redactText } from "../base/redact.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { type Line, readLinesBackward } from "../base/jsonl.ts";
import { partOwner } from "./archive/manifest.ts";
import { isUnpackingError, readPartLines } from "./archive/read-part.ts";
import { readMarker } from "./attribution.ts";
import { openNativeFile } from "./native/layout.ts";
import { isRealPrompt, promptText } from "./native/message-content.ts";
import { parseJson } from "./native/parse-json.ts";

export interface PeekOptions {
  /** Of the text, about. Default 4,000. */
  maxChars?: number;
  /** Of the file, from its end. Default 4 MiB. */
  maxBytes?: number;
}

const MAX_CHARS = 4000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_LINE = 1024 * 1024;
const MAX_FILES = 12;

/** Undefined when there is no transcript, or nothing in it that could be told. */
export async function peekSessionHistory(path: string, options: PeekOptions = {}): Promise<string | undefined> {
  const { maxChars = MAX_CHARS, maxBytes = MAX_BYTES } = options;
  await using handle = await openNativeFile(path);
  if (handle === undefined) return undefined;
  const isArchived = partOwner(basename(path)) !== undefined;
  const peek = createPeek(maxChars);
  for await (const line of isArchived ? unpackedBackward(handle, maxBytes) : linesBackward(handle, maxBytes)) {
    const record = parseLine(line);
    if (record !== undefined && !peek.take(record)) break;
  }
  return peek.text();
}

/** Without the line that the limit cuts. */
async function* linesBackward(handle: FileHandle, maxBytes: number): AsyncGenerator<Line> {
  const { size } = await handle.stat();
  const start = Math.max(0, size - maxBytes);
  for await (const line of readLinesBackward(handle, { start, end: size, maxLineBytes: MAX_LINE })) {
    if (start === 0 || line.offset !== start) yield line;
  }
}

/** What is not near the end is forgotten on the way. A damaged copy has no end, so it tells nothing. */
async function* unpackedBackward(handle: FileHandle, maxBytes: number): AsyncGenerator<Line> {
  const last: Line[] = [];
  let size = 0;
  try {
    for await (const line of readPartLines(handle, { maxLineBytes: MAX_LINE })) {
      last.push(line);
      size += sizeOf(line);
      while (size > maxBytes) size -= sizeOf(last.shift());
    }
  } catch (error) {
    if (isUnpackingError(error)) return;
    throw error;
  }
  yield* last.toReversed();
}

function sizeOf(line: Line | undefined): number {
  return (line?.bytes.length ?? 0) + 1;
}

function parseLine(line: Line): JsonRecord | undefined {
  const value = line.oversized ? undefined : parseJson(line.bytes.toString("utf8"));
  return isRecord(value) ? value : undefined;
}

const PERSON = "Person";

interface Message {
  who: string;
  text: string;
  limit: number;
}

interface Peek {
  /** The line before the one taken last. False when nothing more is wanted. */
  take(line: JsonRecord): boolean;
  text(): string | undefined;
}

function createPeek(maxChars: number): Peek {
  /** Newest first. */
  const messages: Message[] = [];
  const tools = new Map<string, number>();
  const files = new Set<string>();
  let branch: string | undefined;
  /** The line that comes before on the way to the root; undefined: the next message is the last one. */
  let wanted: unknown;
  let length = 0;

  const add = (who: string, text: string, share: number): void => {
    const limit = Math.max(80, Math.floor(maxChars * share));
    messages.push({ who, text, limit });
    length += Math.min(text.length, limit);
  };
  const takeMessage = (line: JsonRecord, content: unknown): void => {
    if (line["type"] === "assistant") {
      const answer = textOf(content);
      if (answer !== "") add("Claude", answer, 0.4);
      noteTools(content, tools, files);
    } else if (line["isCompactSummary"] === true) add("Summary of what came before", textOf(content), 0.4);
    else if (line["type"] === "user" && line["isMeta"] !== true && line["toolUseResult"] === undefined) {
      if (!isRealPrompt(content)) return;
      add(PERSON, promptText(content), 0.25);
    }
  };

  return {
    take(line) {
      const { uuid, type, message } = line;
      if (typeof uuid !== "string" || line["isSidechain"] === true) return true;
      if (wanted === undefined ? type !== "user" && type !== "assistant" : uuid !== wanted) return true;
      if (branch === undefined && typeof line["gitBranch"] === "string") branch = line["gitBranch"];
      takeMessage(line, isRecord(message) ? message["content"] : undefined);
      wanted = line["parentUuid"] ?? line["logicalParentUuid"] ?? null;
      return typeof wanted === "string" && length < maxChars;
    },
    text() {
      const notes = [
        ...(branch === undefined || branch === "" ? [] : [quote("Branch", branch, 200)]),
        ...(tools.size === 0
          ? []
          : [quote("Tools", [...tools].map(([name, count]) => `${name} ×${count}`).join(", "), 400)]),
        ...(files.size === 0 ? [] : [quote("Files", [...files].slice(0, MAX_FILES).join(", "), 800)]),
      ];
      // At the root the oldest prompt is the first of all, and may carry the marker.
      const first = wanted === null ? messages.findLast(({ who }) => who === PERSON) : undefined;
      if (first !== undefined) first.text = readMarker(first.text).text;
      const lines = [...notes, ...messages.toReversed().map(({ who, text, limit }) => quote(who, text, limit))];
      return lines.length === 0 ? undefined : lines.join("\n");
    },
  };
}

function textOf(content: unknown): string {
  return typeof content === "string" || Array.isArray(content) ? promptText(content).trim() : "";
}

/** The newest file first. */
function noteTools(content: unknown, tools: Map<string, number>, files: Set<string>): void {
  if (!Array.isArray(content)) return;
  for (const block of content.filter(isRecord)) {
    const { type, name, input } = block;
    if (type !== "tool_use" || typeof name !== "string") continue;
    tools.set(name, (tools.get(name) ?? 0) + 1);
    const path = isRecord(input) ? (input["file_path"] ?? input["notebook_path"]) : undefined;
    if (typeof path === "string") files.add(path);
  }
}

function quote(who: string, text: string, maxLength: number): string {
  const safe = printable(redactText(text.slice(0, maxLength * 4).toWellFormed())).trim();
  const cut = safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).toWellFormed()}…`;
  return `${who}: ${cut.replace(/[\r\n\u2028\u2029]+/g, "\n  ")}`;
}
