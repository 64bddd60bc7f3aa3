/**
 * One agent's store and workspace, and how its transcripts are named. A handle cannot reach another agent: its store
 * refuses foreign keys, and transcript names are resolved inside its own folder.
 */
import { basename } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { isRecord } from "../base/json-record.ts";
import type { Logger } from "../base/log.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Store, Window } from "../store/store.ts";
import type { ExpectedTranscript, TranscriptEnd } from "../transcript/damage.ts";
import { transcriptFileName } from "../transcript/paths.ts";

export interface AgentHandle {
  agentId: string;
  /** The last part of the key that all direct messages share. */
  mainKey: string;
  store: Store;
  /** The agent's folder. New transcripts record it as `cwd`. */
  workspace: string;
  clock: Clock;
  ids: Ids;
  logger: Logger;
}

/**
 * The current window's transcript. An entry may hold an absolute path of another machine or tool, so only the file name
 * counts.
 */
export function transcriptName({ sessionFile, sessionId }: SessionEntry): string {
  const named = sessionFile === undefined ? "" : basename(sessionFile.replaceAll("\\", "/"));
  return named.endsWith(".jsonl") ? named : transcriptFileName(sessionId);
}

/** Path for reading it. */
export async function transcriptPath({ store }: Pick<AgentHandle, "store">, entry: SessionEntry): Promise<string> {
  return await store.transcripts.locate(transcriptName(entry));
}

/** Path for reading any window's transcript. A crash may have left it half way to or from the archive. */
export async function locateWindowTranscript({ store }: AgentHandle, window: Window): Promise<string> {
  const folder = window.archive === undefined ? "sessions" : "either";
  return await store.transcripts.locate(windowTranscriptName(window), folder);
}

export function windowTranscriptName(window: Window): string {
  return basename(window.transcript ?? window.archive ?? transcriptFileName(window.sessionId));
}

export interface FoundSession {
  key: string;
  entry: SessionEntry;
  /** The earlier window that the reference named, if any. */
  window?: Window | undefined;
  /** The id of its archive, for an archived session. */
  archive?: string | undefined;
}

export type TranscriptPlace = Awaited<ReturnType<typeof locateTranscript>>;

export async function locateTranscript(agent: AgentHandle, { entry, window, archive }: FoundSession) {
  const expected = window === undefined ? expectedTranscript(entry) : expectedOfWindow(window, entry);
  if (archive !== undefined) {
    const name = window === undefined ? transcriptName(entry) : windowTranscriptName(window);
    return { path: await agent.store.transcripts.locate(name, "either"), expected };
  }
  if (window === undefined) return { path: await transcriptPath(agent, entry), expected };
  return { path: await locateWindowTranscript(agent, window), expected };
}

/** What the current window's transcript should contain. It tells a lost transcript from one that was never written. */
export function expectedTranscript(entry: SessionEntry): ExpectedTranscript {
  const end = endOf(entry.transcriptEnd, entry.sessionId);
  const { sessionFile, systemSent, totalTokens = 0 } = entry;
  // OpenClaw names the file when it writes the first message.
  const written = end !== undefined || sessionFile !== undefined || systemSent === true || totalTokens > 0;
  return { written, end };
}

/** Fields of the entry that record the end of a transcript. Set them after every write, so that a later cut is noticed. */
export function recordedEnd(sessionId: string, end: TranscriptEnd | undefined): Partial<SessionEntry> {
  return end === undefined ? {} : { transcriptEnd: { sessionId, ...end } };
}

/** `expectedTranscript` for any window. `entry` is the session's entry, if it exists. */
export function expectedOfWindow(window: Window, entry: SessionEntry | undefined): ExpectedTranscript {
  const isCurrent = entry?.sessionId === window.sessionId;
  const end = endOf((isCurrent ? entry : window.state)?.transcriptEnd, window.sessionId);
  const isNamed = window.transcript !== undefined || window.archive !== undefined;
  return { written: isNamed || end !== undefined || (isCurrent && entry.systemSent === true), end };
}

/** Ignores a mark that another tool changed or copied to another window. */
function endOf(mark: unknown, sessionId: string): TranscriptEnd | undefined {
  if (!isRecord(mark) || mark["sessionId"] !== sessionId) return undefined;
  const { id, bytes } = mark;
  return typeof id === "string" && typeof bytes === "number" ? { id, bytes } : undefined;
}
