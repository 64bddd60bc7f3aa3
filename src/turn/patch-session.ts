/**
 * Settings of a session that somebody changes from outside of the conversation. What is worked on is more than a
 * setting: what was said until now belongs to what was worked on until now, and the transcript says so, for whoever
 * reads it anew. Only who holds the session writes there.
 */
import { projectMark } from "../handoff/project-mark.ts";
import { type HeldLease, withSessionLease } from "../session/lease.ts";
import { type SessionPatch, changesProject, patchSession } from "../session/patch.ts";
import { assertExpected, ensureTranscript, sessionNotFound } from "../session/window.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { openTurnLog } from "./run/open-log.ts";
import type { AgentParts } from "./turn.ts";

/** Without a hand-off nobody wants to know what was worked on when. */
export type PatchParts = Pick<AgentParts, "agent" | "handoff" | "transcripts">;

export async function patchFromOutside(
  parts: PatchParts,
  sessionKey: string,
  patch: SessionPatch,
  options: { expectedSessionId?: string } = {},
): Promise<SessionEntry> {
  const { agent, handoff } = parts;
  // Nobody waits for the lease of a session that is not there.
  const isMarked = changesProject(patch) && handoff !== undefined && (await agent.store.get(sessionKey)) !== undefined;
  if (!isMarked) return await patchSession(agent, sessionKey, patch, options);
  return await withSessionLease(agent, sessionKey, {}, async (held) => {
    const entry = await agent.store.get(sessionKey);
    if (entry === undefined) throw sessionNotFound(sessionKey);
    assertExpected(sessionKey, entry, options.expectedSessionId);
    await markProjectChange(parts, held, { sessionKey, entry, patch });
    return await patchSession(agent, sessionKey, patch, { ...options, lease: held.lease });
  });
}

export type ProjectPatch = Pick<SessionPatch, "project" | "projectFolder">;

export interface ProjectChange {
  sessionKey: string;
  /** As it is. */
  entry: SessionEntry;
  patch: ProjectPatch;
}

/** Before the change: a mark of one that never came about says what is true all the same. */
export async function markProjectChange(
  parts: PatchParts,
  held: HeldLease,
  { sessionKey, entry, patch }: ProjectChange,
): Promise<void> {
  const { handoff, agent } = parts;
  if (handoff === undefined) return;
  const next = withProject(entry, patch);
  const [before, project] = await Promise.all([handoff.projectOf(entry), handoff.projectOf(next)]);
  if (before === project) return;
  await using log = await openTurnLog(parts, held, await ensureTranscript(agent, sessionKey, entry));
  await log.append([projectMark({ before, project, folder: next.projectFolder ?? agent.workspace })]);
}

/** What a patch leaves out stays; null takes it away. */
function withProject(entry: SessionEntry, patch: ProjectPatch): SessionEntry {
  const { project: named, projectFolder: folder, ...rest } = entry;
  const project = patch.project === undefined ? named : patch.project;
  const projectFolder = patch.projectFolder === undefined ? folder : patch.projectFolder;
  return {
    ...rest,
    ...(typeof project === "string" ? { project } : {}),
    ...(typeof projectFolder === "string" ? { projectFolder } : {}),
  };
}
