/**
 * Windows: a reset closes one and opens the next, in two phases. First the new transcript is made
 * and forced to disk, then the key moves. A crash between the two leaves a transcript that nobody
 * points at (`holdfast doctor` finds it), never a key without a transcript. Nothing is deleted: the
 * store keeps the closed window, and its transcript stays where it is.
 */
import { existsSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { ensurePrivateFolder, fileExists } from "../base/files.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease, WindowReason } from "../store/store.ts";
import { forkTranscript } from "../transcript/fork.ts";
import { createTranscript } from "../transcript/log.ts";
import { transcriptFileName } from "../transcript/paths.ts";
import { type AgentHandle, transcriptPath } from "./agent-handle.ts";
import { entryForNewWindow } from "./entry.ts";
import type { ResetWord } from "./reset-trigger.ts";
import { sessionMark } from "./session-mark.ts";

export interface OpenWindowParams {
  key: string;
  /** The entry that the decision was based on. When the key has moved since, nothing happens. */
  previous: SessionEntry | undefined;
  reason: WindowReason;
  /** The command that it was opened by. */
  command?: ResetWord | undefined;
  /** Adds what the caller knows to the new entry. */
  complete?: (entry: SessionEntry) => SessionEntry;
  topicId?: string | number | undefined;
  /** Start as a branch of this transcript, which is referred to and not copied. */
  forkOf?: string | undefined;
  lease?: Lease | undefined;
}

/** The entry with its new window; undefined when somebody else moved the key first. */
export async function openWindow(agent: AgentHandle, params: OpenWindowParams): Promise<SessionEntry | undefined> {
  const { key, previous, reason, command, forkOf } = params;
  const sessionId = agent.ids.uuid();
  const path = join(agent.sessionsFolder, transcriptFileName(sessionId, params.topicId));
  await ensurePrivateFolder(agent.sessionsFolder);
  await startTranscript(agent, { path, sessionId, key, reason, command, forkOf });
  faultPoint("window.transcript-ready");

  const complete = params.complete ?? ((entry: SessionEntry) => entry);
  let unmoved = false;
  try {
    const entry = await agent.store.update(
      key,
      (current) => {
        unmoved = current?.sessionId === previous?.sessionId;
        if (!unmoved) return undefined;
        return complete(entryForNewWindow(current, { sessionId, sessionFile: path, now: agent.clock.now() }));
      },
      { windowReason: reason, ...(params.lease === undefined ? {} : { lease: params.lease }) },
    );
    faultPoint("window.moved");
    return unmoved ? entry : undefined;
  } finally {
    // Nobody points at it and nothing was said in it.
    if (!unmoved) await unlink(path).catch(() => undefined);
  }
}

interface TranscriptStart {
  path: string;
  sessionId: string;
  key: string;
  reason: WindowReason;
  command?: ResetWord | undefined;
  forkOf?: string | undefined;
}

async function startTranscript(agent: AgentHandle, start: TranscriptStart): Promise<void> {
  const { path, sessionId, reason, command, forkOf } = start;
  const common = { path, sessionId, cwd: agent.workspace, clock: agent.clock, durability: agent.durability };
  const how = command === undefined ? { reason } : { reason, command };
  const mark = sessionMark({ key: canonicalSessionKey(start.key, agent), ...how });
  if (forkOf === undefined) {
    await (await createTranscript({ ...common, entries: [mark] })).close();
  } else {
    await using log = await forkTranscript({ ...common, parentPath: forkOf });
    await log.append([mark]);
  }
}

/** Closes the window of a session and opens the next. The person's settings stay. */
export async function resetSession(
  agent: AgentHandle,
  key: string,
  options: { reason?: WindowReason; expectedSessionId?: string; lease?: Lease } = {},
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

/** A session whose transcript somebody removed can go on, but says so. */
export async function ensureTranscript(agent: AgentHandle, key: string, entry: SessionEntry): Promise<string> {
  const path = transcriptPath(agent, entry);
  // Synchronous first: one look at a cached name costs less than a trip to another thread.
  if (existsSync(path) || (await fileExists(path))) return path;
  agent.logger.warn("the transcript of this session is missing; it goes on with an empty one", {
    key,
    sessionId: entry.sessionId,
    path,
  });
  await ensurePrivateFolder(agent.sessionsFolder);
  await startTranscript(agent, { path, sessionId: entry.sessionId, key, reason: "restore" });
  return path;
}

export function assertExpected(key: string, entry: SessionEntry, expectedSessionId: string | undefined): void {
  if (expectedSessionId === undefined || expectedSessionId === entry.sessionId) return;
  throw new HoldfastError("conflict", "session-moved", `Session ${key} is no longer at ${expectedSessionId}`, {
    hint: "Look at the session again before you repeat this.",
    data: { key, expectedSessionId, sessionId: entry.sessionId },
  });
}

export function sessionNotFound(key: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-found", `No session found: ${key}`, {
    hint: "Run `holdfast sessions` to see which there are.",
    data: { key },
  });
}
