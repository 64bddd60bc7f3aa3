/**
 * What the session verbs work on: one agent's store and folders, with time and randomness. An
 * agent's handle can name nothing of another agent: its store refuses foreign keys, and transcript
 * names are resolved inside its own folder only.
 */
import { basename, join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { fileExists } from "../base/files.ts";
import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import type { Durability } from "../config/config.ts";
import type { Store, Window } from "../store/store.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { transcriptFileName } from "../transcript/paths.ts";

export interface AgentHandle {
  agentId: string;
  /** The last part of the key that direct messages share. */
  mainKey: string;
  store: Store;
  sessionsFolder: string;
  archiveFolder: string;
  /** The folder the agent works in; new transcripts carry it as `cwd`. */
  workspace: string;
  durability: Durability;
  clock: Clock;
  ids: Ids;
  logger: Logger;
}

/**
 * The transcript of a session's current window. An entry may carry an absolute path from another
 * machine or tool: only its last part counts.
 */
export function transcriptPath(agent: AgentHandle, entry: SessionEntry): string {
  const named = entry.sessionFile === undefined ? "" : basename(entry.sessionFile.replaceAll("\\", "/"));
  const fileName = named.endsWith(".jsonl") ? named : transcriptFileName(entry.sessionId);
  return join(agent.sessionsFolder, fileName);
}

/** The transcript of any window, wherever it lies: it may be on its way to or from the archive. */
export async function locateWindowTranscript(agent: AgentHandle, window: Window): Promise<string> {
  const name = windowTranscriptName(window);
  const inUse = join(agent.sessionsFolder, name);
  if (window.archive === undefined || (await fileExists(inUse))) return inUse;
  return join(agent.archiveFolder, name);
}

export function windowTranscriptName(window: Window): string {
  return basename(window.transcript ?? window.archive ?? transcriptFileName(window.sessionId));
}
