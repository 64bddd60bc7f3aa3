/**
 * Turns OpenClaw's transcripts into windows. Each entry is taken once:
 * - A `reset` event ends a window. OpenClaw keeps the session id there; here the next window has an id of its own.
 * - A rewind copies the conversation into a new session. Here the new window refers to the old one, as forks do.
 * - Entries that the home already has are left out, so an import can be repeated.
 *
 * Ids and times come from the source alone: the same source always gives the same files.
 */
import { nodeCrypto } from "../base/builtin.ts";
import { type JsonRecord, isRecord, parseJson } from "../base/json-record.ts";
import { encodeLine } from "../base/jsonl.ts";
import type { WindowReason } from "../store/store.ts";
import { SESSION_MARK_TYPE, TRANSCRIPT_VERSION } from "../transcript/entries.ts";
import { isSessionId, transcriptFileName } from "../transcript/paths.ts";
import { FORK_TYPE } from "../transcript/walk.ts";

/** A transcript of OpenClaw: a file, or the events of one session id in its database. */
export interface FoundTranscript {
  sessionId: string;
  read: () => Promise<TranscriptContent>;
  /** Default: the entry of the last line. */
  leafId?: string | undefined;
  reason: WindowReason;
  /** Used if no line has a time. */
  openedAt: number;
  /** True if the session's next message continues here. */
  isCurrent: boolean;
  /** Default: named after the session id. */
  fileName?: string | undefined;
}

export interface TranscriptContent {
  /** The header may be missing. */
  lines: Line[];
  /** The file as it is. Undefined for events of a database. */
  bytes?: Uint8Array | undefined;
}

export interface Line {
  /** Without the newline. */
  text: string;
  /** Undefined if the line is not a JSON object. It is kept all the same. */
  record: JsonRecord | undefined;
}

export interface ImportedWindow {
  sessionId: string;
  fileName: string;
  /** The whole transcript. */
  content: string | Uint8Array;
  openedAt: number;
  lastAt: number;
  reason: WindowReason;
  isCurrent: boolean;
  messages: number;
}

/** The windows that hold the entries of a session, by entry id. */
export type KnownEntries = Map<string, Pick<ImportedWindow, "sessionId" | "fileName">>;

export function toLines(text: string): Line[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map(toLine);
}

export function toLine(text: string): Line {
  const value = parseJson(text);
  return { text, record: isRecord(value) ? value : undefined };
}

/** The entry's id. A line of an old form has none and is known by its text. Undefined for a header. */
function lineId({ text, record }: Line): string | undefined {
  if (record?.["type"] === "session") return undefined;
  return stringOf(record?.["id"]) ?? `text:${text}`;
}

/** Without headers. */
export function lineIds(lines: readonly Line[]): string[] {
  return lines.map(lineId).filter((id) => id !== undefined);
}

export function countMessages(lines: readonly Line[]): number {
  return lines.filter(({ record }) => MESSAGE_TYPES.has(record?.["type"] ?? record?.["role"])).length;
}

const MESSAGE_TYPES: ReadonlySet<unknown> = new Set(["message", "user", "assistant", "toolResult"]);

export interface ConvertOptions extends TranscriptContent {
  key: string;
  /** Entries that the session already has. The new ones are added. */
  known: KnownEntries;
  /** True if another window has this session id or file. */
  isTaken: (sessionId: string) => boolean;
}

