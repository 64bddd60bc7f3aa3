/**
 * What an agent looks at before it starts: the repo's state and the Claude Code sessions on it. The
 * sessions come from whoever knows how to find them; when they cannot be found in time, the rest still
 * holds and `problems` says so.
 */
import { errorMessage } from "../base/errors.ts";
import type { RepoStatus } from "../project/project-status.ts";
import { type RepoStatusOptions, readRepoStatus } from "../project/repo-status.ts";
import type { DiscoveredSession } from "./discovered-session.ts";

export interface ProjectStatus extends RepoStatus {
  sessions: {
    /** Running now. */
    active: DiscoveredSession[];
    /** The last five of anybody. */
    recent: DiscoveredSession[];
    /** The last three of the agent that asks. */
    ownRecent: DiscoveredSession[];
  };
}

export interface ProjectStatusOptions extends RepoStatusOptions {
  /** Who asks; without it there are no own sessions. */
  agentId?: string;
  /** Every session of the repo. */
  discover: (repoPath: string) => Promise<DiscoveredSession[]>;
  /** How long the search for sessions is waited for. Default 10,000. */
  discoverTimeoutMs?: number;
}

const RECENT = 5;
const OWN = 3;

export async function gatherProjectStatus(repoPath: string, options: ProjectStatusOptions): Promise<ProjectStatus> {
  const [status, found] = await Promise.all([readRepoStatus(repoPath, options), findSessions(repoPath, options)]);
  const newest = found.sessions.toSorted((a, b) => b.lastModified.getTime() - a.lastModified.getTime());
  const { agentId } = options;
  return {
    ...status,
    sessions: {
      active: newest.filter(({ isRunning }) => isRunning),
      recent: newest.slice(0, RECENT),
      ownRecent: agentId === undefined ? [] : newest.filter((session) => session.agentId === agentId).slice(0, OWN),
    },
    problems: [...status.problems, ...(found.problem === undefined ? [] : [found.problem])],
  };
}

interface FoundSessions {
  sessions: DiscoveredSession[];
  problem?: string;
}

async function findSessions(repoPath: string, options: ProjectStatusOptions): Promise<FoundSessions> {
  const ms = options.discoverTimeoutMs ?? 10_000;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<FoundSessions>((resolve) => {
    timer = setTimeout(() => {
      resolve({ sessions: [], problem: `Sessions: not found within ${ms} ms; ask again in a moment` });
    }, ms);
  });
  try {
    return await Promise.race([options.discover(repoPath).then((sessions) => ({ sessions })), tooLate]);
  } catch (error) {
    return { sessions: [], problem: `Sessions: ${errorMessage(error)}` };
  } finally {
    clearTimeout(timer);
  }
}
