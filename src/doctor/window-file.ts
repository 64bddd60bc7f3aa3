/** The transcript that an entry or a window names. Ids in a store of another tool may be anything. */
import { basename } from "node:path";
import { windowTranscriptName } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import { isPlainName, isSessionId, transcriptFileName } from "../transcript/paths.ts";

/** A file name inside the sessions folder; undefined when the id cannot be part of one. */
export function entryFile({ sessionFile, sessionId }: SessionEntry): string | undefined {
  const named = typeof sessionFile === "string" ? basename(sessionFile.replaceAll("\\", "/")) : "";
  if (named.endsWith(".jsonl") && isPlainName(named)) return named;
  return isSessionId(sessionId) ? transcriptFileName(sessionId) : undefined;
}

export function windowFile(window: Window): string | undefined {
  const named = window.transcript ?? window.archive;
  if (named === undefined && !isSessionId(window.sessionId)) return undefined;
  const name = windowTranscriptName(window);
  return isPlainName(name) ? name : undefined;
}
