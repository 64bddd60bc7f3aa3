/** Tools about the repo and its Claude Code sessions: list, info, decide, status. */
import { z } from "zod";
import { undefinedOn } from "../../base/errors.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { projectStatusReport } from "../../claude/project-status.ts";
import type { SessionScore } from "../../claude/selection/selection.ts";
import { type Bridge, countUpTo, defineTool } from "../bridge-tool.ts";
import { excerptLine, toListRow, costOf, shortText, taskOf } from "../model-text.ts";

const row = z.object({
  sessionId: z.string(),
  source: z.enum(["openclaw", "native-only"]),
  agent: z.string().optional(),
  /** Who started it: this-agent, other-agent, cli, vscode, desktop, sdk, github-action, other. */
  origin: z.string(),
  label: z.string().optional(),
  title: z.string().optional(),
  branch: z.string(),
  firstMessage: z.string(),
  lastModified: z.string(),
  messageCount: z.number(),
  cost: z.number().optional(),
  turns: z.number(),
  lastTask: z.string().optional(),
  isRunning: z.boolean(),
});

export const sessionList = defineTool({
  name: "openclaw_session_list",
  title: "List sessions",
  description:
    "All Claude Code sessions of this repo, running ones first, then the newest, started by this agent, " +
    "other agents, people on the command line or in an editor. Use it to know about earlier and parallel work.",
  flag: "sessionListEnabled",
  input: z.strictObject({
    include_native: z.boolean().default(true).describe("Also sessions that no agent started (default true)"),
    limit: countUpTo(50, 20, "How many"),
  }),
  output: z.object({ sessions: z.array(row), total: z.number(), activeCount: z.number() }),
  run: async ({ include_native: includeNative, limit }, bridge) => {
    const { sessions, total, activeCount } = await listed(bridge, includeNative, limit);
    return { sessions: sessions.slice(0, limit).map(toListRow), total, activeCount };
  },
});

async function listed({ claude, repoPath }: Bridge, includeNative: boolean, limit: number) {
  if (includeNative) return await claude.discover(repoPath, { limit });
  const sessions = (await claude.discover(repoPath)).sessions.filter(({ source }) => source === "openclaw");
  return { sessions, total: sessions.length, activeCount: sessions.filter(({ isRunning }) => isRunning).length };
}

const count = z.number().optional();
const text = z.string().optional();

export const sessionInfo = defineTool({
  name: "openclaw_session_info",
  title: "This session",
  description:
    "This session: agent, repo, session id, branch, turns, tokens, compactions, cost and what is left of the budget. " +
    "Call it to see how much room there is before you begin something large.",
  input: z.strictObject({}),
  output: z.object({
    agent: z.string(),
    repo: z.string(),
    /** Absent if the client is not Claude Code. */
    sessionId: text,
    label: text,
    title: text,
    branch: text,
    model: text,
    startedAt: text,
    turns: count,
    messages: count,
    tokens: z
      .object({
        input: z.number(),
        output: z.number(),
        cacheRead: z.number(),
        cacheWrite: z.number(),
        context: z.number(),
      })
      .optional(),
    compactions: count,
    costUsd: count,
    /** The run's own budget, else the session's budget over all its runs. */
    budgetUsd: z.number(),
    budgetLeftUsd: count,
    note: text,
  }),
  run: async (_, bridge) => {
    const { agentId: agent, repoPath: repo, claudeSessionId: sessionId, claude } = bridge;
    const run = sessionId === undefined ? undefined : await claude.liveRun(sessionId);
    const { budgetUsd = claude.config.maxBudgetUsd, spentUsd = 0 } = run ?? {};
    const known = { agent, repo, sessionId, budgetUsd };
    if (sessionId === undefined) return { ...known, note: "The client did not identify its session." };
    const session = await findOwn(sessionId, bridge);
    if (session === undefined) return { ...known, note: "The session has no transcript yet; ask again later." };
    const cost = costOf(session);
    const left = cost === undefined ? undefined : budgetUsd - (cost - spentUsd);
    return {
      ...known,
      ...describe(session),
      costUsd: cost,
      budgetLeftUsd: left === undefined ? undefined : Number(Math.min(budgetUsd, Math.max(0, left)).toFixed(4)),
    };
  },
});

