/** Notes as lines, one file per day. Every note is in there once. The caller holds the lock of the folder. */
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { localTime } from "../../base/clock.ts";
import {
  PRIVATE_FILE,
  ensurePrivateFolder,
  readFileIfPresent,
  readFolderIfPresent,
  writeFileDurable,
} from "../../base/files.ts";
import { type JsonRecord, isRecord, parseJson } from "../../base/json-record.ts";
import { encodeLine } from "../../base/jsonl.ts";
import { redactValue } from "../../base/redact.ts";
import type { SessionState, StateNote } from "../state.ts";
import type { Owner } from "./snapshots.ts";

/** Larger files are not changed. */
const MAX_DAY_BYTES = 8 * 1024 * 1024;
const DAY_FILE = /^\d{4}-\d{2}-\d{2}\.jsonl$/;

type NoteLine = StateNote & { sessionKey: string; sessionId: string };

export async function appendNotes(folder: string, states: readonly SessionState[]): Promise<void> {
  const lines = states.flatMap(({ sessionKey, previousSessionId, patterns }): NoteLine[] =>
    patterns.map((note) => ({ sessionKey, sessionId: previousSessionId, ...note })),
  );
  const byDay = Map.groupBy(lines, ({ timestamp }) => localDay(timestamp));
  byDay.delete(undefined);
  if (byDay.size > 0) await ensurePrivateFolder(folder);
  for (const [day, ofDay] of byDay) await appendToDay(join(folder, `${day}.jsonl`), ofDay);
}

/** A timestamp can be any text, and this becomes a file name. */
function localDay(timestamp: string): string | undefined {
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? undefined : localTime(at).slice(0, 10);
}

async function appendToDay(path: string, lines: readonly NoteLine[]): Promise<void> {
  const { size } = (await stat(path).catch(() => undefined)) ?? { size: 0 };
  if (size > MAX_DAY_BYTES) return;
  const before = await readDay(path);
  const length = before.reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
  // The file ends in the middle of a line.
  if (length !== size) await writeDay(path, before);
  const known = new Set(before.map(({ note }) => identity(note)));
  const added = lines.filter((line) => !known.has(identity(line)));
  if (added.length === 0) return;
  await using handle = await open(path, "a", PRIVATE_FILE);
  await handle.appendFile(added.map((line) => encodeLine(redactValue(line))).join(""));
}

function identity(note: Partial<Record<"sessionKey" | "sessionId" | "id", unknown>>): string {
  return JSON.stringify([note.sessionKey, note.sessionId, note.id]);
}

/** Removes notes from every day. */
export async function removeNotes(folder: string, isGone: (owner: Owner) => boolean): Promise<void> {
  for (const { name } of await readFolderIfPresent(folder)) {
    if (!DAY_FILE.test(name)) continue;
    const path = join(folder, name);
    const lines = await readDay(path);
    const others = lines.filter(
      ({ note }) => !isGone({ sessionKey: note["sessionKey"], sessionId: note["sessionId"] }),
    );
    if (others.length < lines.length) await writeDay(path, others);
  }
}

interface DayLine {
  text: string;
  note: JsonRecord;
}

async function readDay(path: string): Promise<DayLine[]> {
  const texts = ((await readFileIfPresent(path))?.toString("utf8") ?? "").split("\n");
  const lines: DayLine[] = [];
  for (const [index, text] of texts.entries()) {
    const note = parseJson(text);
    if (isRecord(note)) lines.push({ text, note });
    // A large file must not block other work.
    if (index % 500 === 499) await nextTick();
  }
  return lines;
}

async function writeDay(path: string, lines: readonly DayLine[]): Promise<void> {
  await writeFileDurable(
    path,
    lines.map(({ text }) => `${text}\n`),
  );
}
