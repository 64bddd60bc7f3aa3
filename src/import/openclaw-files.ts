/**
 * Reads the sessions that OpenClaw kept as files until 2026.7: `sessions.json`, transcripts, and what it kept of deleted
 * and shortened ones. Transcripts that no entry names are conversations too: OpenClaw forgets them when it resets a
 * session, without a trace of their keys.
 */
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { HoldfastError, fileError } from "../base/errors.ts";
import { readFolderIfPresent } from "../base/files.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { readSessionsFile } from "../doctor/session-files.ts";
import { unpack } from "./openclaw-database.ts";
import type { FoundSession } from "./take-sessions.ts";
import {
  type FoundTranscript,
  type TranscriptContent,
  countMessages,
  recoveredKey,
  stringOf,
  timeOf,
  toLines,
} from "./transcripts.ts";

export const SESSIONS_FILE = "sessions.json";

export interface FilesOptions {
  folder: string;
  agentId: string;
  /** The session that has this session id already. */
  keyOf: (sessionId: string) => string | undefined;
  /** Reports a file that holds no conversation. */
  skip: (path: string, reason: string) => void;
}

export async function* readFileSessions(options: FilesOptions): AsyncGenerator<FoundSession> {
  const { folder } = options;
  const path = join(folder, SESSIONS_FILE);
  const sessions = await readSessionsFile(path);
  // Without it, the transcripts would get other keys.
  if (sessions.state === "unreadable") {
    throw new HoldfastError("corrupt", "openclaw-sessions-unreadable", `${path} cannot be read: ${sessions.reason}`, {
      hint: "Restore it from a backup and import again.",
    });
  }
  const files = (await readFolderIfPresent(folder)).flatMap((item) =>
    item.isFile() ? (parseName(item.name) ?? []) : [],
  );
  const left = new Set(files);
  if (sessions.state === "read") {
    for (const [key, entry] of newestFirst(sessions.sessions)) {
      const own = filesOf(entry, left);
      for (const file of own) left.delete(file);
      const transcripts = await Promise.all(own.map((file, index) => transcriptOf(folder, file, index === 0)));
      const isMissing = transcripts.length === 0 && (entry["systemSent"] === true || Number(entry["totalTokens"]) > 0);
      yield { key, entry, transcripts, path, note: isMissing ? "OpenClaw has lost its transcript" : undefined };
    }
  }
  for (const same of Map.groupBy(left, ({ sessionId, deletedAt }) => `${sessionId} ${deletedAt}`).values()) {
    yield* unnamed(same, options);
  }
}

interface TranscriptFile {
  name: string;
  sessionId: string;
  /** False for backups, checkpoints and other parts of a session. */
  isMain: boolean;
  deletedAt?: number | undefined;
}

/** Undefined if it is not the name of a transcript, or of what is left of one. */
function parseName(name: string): TranscriptFile | undefined {
  const [, stem = "", ending = ""] = /^(.+?)\.jsonl((?:\.(?:deleted|reset|bak)[.-].+)?)$/.exec(name) ?? [];
  if (stem === "" || stem.startsWith(".") || stem.endsWith(".trajectory")) return undefined;
  const [sessionId = ""] = stem.split(/\.|-topic-/);
  const isMain = ending === "" && (stem === sessionId || stem.startsWith(`${sessionId}-topic-`));
  if (!ending.startsWith(".deleted")) return { name, sessionId, isMain };
  const [, day = "", hour, minute, second] = /(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-([\d.]+Z)/.exec(ending) ?? [];
  return { name, sessionId, isMain, deletedAt: timeOf(`${day}T${hour}:${minute}:${second}`) ?? 0 };
}

function newestFirst(sessions: Readonly<JsonRecord>): [string, JsonRecord][] {
  const entries = Object.entries(sessions).filter((pair): pair is [string, JsonRecord] => isRecord(pair[1]));
  return entries.toSorted(([, a], [, b]) => Number(b["updatedAt"] ?? 0) - Number(a["updatedAt"] ?? 0));
}

/** The current transcript first. */
function filesOf(entry: JsonRecord, files: ReadonlySet<TranscriptFile>): TranscriptFile[] {
  const named = basename(stringOf(entry["sessionFile"])?.replaceAll("\\", "/") ?? "");
  const own = [...files].filter(
    ({ name, sessionId, deletedAt }) => deletedAt === undefined && (name === named || sessionId === entry["sessionId"]),
  );
  const rank = ({ name, sessionId, isMain }: TranscriptFile): number =>
    name === named ? 0 : name === `${sessionId}.jsonl` ? 1 : isMain ? 2 : 3;
  const ranked = own.toSorted((a, b) => rank(a) - rank(b));
  // A backup alone is not the current transcript.
  return ranked[0]?.isMain === true || ranked[0]?.name === named ? ranked : [];
}

async function transcriptOf(
  folder: string,
  { name, sessionId, isMain }: TranscriptFile,
  isCurrent: boolean,
): Promise<FoundTranscript> {
  const path = join(folder, name);
  return {
    sessionId,
    reason: "initial",
    openedAt: Math.round((await stat(path)).mtimeMs),
    isCurrent,
    fileName: isMain ? name : undefined,
    read: async () => await readTranscriptFile(path),
  };
}

async function readTranscriptFile(path: string): Promise<TranscriptContent> {
  try {
    const bytes = await readFile(path);
    if (path.endsWith(".zst")) return { lines: toLines(unpack(bytes)) };
    return { lines: toLines(bytes.toString("utf8")), bytes };
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

/** Files of one session id that no entry names. */
async function* unnamed(files: readonly TranscriptFile[], options: FilesOptions): AsyncGenerator<FoundSession> {
  const { folder, agentId, keyOf, skip } = options;
  const ordered = files.toSorted((a, b) => Number(b.isMain) - Number(a.isMain));
  const [first] = ordered;
  if (first === undefined) return;
  const { sessionId, deletedAt } = first;
  const path = join(folder, first.name);
  const contents = await Promise.all(ordered.map(async ({ name }) => await readTranscriptFile(join(folder, name))));
  if (contents.every(({ lines }) => countMessages(lines) === 0)) {
    skip(path, "it has no messages");
    return;
  }
  const known = deletedAt === undefined ? keyOf(sessionId) : undefined;
  const transcripts = await Promise.all(
    ordered.map((file, index) => transcriptOf(folder, file, index === 0 && known === undefined)),
  );
  const archived = deletedAt === undefined ? undefined : { at: deletedAt, reason: "deleted" };
  yield { key: known ?? recoveredKey(agentId, sessionId), entry: {}, transcripts, archived, path };
}
