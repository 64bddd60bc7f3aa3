/**
 * Turns OpenClaw's transcripts into windows. Each entry is taken once:
 * - A `reset` event ends a window. OpenClaw keeps the session id there; here the next window has an id of its own.
 * - A rewind copies the conversation into a new session. Here the new window refers to the old one, as forks do.
 * - Entries that the home already has are skipped, so an import can be repeated.
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

/** The windows that hold the entries of a session, by the mark of an entry, and by its id alone. */
export type KnownEntries = Map<string, EntryPlace>;

type EntryPlace = Pick<ImportedWindow, "sessionId" | "fileName">;

export function addKnown(known: KnownEntries, lines: readonly Line[], place: EntryPlace): void {
  for (const line of lines) {
    if (isHeader(line)) continue;
    if (!known.has(markOf(line))) known.set(markOf(line), place);
    known.set(idOf(line), place);
  }
}

export function toLines(text: string): Line[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map(toLine);
}

export function toLine(text: string): Line {
  const value = parseJson(text);
  return { text, record: isRecord(value) ? value : undefined };
}

/** Of all lines but headers. */
export function lineMarks(lines: readonly Line[]): string[] {
  return lines.filter((line) => !isHeader(line)).map(markOf);
}

function isHeader({ record }: Line): boolean {
  return record?.["type"] === "session";
}

/** Ids are short, so two entries may have the same one. A copy has the same content too, at another place perhaps. */
function markOf(line: Line): string {
  if (line.record === undefined) return idOf(line);
  const { message, parentId: _place, ...rest } = line.record;
  const content = isRecord(message) ? [message["role"], message["content"]] : rest;
  return `${idOf(line)} ${digest([JSON.stringify(content)])}`;
}

/** A line of an old form has no id and is known by its text. */
function idOf({ text, record }: Line): string {
  return stringOf(record?.["id"]) ?? `text:${text}`;
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
  const { lines, bytes, known } = options;
  const header = lines.find(isHeader)?.record;
  const events = lines.filter((line) => !isHeader(line));
  const added = events.filter((line) => !known.has(markOf(line)));
  const isFree = isSessionId(found.sessionId) && !options.isTaken(found.sessionId);
  const isEmptyFile = events.length === 0 && bytes !== undefined && isFree;
  if (added.length === 0 && !isEmptyFile) return [];
  const idFor = (first: string, index: number): string =>
    isFree && index === 0 ? found.sessionId : derivedId(found.sessionId, first);
  if (added.length === events.length && isOldForm(header, events)) {
    const sessionId = idFor(events[0] === undefined ? "" : idOf(events[0]), 0);
    const fileName = (isFree ? found.fileName : undefined) ?? transcriptFileName(sessionId);
    addKnown(known, events, { sessionId, fileName });
    const content = bytes ?? lines.map(({ text }) => `${text}\n`).join("");
    const { reason, isCurrent } = found;
    const messages = countMessages(events);
    return [{ sessionId, fileName, content, ...timesOf(lines, found), reason, isCurrent, messages }];
  }

  const leafId = found.leafId ?? leafAfter(events.findLast((line) => line.record?.["appendMode"] !== "side"));
  const before = knownParents(events, known);
  const anchors = anchorsOf(added, leafId, before);
  // With several anchors the new entries cannot be one fork, so the window repeats the old ones.
  const isCopy = anchors.size > 1;
  const [anchor] = anchors;
  const stretches = splitAtResets(isCopy ? events : added, isCopy ? new Map() : before);
  const current = stretches.find(({ ids }) => ids.has(leafId ?? "")) ?? stretches.at(-1);
  const windows = stretches.map((stretch, index) => {
    const place = before.get(anchor ?? "");
    const parent = anchor !== undefined && place !== undefined && stretch.continues ? { ...place, anchor } : undefined;
    const isCurrent = found.isCurrent && stretch === current;
    const leaf = stretch === current ? leafId : stretch.endId;
    const sessionId = idFor([...stretch.ids][0] ?? "", index);
    return render({ key: options.key, sessionId, header, stretch, found, isCurrent, leaf, parent });
  });
  for (const [index, { sessionId, fileName }] of windows.entries()) {
    addKnown(known, stretches[index]?.lines ?? [], { sessionId, fileName });
  }
  return windows.toSorted((a, b) => Number(a.isCurrent) - Number(b.isCurrent));
}

/** Where the entries are that these events may hang on: their own earlier ones, or any with that id. */
function knownParents(events: readonly Line[], known: KnownEntries): KnownEntries {
  const own = new Map(events.map((line) => [idOf(line), known.get(markOf(line))]));
  const parents: KnownEntries = new Map(known);
  for (const [id, place] of own)
    if (place === undefined) parents.delete(id);
    else parents.set(id, place);
  return parents;
}

/** A file of our own version or older is copied byte for byte. Newer ones may hold resets and moved leaves. */
function isOldForm(header: JsonRecord | undefined, events: readonly Line[]): boolean {
  const version = header?.["version"] ?? 1;
  const isReadable = typeof version === "number" && version <= TRANSCRIPT_VERSION;
  return (
    isReadable && !events.some(({ record }) => NEW_FORMS.has(record?.["type"]) || record?.["appendMode"] === "side")
  );
}

