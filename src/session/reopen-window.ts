/** Going back to an earlier window of a session. The present one is closed and stays listed. */
import { join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease, Window } from "../store/store.ts";
import { type AgentHandle, windowTranscriptName } from "./agent-handle.ts";
import { unarchiveWindow } from "./archive.ts";
import { entryForNewWindow } from "./entry.ts";
import { sessionNotFound } from "./window.ts";

export async function reopenWindow(
  agent: AgentHandle,
  window: Window,
  options: {
    lease?: Lease;
    /** The turn that goes back, for recognising it when it is begun again. Left out: it never is. */
    turnId?: string;
  } = {},
): Promise<SessionEntry> {
  const { key, sessionId } = window;
  const { lease, turnId } = options;
  const openedBy = turnId === undefined ? {} : { openedByTurn: turnId };
  const sessionFile = join(agent.sessionsFolder, windowTranscriptName(window));
  await unarchiveWindow(agent, window);
  if (!(await fileExists(sessionFile))) throw transcriptMissing(window, sessionFile);

  const entry = await agent.store.update(
    key,
    (current) =>
      current === undefined || current.sessionId === sessionId
        ? undefined
        : {
            ...entryForNewWindow(current, { sessionId, sessionFile, now: agent.clock.now() }),
            ...window.state,
            ...openedBy,
          },
    { windowReason: "restore", ...(lease === undefined ? {} : { lease }) },
  );
  if (entry === undefined) throw sessionNotFound(key);
  return entry;
}

function transcriptMissing({ key, sessionId }: Window, path: string): HoldfastError {
  return new HoldfastError(
    "not-found",
    "transcript-missing",
    `The transcript of window ${sessionId} is gone: ${path}`,
    {
      hint: "Run `holdfast doctor` to see what else is missing.",
      data: { key, sessionId, path },
    },
  );
}
