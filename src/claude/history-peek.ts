/**
 * The end of a transcript as short text, for a hand-off: prompts, answers, tools, files and branch. It follows the
 * conversation from the last message upwards, across compactions, and skips abandoned branches. A transcript is read
 * backwards and only as far as needed; a compressed copy from the archive has to be read from its start.
 *
 * Quoted text may be hostile: control characters are made visible, secrets are replaced, and only the first line of a
 * message begins at the margin, so that no message can pass for another.
 */
import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { redactText } from "../base/redact.ts";
import { type JsonRecord, isRecord, parseJson } from "../base/json-record.ts";
import { type Line, readLinesBackward } from "../base/jsonl.ts";
import { readMarker } from "./attribution.ts";
import { openNativeFile } from "./native/layout.ts";
import { messageOf } from "./native/read-messages.ts";
import { partOwner } from "./archive/catalogue.ts";
import { isUnpackingError, readPartLines } from "./archive/archive-part.ts";
import { printable } from "../base/text.ts";

export interface PeekOptions {
  /** Approximate length of the text. Default: 4,000. */
  maxChars?: number | undefined;
  /** Bytes to read from the end of the file. Default: 4 MiB. */
  maxBytes?: number | undefined;
}

const MAX_CHARS = 4000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_LINE = 1024 * 1024;
const MAX_FILES = 12;

/** Undefined when the transcript is missing or has no messages. */
export async function peekSessionHistory(path: string, options: PeekOptions = {}): Promise<string | undefined> {
  const { maxChars = MAX_CHARS, maxBytes = MAX_BYTES } = options;
  await using handle = await openNativeFile(path);
  if (handle === undefined) return undefined;
  const isArchived = partOwner(basename(path)) !== undefined;
  const peek = createPeek(maxChars);
  for await (const line of isArchived ? unpackedBackward(handle, maxBytes) : linesBackward(handle, maxBytes)) {
    const record = line.oversized ? undefined : parseJson(line.bytes.toString("utf8"));
    if (isRecord(record) && !peek.take(record)) break;
  }
  return peek.text();
}

/** Skips the line that the limit cuts. */
async function* linesBackward(handle: FileHandle, maxBytes: number): AsyncGenerator<Line> {
  const { size } = await handle.stat();
  const start = Math.max(0, size - maxBytes);
  for await (const line of readLinesBackward(handle, { start, end: size, maxLineBytes: MAX_LINE })) {
    if (start === 0 || line.offset !== start) yield line;
  }
}

/** Keeps only lines near the end. A damaged copy has no end, so it yields nothing. */
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

const PERSON = "Person";

interface Message {
  who: string;
  text: string;
  limit: number;
}

function createPeek(maxChars: number) {
  /** Newest first. */
  const messages: Message[] = [];
  const tools = new Map<string, number>();
  /** The newest first. */
  const files = new Set<string>();
  let branch: string | undefined;
  /** The id of the parent line; undefined before the last message was found, null at the root. */
  let wanted: unknown;
  let length = 0;

  const add = (who: string, text: string, share: number): void => {
    const limit = Math.max(80, Math.floor(maxChars * share));
    messages.push({ who, text, limit });
    length += Math.min(text.length, limit);
  };
  const takeMessage = (line: JsonRecord): void => {
    const { role, text, calls } = messageOf(line) ?? { role: "tool", text: "", calls: [] };
    if (role === "user") add(PERSON, text, 0.25);
    if (role === "summary") add("Summary of what came before", text, 0.4);
    if (role === "assistant" && text !== "") add("Claude", text, 0.4);
    for (const { name, input } of calls) {
      tools.set(name, (tools.get(name) ?? 0) + 1);
      const path = input["file_path"] ?? input["notebook_path"];
      if (typeof path === "string") files.add(path);
    }
  };

  return {
    /** Adds the line before the last one. Returns false when no more lines are needed. */
    take(line: JsonRecord): boolean {
      const { uuid, type } = line;
      if (typeof uuid !== "string" || line["isSidechain"] === true) return true;
      if (wanted === undefined ? type !== "user" && type !== "assistant" : uuid !== wanted) return true;
      if (branch === undefined && typeof line["gitBranch"] === "string") branch = line["gitBranch"];
      takeMessage(line);
      wanted = line["parentUuid"] ?? line["logicalParentUuid"] ?? null;
      return typeof wanted === "string" && length < maxChars;
    },
    text(): string | undefined {
      const notes = [
        ...(branch === undefined || branch === "" ? [] : [quote("Branch", branch, 200)]),
        ...(tools.size === 0
          ? []
          : [quote("Tools", [...tools].map(([name, count]) => `${name} ×${count}`).join(", "), 400)]),
        ...(files.size === 0 ? [] : [quote("Files", [...files].slice(0, MAX_FILES).join(", "), 800)]),
      ];
      // Only the first prompt of the conversation may have the marker.
      const first = wanted === null ? messages.findLast(({ who }) => who === PERSON) : undefined;
      if (first !== undefined) first.text = readMarker(first.text).text;
      const lines = [...notes, ...messages.toReversed().map(({ who, text, limit }) => quote(who, text, limit))];
      return lines.length === 0 ? undefined : lines.join("\n");
    },
  };
}

function quote(who: string, text: string, maxLength: number): string {
  const safe = printable(redactText(text.slice(0, maxLength * 4).toWellFormed())).trim();
  const cut = safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).toWellFormed()}…`;
  return `${who}: ${cut.replace(/[\r\n\u2028\u2029]+/g, "\n  ")}`;
}
