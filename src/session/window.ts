/**
 * A reset closes a session's window and opens the next, in two phases: the new transcript is durable first,
 * then the key moves. A crash in between leaves an unused transcript (`holdfast doctor` finds it), never a key
 * without one. Nothing is deleted: the closed window and its transcript stay.
 */
import { statSync } from "node:fs";
import { HoldfastError, fileError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { fileExists } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { Mutate, SessionEntry } from "../store/session-entry.ts";
import type { WindowReason } from "../store/store.ts";
import type { TranscriptFolder } from "../store/transcripts.ts";
import { type ExpectedTranscript, damageNotice } from "../transcript/damage.ts";
import { type DraftEntry, SESSION_MARK_TYPE, type TranscriptEntry } from "../transcript/entries.ts";
import { transcriptFileName } from "../transcript/paths.ts";
import { readTranscript } from "../transcript/reader.ts";
import { type AgentHandle, expectedTranscript, recordedEnd, transcriptName, transcriptPath } from "./agent-handle.ts";
import { entryForNewWindow } from "./entry.ts";
import type { ResetWord } from "./reset-trigger.ts";
import type { Lease } from "../store/queues.ts";

interface OpenWindowParams {
  key: string;
  /** The entry that the decision was based on. If the key has moved since, nothing happens. */
  previous: SessionEntry | undefined;
  reason: WindowReason;
  command?: ResetWord | undefined;
  /** Changes the new entry. Optional. */
  complete?: ((entry: SessionEntry) => SessionEntry) | undefined;
  topicId?: string | number | undefined;
  /** The name of a transcript to continue by reference. Optional. */
  forkOf?: string | undefined;
  /** First entries of a new transcript. Default: none. */
  entries?: DraftEntry[] | undefined;
  lease?: Lease | undefined;
}

/** Undefined: another process moved the key first. */
export async function openWindow(agent: AgentHandle, params: OpenWindowParams): Promise<SessionEntry | undefined> {
  const { key, previous, reason, command, forkOf, entries } = params;
  const sessionId = agent.ids.uuid();
  const name = transcriptFileName(sessionId, params.topicId);
  const { path, end } = await startTranscript(agent, { name, sessionId, key, reason, command, forkOf, entries });
  faultPoint("window.transcript-ready");

  const complete = params.complete ?? ((entry: SessionEntry) => entry);
  let unmoved = false;
  try {
    const entry = await agent.store.update(
      key,
      (current) => {
        unmoved = current?.sessionId === previous?.sessionId;
        if (!unmoved) return undefined;
        const entry = entryForNewWindow(current, { sessionId, sessionFile: path, now: agent.clock.now() });
        return complete({ ...entry, ...recordedEnd(sessionId, end) });
      },
      { windowReason: reason, lease: params.lease },
    );
    faultPoint("window.moved");
    return unmoved ? entry : undefined;
  } finally {
    // Unused and empty.
    if (!unmoved) await agent.store.transcripts.discard(name);
  }
}

/**
 * Begins the session `explicit:<id>` with an id that its caller chose, or continues it. Two callers may begin it at the
 * same time, and an earlier one may have died in between: the transcript is then there, and is used.
 */
export async function beginSession(agent: AgentHandle, sessionId: string) {
  const key = canonicalSessionKey(`explicit:${sessionId}`, agent);
  const name = transcriptFileName(sessionId);
  const path = await agent.store.transcripts.locate(name);
  const isKnown = (await agent.store.get(key)) !== undefined;
  if (!isKnown && !isFile(path)) {
    await startTranscript(agent, { name, sessionId, key, reason: "initial" }).catch(async (error: unknown) => {
      if (!isFile(await agent.store.transcripts.locate(name))) throw error;
    });
  }
  const begin: Mutate = (entry) =>
    entry ?? entryForNewWindow(undefined, { sessionId, sessionFile: path, now: agent.clock.now() });
  return { key, entry: await agent.store.update(key, begin, { windowReason: "initial" }) };
}

interface WindowStart extends Pick<OpenWindowParams, "key" | "reason" | "command" | "forkOf" | "entries"> {
  name: string;
  folder?: TranscriptFolder | undefined;
  sessionId: string;
}

async function startTranscript(agent: AgentHandle, start: WindowStart) {
  const { name, folder, sessionId, reason, command, forkOf } = start;
  const { transcripts } = agent.store;
  const common = { sessionId, cwd: agent.workspace };
  const how = command === undefined ? { reason } : { reason, command };
  const data: SessionMark = { key: canonicalSessionKey(start.key, agent), ...how };
  const mark: DraftEntry = { type: "custom", customType: SESSION_MARK_TYPE, data };
  if (forkOf === undefined) {
    await using log = await transcripts.create(name, { ...common, folder, entries: [mark, ...(start.entries ?? [])] });
    return { path: log.path, end: log.end };
  }
  await using log = await transcripts.fork(name, forkOf, common);
  await log.append([mark]);
  return { path: log.path, end: log.end };
}

/** Closes a session's window and opens the next. The person's settings stay. */
export async function resetSession(
  agent: AgentHandle,
  key: string,
  options: {
    reason?: WindowReason | undefined;
    expectedSessionId?: string | undefined;
    lease?: Lease | undefined;
  } = {},
): Promise<{ previous: SessionEntry; entry: SessionEntry }> {
  const { reason = "command", lease } = options;
  const command = reason === "command" ? "reset" : undefined;
  for (;;) {
    const previous = await agent.store.get(key);
    if (previous === undefined) throw sessionNotFound(key);
    assertExpected(key, previous, options.expectedSessionId);
    const entry = await openWindow(agent, { key, previous, reason, command, lease });
    if (entry !== undefined) return { previous, entry };
  }
}

/** Creates a missing transcript. If there was one, the new one records the loss. */
export async function ensureTranscript(agent: AgentHandle, key: string, entry: SessionEntry): Promise<string> {
  const path = await transcriptPath(agent, entry);
  if (isFile(path)) return path;
  const place = { key, sessionId: entry.sessionId, name: transcriptName(entry) };
  await createMissingTranscript(agent, place, expectedTranscript(entry));
  return path;
}

export async function createMissingTranscript(
  agent: AgentHandle,
  place: Pick<WindowStart, "key" | "sessionId" | "name" | "folder">,
  { written, end }: ExpectedTranscript,
): Promise<void> {
  const { name, folder } = place;
  const kept = await agent.store.transcripts.setAsideMissing(name, { written, folder });
  if (kept !== undefined) {
    agent.logger.warn("the transcript of this session is missing; created a new one", { ...place, ...kept });
  }
  const entries = kept && [damageNotice(kept.kind, { kept: 0, end })];
  await startTranscript(agent, { ...place, reason: "restore", entries });
}

/** Synchronous: a cached lookup costs less than a round trip to the thread pool. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    throw fileError(error, "look at", path);
  }
}

export function assertExpected(key: string, entry: SessionEntry, expectedSessionId: string | undefined): void {
  if (expectedSessionId === undefined || expectedSessionId === entry.sessionId) return;
  throw new HoldfastError("conflict", "session-moved", `Session ${key} is no longer at ${expectedSessionId}`, {
    hint: "Check the session before you repeat this.",
    data: { key, expectedSessionId, sessionId: entry.sessionId },
  });
}

export function sessionNotFound(key: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-found", `No session found: ${key}`, {
    hint: "Run `holdfast sessions` to list them.",
    data: { key },
  });
}

/**
 * The second line of every transcript names its session, so that a lost store can be rebuilt from the
 * transcripts alone.
 */
export interface SessionMark {
  /** Canonical key. */
  key: string;
  reason: WindowReason;
  /** The command that opened it. Undefined: none, or unknown. */
  command?: ResetWord | undefined;
}

/** Undefined: not a mark. The key comes from a file and may be anything. */
export function sessionMarkOf(entry: TranscriptEntry): SessionMark | undefined {
  if (entry.type !== "custom" || entry.customType !== SESSION_MARK_TYPE || !isRecord(entry.data)) return undefined;
  const { key, reason, command } = entry.data;
  if (typeof key !== "string") return undefined;
  return {
    key,
    reason: REASONS.find((known) => known === reason) ?? "restore",
    ...(command === "new" || command === "reset" ? { command } : {}),
  };
}

/** Undefined: the transcript has no mark or cannot be read. */
export async function readSessionMark(path: string): Promise<SessionMark | undefined> {
  try {
    for await (const item of readTranscript(path)) if (item.kind === "entry") return sessionMarkOf(item.entry);
  } catch {
    // Readers of the transcript itself report the problem.
  }
  return undefined;
}

const REASONS: readonly WindowReason[] = ["initial", "command", "daily", "idle", "fork", "switch", "restore"];

/** Starts a transcript that continues the parent's. Null: the parent has none. */
export async function forkSessionFromParent(params: {
  agent: AgentHandle;
  parentEntry: SessionEntry;
}): Promise<{ sessionId: string; sessionFile: string } | null> {
  const { agent, parentEntry } = params;
  if (!(await fileExists(await transcriptPath(agent, parentEntry)))) return null;
  const sessionId = agent.ids.uuid();
  const start = { sessionId, cwd: agent.workspace };
  const name = transcriptFileName(sessionId);
  await using log = await agent.store.transcripts.fork(name, transcriptName(parentEntry), start);
  return { sessionId, sessionFile: log.path };
}