const NEW_FORMS: ReadonlySet<unknown> = new Set(["reset", "leaf"]);

/** Known entries that new ones, or the place to continue from, hang on. */
function anchorsOf(added: readonly Line[], leafId: string | undefined, known: KnownEntries): Set<string> {
  const parents = added.filter(({ record }) => record?.["type"] !== "reset").map(parentOf);
  return new Set([...parents, leafId].filter((id) => id !== undefined && known.has(id)) as string[]);
}

/** The entries between two resets. */
interface Stretch {
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
  const open = (): Stretch => {
    stretches.push({ lines: [], ids: new Set(), continues: false, endId: undefined });
    return stretches.at(-1) as Stretch;
  };
  for (const line of lines) {
    const parent = parentOf(line) ?? "";
    let stretch = stretchOf.get(parent);
    if (line.record?.["type"] === "reset") {
      if (stretch !== undefined) stretch.endId = parent;
      stretch = open();
    } else if (known.has(parent)) {
      stretch = first ??= open();
      stretch.continues = true;
    } else {
      stretch ??= stretches.at(-1) ?? (first ??= open());
    }
    stretch.lines.push(line);
    stretch.ids.add(idOf(line));
    stretchOf.set(idOf(line), stretch);
  }
  return stretches;
}

interface Rendering extends Pick<ImportedWindow, "sessionId" | "isCurrent"> {
  key: string;
  header: JsonRecord | undefined;
  stretch: Stretch;
  found: FoundTranscript;
  /** Where the window ends. Default: at its last line. */
  leaf: string | undefined;
  /** The window that it continues, at the entry `anchor`. */
  parent: { sessionId: string; fileName: string; anchor: string } | undefined;
}

function render({ key, sessionId, header, stretch, found, isCurrent, leaf, parent }: Rendering): ImportedWindow {
  const { lines, ids } = stretch;
  const isReset = lines[0]?.record?.["type"] === "reset";
  const reason = isReset ? "command" : parent === undefined ? found.reason : "switch";
  const times = timesOf([...(isReset || header === undefined ? [] : [{ text: "", record: header }]), ...lines], found);
  const timestamp = new Date(times.openedAt).toISOString();
  const custom = (name: string, parentId: string | null, fields: JsonRecord): JsonRecord => {
    return { type: "custom", id: shortId(sessionId, name), parentId, timestamp, ...fields };
  };
  const forkId = parent === undefined ? null : shortId(sessionId, "fork");
  const place = { version: TRANSCRIPT_VERSION, id: sessionId, timestamp, parentSession: parent?.fileName };
  const fork = { parentSession: parent?.fileName, parentSessionId: parent?.sessionId, leafId: parent?.anchor };
  const beginning = [
    { cwd: "", ...header, type: "session", ...place },
    ...(parent === undefined ? [] : [custom("fork", null, { customType: FORK_TYPE, data: fork })]),
    custom("mark", forkId, { customType: SESSION_MARK_TYPE, data: { key, reason } }),
  ];
  const texts = lines.map((line) => {
    const type = line.record?.["type"];
    const parentId = parentOf(line) ?? null;
    if (type === "reset") return moved(line, null);
    if (parentId !== null && parentId === parent?.anchor) return moved(line, forkId);
    return type === "leaf" ? moved(line, parentId) : `${line.text}\n`;
  });
  const last = leafAfter(lines.at(-1));
  const hasMoved = leaf !== undefined && ids.has(leaf) && leaf !== last;
  if (hasMoved) texts.push(encodeLine(custom(leaf, leaf, { customType: "holdfast.leaf" })));
  const content = [...beginning.map(encodeLine), ...texts].join("");
  const fileName = transcriptFileName(sessionId);
  return { sessionId, fileName, content, ...times, reason, isCurrent, messages: countMessages(lines) };
}

/** The line with this parent, unchanged if it has it. */
function moved({ text, record }: Line, parentId: string | null): string {
  return record?.["parentId"] === parentId ? `${text}\n` : encodeLine({ ...record, parentId });
}

/** The entry from which a conversation continues after this line: a `leaf` event moves it. */
function leafAfter(line: Line | undefined): string | undefined {
  if (line === undefined) return undefined;
  return line.record?.["type"] === "leaf" ? parentOf(line) : idOf(line);
}

function parentOf({ record }: Line): string | undefined {
  return stringOf(record?.["type"] === "leaf" ? record["targetId"] : record?.["parentId"]);
}

function timesOf(lines: readonly Line[], { openedAt }: FoundTranscript) {
  const times = lines.flatMap(({ record }) => timeOf(record?.["timestamp"]) ?? []);
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

/** The key of a transcript whose session is unknown. */
export function recoveredKey(agentId: string, sessionId: string): string {
  return `agent:${agentId}:recovered:${sessionId}`;
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
