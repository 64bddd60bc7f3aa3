/**
 * One agent's store and folders, and where its transcripts are. A handle cannot reach another agent: its
 * store refuses foreign keys, and transcript names are resolved inside its own folder.
 */
import { basename, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { fileExists } from "../base/files.ts";
import type { Ids } from "../base/ids.ts";
import { isRecord } from "../base/json-record.ts";
import type { Logger } from "../base/log.ts";
import type { Durability } from "../config/config.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Store, Window } from "../store/store.ts";
import type { ExpectedTranscript, TranscriptEnd } from "../transcript/damage.ts";
import { transcriptFileName } from "../transcript/paths.ts";

export interface AgentHandle {
  agentId: string;
  /** The last part of the key that all direct messages share. */
  mainKey: string;
  store: Store;
  sessionsFolder: string;
  archiveFolder: string;
  /** The agent's folder. New transcripts record it as `cwd`. */
  workspace: string;
  durability: Durability;
  clock: Clock;
  ids: Ids;
  logger: Logger;
}

/**
 * Path of the current window's transcript. An entry may hold an absolute path of another machine or tool, so
 * only the file name counts.
 */
export function transcriptPath(agent: Pick<AgentHandle, "sessionsFolder">, entry: SessionEntry): string {
  const named = entry.sessionFile === undefined ? "" : basename(entry.sessionFile.replaceAll("\\", "/"));
  const fileName = named.endsWith(".jsonl") ? named : transcriptFileName(entry.sessionId);
  return join(agent.sessionsFolder, fileName);
}

/** Path of any window's transcript. A crash may have left it half way to or from the archive. */
export async function locateWindowTranscript(agent: AgentHandle, window: Window): Promise<string> {
  const name = windowTranscriptName(window);
  const inUse = join(agent.sessionsFolder, name);
  if (window.archive === undefined || (await fileExists(inUse))) return inUse;
  return join(agent.archiveFolder, name);
}

export function windowTranscriptName(window: Window): string {
  return basename(window.transcript ?? window.archive ?? transcriptFileName(window.sessionId));
}

export interface FoundSession {
  key: string;
  entry: SessionEntry;
  /** The earlier window that the reference named, if any. */
  window?: Window | undefined;
}

export type TranscriptPlace = Awaited<ReturnType<typeof locateTranscript>>;

export async function locateTranscript(agent: AgentHandle, { entry, window }: FoundSession) {
  if (window === undefined) return { path: transcriptPath(agent, entry), expected: expectedTranscript(entry) };
  return { path: await locateWindowTranscript(agent, window), expected: expectedOfWindow(window, entry) };
}

/** What the current window's transcript should contain. It tells a lost transcript from one that was never written. */
export function expectedTranscript(entry: SessionEntry): ExpectedTranscript {
  const end = endOf(entry.transcriptEnd, entry.sessionId);
  const { sessionFile, systemSent, totalTokens = 0 } = entry;
  // OpenClaw names the file when it writes the first message.
  const written = end !== undefined || sessionFile !== undefined || systemSent === true || totalTokens > 0;
  return { written, end };
}

/** The same for any window. `entry` is the session's entry, if it exists. */
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
