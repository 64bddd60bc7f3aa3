/**
 * How a person goes on with a session. Claude Code finds a session only from a folder of its repo, so
 * the folder belongs to the command.
 */
import { HoldfastError } from "../../../base/errors.ts";
import type { DiscoveredSession } from "../../../claude/discovered-session.ts";
import { isFolder } from "./claude-side.ts";
import { shortId } from "./session-view.ts";

export interface ResumeCommand {
  command: string;
  args: string[];
  cwd: string;
}

/** Undefined when there is nothing to go on with. */
export function resumeCommand(session: DiscoveredSession, command: string): ResumeCommand | undefined {
  const cwd = sessionFolder(session);
  if (cwd === undefined || !hasTranscript(session)) return undefined;
  return { command, args: ["--resume", session.sessionId], cwd };
}

/** The same for whoever has to have one. */
export function requireResumeCommand(session: DiscoveredSession, command: string): ResumeCommand {
  const resume = resumeCommand(session, command);
  if (resume !== undefined) return resume;
  const id = shortId(session.sessionId);
  if (session.archived === true) {
    throw new HoldfastError(
      "not-found",
      "session-archived",
      `Claude Code has deleted session ${id}; a copy is archived`,
      {
        hint: `\`holdfast cc archive --restore ${id} --to <folder>\` writes it out and says where Claude Code looks for it.`,
      },
    );
  }
  if (!hasTranscript(session)) {
    throw new HoldfastError("not-found", "no-transcript", `Session ${id} has no transcript any more`, {
      hint: "Only a registry still knows it; start a fresh session.",
    });
  }
  throw new HoldfastError("not-found", "folder-not-found", `Every folder that session ${id} worked in is gone`, {
    hint: "Make the folder again (git worktree add), or look at the transcript: holdfast cc info shows its path.",
    data: { cwds: session.cwds },
  });
}

/** Where it worked last, as far as that is still there. */
export function sessionFolder({ cwds, repoPath }: DiscoveredSession): string | undefined {
  return [...cwds.toReversed(), repoPath].find((folder) => folder !== "" && isFolder(folder));
}

function hasTranscript({ transcriptPath, archived, isRunning }: DiscoveredSession): boolean {
  return isRunning || (transcriptPath !== undefined && archived !== true);
}
