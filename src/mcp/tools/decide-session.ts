/** `openclaw_decide_session`: resume an earlier session or start afresh. */
import { z } from "zod";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import type { SessionScore } from "../../claude/selection/selection.ts";
import { defineTool } from "../bridge-tool.ts";
import { excerptLine } from "../model-text.ts";
import { shortText, taskOf } from "./session-texts.ts";

const MAX_TASK = 8000;
const SHOWN = 5;
const MAX_EVIDENCE = 5;

const candidate = z.object({
  sessionId: z.string(),
  score: z.number(),
  recommendation: z.enum(["resume", "fresh"]),
  reason: z.string(),
  /** What forces a fresh session whatever the score. */
  ceiling: z.string().optional(),
  /** 0: unrelated, 1: the same work going on. */
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
    task: z.string().max(MAX_TASK).regex(/\S/, "say what is to be done").describe("What is to be done"),
  }),
  output: z.object({
    action: z.enum(["resume", "fresh", "continue", "queue", "fork"]),
    sessionId: z.string().optional(),
    label: z.string().optional(),
    reason: z.string(),
    /** How tasks were compared: by a model, offline, or not at all. */
    relevanceBy: z.string(),
    candidates: z.array(candidate),
    /** How many sessions were considered. */
    considered: z.number(),
  }),
  run: async ({ task }, { claude, repoPath, claudeSessionId }) => {
    // The session that asks runs, of course: that is no reason to wait for it.
    const besides = claudeSessionId === undefined ? [] : [claudeSessionId];
    const { selection, sessions } = await claude.select(task, repoPath, { besides });
    const rows = new Map(sessions.map((session) => [session.sessionId, session]));
    return {
      action: selection.action,
      sessionId: selection.sessionId,
      label: selection.label,
      reason: excerptLine(selection.reason, 400),
      relevanceBy: selection.relevanceBy,
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