/** The windows with the transcript's new entries, oldest first. None if everything is known. */
export function toWindows(found: FoundTranscript, options: ConvertOptions): ImportedWindow[] {
  const { lines, known } = options;
  const events = lines.filter(({ record }) => record?.["type"] !== "session");
  const added = events.filter((line) => !known.has(lineId(line) ?? ""));
  const isEmptyFile = events.length === 0 && options.bytes !== undefined && !options.isTaken(found.sessionId);
  if (added.length === 0 && !isEmptyFile) return [];
  const header = lines.find(({ record }) => record?.["type"] === "session")?.record;
  const isWhole = added.length === events.length;
  if (isWhole && isOldForm(header, lines)) return [verbatim(found, options, header)];

  const leafId = found.leafId ?? leafAfter(events.at(-1));
  const anchors = anchorsOf(added, leafId, known);
  // With several anchors the new entries cannot be one fork, so the window repeats the old ones.
  const isCopy = anchors.size > 1;
  const stretches = splitAtResets(isCopy ? events : added, isCopy ? new Map() : known);
  const current = stretches.find(({ ids }) => ids.has(leafId ?? "")) ?? stretches.at(-1);
  const windows = stretches.map((stretch, index) => {
    const isFree = index === 0 && isSessionId(found.sessionId) && !options.isTaken(found.sessionId);
    const sessionId = isFree ? found.sessionId : derivedId(found.sessionId, stretch.id);
    const isFork = !isCopy && stretch.continues;
    const parent = isFork ? known.get([...anchors][0] ?? "") : undefined;
    const isCurrent = found.isCurrent && stretch === current;
    const leaf = stretch === current ? leafId : stretch.endId;
    return render(
      { key: options.key, sessionId, header, stretch, found, isCurrent, leaf },
      parent && { ...parent, anchors },
    );
  });
  for (const [index, { ids }] of stretches.entries()) {
    for (const id of ids) if (!known.has(id)) known.set(id, windows[index] ?? { sessionId: "", fileName: "" });
  }
  return windows.toSorted((a, b) => Number(a.isCurrent) - Number(b.isCurrent));
}

/** A file of our own version or older is copied byte for byte. Newer ones may hold resets and moved leaves. */
function isOldForm(header: JsonRecord | undefined, lines: readonly Line[]): boolean {
  const version = header?.["version"] ?? 1;
  const isReadable = typeof version === "number" && version <= TRANSCRIPT_VERSION;
  return isReadable && !lines.some(({ record }) => record?.["type"] === "reset" || record?.["type"] === "leaf");
}

function verbatim(found: FoundTranscript, options: ConvertOptions, header: JsonRecord | undefined): ImportedWindow {
  const { lines, bytes, known, isTaken } = options;
  const isFree = isSessionId(found.sessionId) && !isTaken(found.sessionId);
  const sessionId = isFree ? found.sessionId : derivedId(found.sessionId, ...lineIds(lines.slice(0, 2)));
  const fileName = (isFree ? found.fileName : undefined) ?? transcriptFileName(sessionId);
  for (const id of lineIds(lines)) known.set(id, { sessionId, fileName });
  return {
    sessionId,
    fileName,
    content: bytes ?? lines.map(({ text }) => `${text}\n`).join(""),
    ...timesOf(lines, header, found),
    reason: found.reason,
    isCurrent: found.isCurrent,
    messages: countMessages(lines),
  };
}

/** Known entries that new ones, or the place to continue from, hang on. */
function anchorsOf(added: readonly Line[], leafId: string | undefined, known: KnownEntries): Set<string> {
  const parents = added.filter(({ record }) => record?.["type"] !== "reset").map(parentOf);
  return new Set([...parents, leafId].filter((id) => id !== undefined && known.has(id)) as string[]);
}

interface Stretch {
  /** Of its reset event, or of its first line. */
  id: string;
  lines: Line[];
  ids: Set<string>;
  /** It continues an entry of an earlier window. */
  continues: boolean;
  /** The entry before the next reset. Default: the last one. */
  endId: string | undefined;
}

/** An entry belongs to the stretch of its parent, wherever it is in the file. */
function splitAtResets(lines: readonly Line[], known: KnownEntries): Stretch[] {
  const stretches: Stretch[] = [];
  const stretchOf = new Map<string, Stretch>();
  let first: Stretch | undefined;
  const open = (id: string): Stretch => {
    const stretch = { id, lines: [], ids: new Set<string>(), continues: false, endId: undefined };
    stretches.push(stretch);
    return stretch;
  };
  for (const line of lines) {
    const id = lineId(line) ?? "";
    const parent = parentOf(line) ?? "";
    const before = stretchOf.get(parent);
    let stretch = before;
    if (line.record?.["type"] === "reset") {
      if (before !== undefined) before.endId = parent;
      stretch = open(id);
    } else if (known.has(parent)) {
      stretch = first ??= open(id);
      stretch.continues = true;
    } else if (stretch === undefined) {
      stretch = stretches.at(-1) ?? (first ??= open(id));
    }
    stretch.lines.push(line);
    stretch.ids.add(id);
    stretchOf.set(id, stretch);
  }
  return stretches;
}

