/** `openclaw_project_status`: the repo right now. */
import { z } from "zod";
import { projectStatusReport } from "../../claude/project-status-report.ts";
import { defineTool } from "../bridge-tool.ts";

const session = z.object({
  sessionId: z.string(),
  agent: z.string(),
  branch: z.string(),
  lastTask: z.string(),
  age: z.string(),
});
const pullRequest = z.object({ number: z.number(), title: z.string(), branch: z.string(), status: z.string() });

export const projectStatus = defineTool({
  name: "openclaw_project_status",
  title: "Project status",
  description:
    "The repo right now: branch, head commit, uncommitted and staged changes, stashes, recent commits, open pull " +
    "requests, Claude Code sessions on it, and which documents there are. Call it before you start, to see what has " +
    "changed.",
  flag: "projectStatusEnabled",
  input: z.strictObject({}),
  // Members that are missing are not known; others may be added.
  output: z.looseObject({
    repo: z.string(),
    path: z.string(),
    branch: z.string(),
    headCommit: z.string(),
    uncommittedChanges: z.array(z.string()),
    stagedChanges: z.array(z.string()),
    stashCount: z.number(),
    recentCommits: z.array(z.object({ sha: z.string(), message: z.string(), author: z.string(), date: z.string() })),
    activeSessions: z.array(session),
    recentSessions: z.array(session),
    ownSessions: z.array(session),
    docs: z.looseObject({ claudeMd: z.boolean(), specs: z.array(z.string()), todo: z.boolean() }),
    openPrs: z.array(pullRequest).optional(),
    problems: z.array(z.string()),
  }),
  run: async (_, { claude, repoPath }) => {
    const report = projectStatusReport(await claude.status(repoPath));
    if (claude.config.mcp.sessionListEnabled) return { ...report };
    return { ...report, activeSessions: [], recentSessions: [], ownSessions: [] };
  },
});
