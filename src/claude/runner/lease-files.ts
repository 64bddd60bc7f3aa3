/**
 * Names of what the runner keeps in its private folder. No text from outside becomes part of a name:
 * a session id must be a UUID, a repo and its label are hashed.
 */
import { join } from "node:path";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Lane } from "./runner-contract.ts";

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

export function checkSessionId(sessionId: string): string {
  if (isSessionId(sessionId)) return sessionId.toLowerCase();
  throw new HoldfastError("usage", "session-id-invalid", "This is not a session id of Claude Code.", {
    hint: "Session ids are UUIDs; `holdfast cc list` shows them.",
    data: { sessionId: sessionId.slice(0, 100) },
  });
}

export function sessionLockFile(locksFolder: string, sessionId: string): string {
  return join(locksFolder, `session-${checkSessionId(sessionId)}.lock`);
}

export function laneLockFile(locksFolder: string, lane: Lane): string {
  return join(locksFolder, `repo-${laneHash(lane)}.lock`);
}

/** The label is told apart from the path by a character that no path has. */
function laneHash(lane: Lane): string {
  const text = lane.label === undefined ? lane.worktree : `${lane.worktree}\0${lane.label}`;
  return nodeCrypto().createHash("sha256").update(text).digest("hex").slice(0, 32);
}

const RUN_RECORD = /^run-[0-9a-f-]{36}\.json$/;

export function runRecordFile(locksFolder: string, runId: string): string {
  return join(locksFolder, `run-${checkSessionId(runId)}.json`);
}

export function isRunRecordName(name: string): boolean {
  return RUN_RECORD.test(name);
}

export function mcpConfigPath(locksFolder: string, runId: string): string {
  return join(locksFolder, `mcp-${checkSessionId(runId)}.json`);
}

export function promptPath(locksFolder: string, runId: string): string {
  return join(locksFolder, `prompt-${checkSessionId(runId)}.txt`);
}
