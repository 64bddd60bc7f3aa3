/**
 * What was noted, one line each, in one file for each day on which it was said. A note stands there once. A file
 * that nobody else has touched is not read again to know what is in it.
 */
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { localTime } from "../../base/clock.ts";
import {
  PRIVATE_FILE,
  ensurePrivateFolder,
  readFileIfPresent,
  readFolderIfPresent,
  writeFileDurable,
} from "../../base/files.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { encodeLine } from "../../base/jsonl.ts";
import { redactValue } from "../../base/redact.ts";
import { PROMPT } from "../pace.ts";
import type { SessionState, StateNote } from "../state.ts";
import type { Left } from "./left.ts";

/** Nobody else may write the files meanwhile. */
export interface PatternDays {
  append(states: readonly SessionState[]): Promise<void>;
  /** From every day. */
  remove(isGone: (left: Left) => boolean): Promise<void>;
}

/** Larger ones are left alone: no day of work has so many. */
const LARGEST_DAY = 8 * 1024 * 1024;
const MOST_KNOWN = 3;

/** A file as it was left, and the notes in it. */
interface KnownDay {
  stamp: string;
  notes: Set<string>;
}

export function createPatternDays(folder: string): PatternDays {
  const known = new Map<string, KnownDay>();

  const append = async (path: string, lines: readonly NoteLine[]): Promise<void> => {
    const stamp = await stampOf(path);
    const before = known.get(path);
    known.delete(path);
    const isKnown = before !== undefined && before.stamp === stamp;
    const notes = isKnown ? before.notes : await mendDay(path);
    if (notes === undefined) return;
    const added = lines.filter((line) => !notes.has(identity(line)));
    if (added.length > 0) await appendLines(path, added);
    for (const line of added) notes.add(identity(line));
    known.set(path, { stamp: await stampOf(path), notes });
    for (const oldest of Array.from(known.keys()).slice(0, -MOST_KNOWN)) known.delete(oldest);
  };

  return {
    async append(states) {
      const byDay = Map.groupBy(states.flatMap(linesOf), ({ timestamp }) => localDay(timestamp));
      byDay.delete(undefined);
      if (byDay.size === 0) return;
      await ensurePrivateFolder(folder);
      for (const [day, lines] of byDay) await append(join(folder, `${day}.jsonl`), lines);
    },
    async remove(isGone) {
      known.clear();
      for (const { name } of await readFolderIfPresent(folder)) {
        if (!DAY_FILE.test(name)) continue;
        const path = join(folder, name);
        const lines = await readDay(path);
        const others = lines.filter(
          ({ note }) => !isGone({ sessionKey: note["sessionKey"], sessionId: note["sessionId"] }),
        );
        if (others.length < lines.length) await writeDay(path, others);
      }
    },
  };
}

type NoteLine = StateNote & { sessionKey: string; sessionId: string };

function linesOf({ sessionKey, previousSessionId, patterns }: SessionState): NoteLine[] {
  return patterns.map((note) => ({ sessionKey, sessionId: previousSessionId, ...note }));
}

/** Notes have instants of any origin, and this becomes a file name. */
function localDay(timestamp: string): string | undefined {
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? undefined : localTime(at).slice(0, 10);
}

async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found === undefined ? "" : `${found.ino} ${found.size} ${found.mtimeMs}`;
}

async function appendLines(path: string, lines: readonly NoteLine[]): Promise<void> {
  await using handle = await open(path, "a", PRIVATE_FILE);
  await handle.appendFile(lines.map((line) => encodeLine(redactValue(line))).join(""));
}

/** What is in it; undefined when it is too large. One that was cut in the middle of a line is written anew. */
async function mendDay(path: string): Promise<Set<string> | undefined> {
  const { size } = (await stat(path).catch(() => undefined)) ?? { size: 0 };
  if (size > LARGEST_DAY) return undefined;
  const lines = await readDay(path);
  const length = lines.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
  if (length !== size) await writeDay(path, lines);
  return new Set(lines.map(({ note }) => identity(note)));
}

interface DayLine {
  text: string;
  note: JsonRecord;
}

async function readDay(path: string): Promise<DayLine[]> {
  const texts = ((await readFileIfPresent(path))?.toString("utf8") ?? "").split("\n");
  const lines: DayLine[] = [];
  for (const [index, text] of texts.entries()) {
    const note = parsed(text);
    if (note !== undefined) lines.push({ text, note });
    // A whole day takes a while.
    if (index % 500 === 499) await PROMPT.rest();
  }
  return lines;
}

async function writeDay(path: string, lines: readonly DayLine[]): Promise<void> {
  await writeFileDurable(
    path,
    lines.map(({ text }) => `${text}\n`),
  );
}

const DAY_FILE = /^\d{4}-\d{2}-\d{2}\.jsonl$/;

function identity(note: Partial<Record<"sessionKey" | "sessionId" | "id", unknown>>): string {
  return JSON.stringify([note.sessionKey, note.sessionId, note.id]);
}

function parsed(line: string): JsonRecord | undefined {
  if (line === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