interface Rendering {
  key: string;
  sessionId: string;
  header: JsonRecord | undefined;
  stretch: Stretch;
  found: FoundTranscript;
  isCurrent: boolean;
  /** Where the window ends. */
  leaf: string | undefined;
}

interface ForkParent {
  sessionId: string;
  fileName: string;
  anchors: ReadonlySet<string>;
}

function render(rendering: Rendering, parent: ForkParent | undefined): ImportedWindow {
  const { key, sessionId, header, stretch, found, isCurrent, leaf } = rendering;
  const { lines, ids } = stretch;
  const isReset = lines[0]?.record?.["type"] === "reset";
  const reason = isReset ? "command" : parent === undefined ? found.reason : "switch";
  const times = timesOf(lines, isReset ? undefined : header, found);
  const timestamp = new Date(times.openedAt).toISOString();
  const [anchor] = parent?.anchors ?? [];
  const forkId = shortId(sessionId, "fork");
  const own: JsonRecord[] = [
    {
      ...header,
      type: "session",
      version: TRANSCRIPT_VERSION,
      id: sessionId,
      timestamp,
      cwd: stringOf(header?.["cwd"]) ?? "",
      parentSession: parent?.fileName,
    },
  ];
  if (parent !== undefined) {
    const data = { parentSession: parent.fileName, parentSessionId: parent.sessionId, leafId: anchor };
    own.push({ type: "custom", id: forkId, parentId: null, timestamp, customType: FORK_TYPE, data });
  }
  const markParent = parent === undefined ? null : forkId;
  const mark = { customType: SESSION_MARK_TYPE, data: { key, reason } };
  own.push({ type: "custom", id: shortId(sessionId, "mark"), parentId: markParent, timestamp, ...mark });

  const texts = lines.map((line) => {
    const { record } = line;
    const parentId = parentOf(line) ?? null;
    if (record?.["type"] === "reset") return encodeLine({ ...record, parentId: null });
    if (anchor !== undefined && parentId === anchor) return encodeLine({ ...record, parentId: forkId });
    return record?.["type"] === "leaf" ? encodeLine({ ...record, parentId }) : `${line.text}\n`;
  });
  const last = lines.at(-1);
  const end = leaf ?? leafAfter(last);
  if (end !== undefined && ids.has(end) && leafAfter(last) !== end) {
    const at = new Date(times.lastAt).toISOString();
    const place = { id: shortId(sessionId, end), parentId: end, timestamp: at };
    texts.push(encodeLine({ type: "custom", ...place, customType: "holdfast.leaf" }));
  }
  return {
    sessionId,
    fileName: transcriptFileName(sessionId),
    content: [...own.map(encodeLine), ...texts].join(""),
    ...times,
    reason,
    isCurrent,
    messages: countMessages(lines),
  };
}

/** The entry from which a conversation continues after this line: a `leaf` event moves it. */
function leafAfter(line: Line | undefined): string | undefined {
  if (line === undefined) return undefined;
  return line.record?.["type"] === "leaf" ? parentOf(line) : lineId(line);
}

function parentOf({ record }: Line): string | undefined {
  return stringOf(record?.["type"] === "leaf" ? record["targetId"] : record?.["parentId"]);
}

function timesOf(lines: readonly Line[], header: JsonRecord | undefined, { openedAt }: FoundTranscript) {
  const times = [header, ...lines.map(({ record }) => record)].flatMap((record) => timeOf(record?.["timestamp"]) ?? []);
  const first = times[0] ?? openedAt;
  return { openedAt: first, lastAt: times.reduce((latest, time) => Math.max(latest, time), first) };
}

/** ISO text or milliseconds. */
export function timeOf(value: unknown): number | undefined {
  const time = typeof value === "string" ? Date.parse(value) : value;
  return typeof time === "number" && time > 0 && time < 8.64e15 ? time : undefined;
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** In the form of a UUID, always the same for the same parts. */
export function derivedId(...parts: readonly string[]): string {
  return digest(parts).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}

function shortId(...parts: readonly string[]): string {
  return digest(parts).slice(0, 8);
}

function digest(parts: readonly string[]): string {
  return nodeCrypto().createHash("sha256").update(parts.join("\n")).digest("hex");
}