function describe(session: DiscoveredSession) {
  const { label, title, branch, models, createdAt, userTurns, messageCount, compactionCount } = session;
  return {
    label: label === undefined ? undefined : shortText(label),
    title: title === undefined ? undefined : shortText(title),
    branch: shortText(branch),
    model: models.at(-1),
    startedAt: createdAt?.toISOString(),
    turns: userTurns,
    messages: messageCount,
    tokens: {
      input: session.totalInputTokens,
      output: session.totalOutputTokens,
      cacheRead: session.cacheReadTokens,
      cacheWrite: session.cacheWriteTokens,
      context: session.contextTokens,
    },
    compactions: compactionCount,
  };
}

/** Undefined: not written yet. Claude Code creates its transcript shortly after it starts the server. */
async function findOwn(sessionId: string, { claude }: Bridge): Promise<DiscoveredSession | undefined> {
  const session = await undefinedOn(claude.find(sessionId), "not-found", "usage");
  return session?.sessionId.toLowerCase() === sessionId.toLowerCase() ? session : undefined;
}

const MAX_TASK = 8000;
const SHOWN = 5;
const MAX_EVIDENCE = 5;

const candidate = z.object({
  sessionId: z.string(),
  score: z.number(),
  recommendation: z.enum(["resume", "fresh"]),
  reason: z.string(),
  ceiling: z.string().optional(),
  /** 0: unrelated, 1: the same work. */
  relevance: z.number(),
  task: z.string().optional(),
  branch: z.string().optional(),
  evidence: z.array(z.string()),
});

export const decideSession = defineTool({
  name: "openclaw_decide_session",
  title: "Resume or start afresh",
  description:
    "Which Claude Code session of this agent should take a task on: resume an earlier one, wait for a running one, or " +
    "start afresh, with the reason and the scores of the best candidates. It decides only; it starts nothing.",
  flag: "sessionListEnabled",
  input: z.strictObject({
    task: z.string().max(MAX_TASK).regex(/\S/, "describe the task").describe("The task"),
  }),
  output: z.object({
    action: z.enum(["resume", "fresh", "continue", "queue", "fork"]),
    sessionId: z.string().optional(),
    label: z.string().optional(),
    reason: z.string(),
    /** Who compared the tasks: model, claude-code, offline, or none. */
    relevanceBy: z.string(),
    /** How likely the decision is right, 0 to 1. */
    confidence: count,
    runnerUp: z
      .object({ action: z.enum(["resume", "fresh"]), sessionId: text, confidence: z.number() })
      .describe("The next best choice")
      .optional(),
    candidates: z.array(candidate),
    considered: z.number(),
  }),
  run: async ({ task }, { claude, repoPath, claudeSessionId }) => {
    // The calling session is running too, but must not be waited for.
    const excluded = claudeSessionId === undefined ? [] : [claudeSessionId];
    const { selection, sessions } = await claude.select(task, repoPath, { excluded });
    const rows = new Map(sessions.map((session) => [session.sessionId, session]));
    return {
      action: selection.action,
      sessionId: selection.sessionId,
      label: selection.label,
      reason: excerptLine(selection.reason, 400),
      relevanceBy: selection.relevanceBy,
      confidence: selection.confidence,
      runnerUp: selection.runnerUp,
      candidates: selection.scores.slice(0, SHOWN).map((score) => toCandidate(score, rows.get(score.sessionId))),
      considered: selection.scores.length,
    };
  },
});

function toCandidate(score: SessionScore, session: DiscoveredSession | undefined): z.input<typeof candidate> {
  return {
    sessionId: score.sessionId,
    score: Number(score.score.toFixed(3)),
    recommendation: score.recommendation,
    reason: shortText(score.reason),
    ceiling: score.ceiling === undefined ? undefined : shortText(score.ceiling),
    relevance: Number(score.relevance.relevance.toFixed(3)),
    task: session === undefined ? undefined : taskOf(session),
    branch: session === undefined ? undefined : shortText(session.branch),
    evidence: score.evidence.slice(0, MAX_EVIDENCE).map(({ text }) => shortText(text)),
  };
}

const statusSession = z.object({
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
  // Absent members are unknown; more may be added.
  output: z.looseObject({
    repo: z.string(),
    path: z.string(),
    branch: z.string(),
    headCommit: z.string(),
    uncommittedChanges: z.array(z.string()),
    stagedChanges: z.array(z.string()),
    stashCount: z.number(),
    recentCommits: z.array(z.object({ sha: z.string(), message: z.string(), author: z.string(), date: z.string() })),
    activeSessions: z.array(statusSession),
    recentSessions: z.array(statusSession),
    ownSessions: z.array(statusSession),
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
