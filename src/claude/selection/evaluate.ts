/**
 * Measures how often selection decides correctly: labelled cases run through the same code as any other
 * decision, once per way of comparing tasks. Chance and "always fresh" are baselines.
 */
import { DEFAULT_CONFIG } from "../../config/config.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { ExpectedDecision, SelectionCase } from "./cases.ts";
import { scoreOffline } from "./offline/score-offline.ts";
import { selectSession } from "./select-session.ts";
import type { RelevanceScorer, SelectOptions, SessionSelection, TaskRelevance } from "./selection.ts";
import type { SessionSelectionConfig } from "../../config/claude-code.ts";

export interface EvaluateOptions {
  /** Default: `scoreOffline`. */
  offline?: RelevanceScorer | undefined;
  /** Default: no result for a model. */
  model?: SelectOptions["model"];
  /** Default: the default configuration. */
  config?: SessionSelectionConfig | undefined;
}

export type Evaluation = Awaited<ReturnType<typeof evaluateCases>>;
export type MethodResult = Awaited<ReturnType<typeof runMethod>>;
type CaseDecision = Awaited<ReturnType<typeof decideCase>>;

export async function evaluateCases(cases: readonly SelectionCase[], options: EvaluateOptions = {}) {
  const { model, config = DEFAULT_CONFIG.claudeCode.sessionSelection, offline = scoreOffline } = options;
  const byOffline = { config, scorer: () => offline };
  const labelled = cases.filter((one) => one.relevance !== undefined);
  return {
    cases: cases.length,
    /** Expected accuracy of a random choice between fresh and every session. */
    chance: mean(cases.map((one) => 1 / (one.sessions.length + 1))),
    alwaysFresh: mean(cases.map((one) => (one.expected.action === "fresh" ? 1 : 0))),
    keywords: await runMethod(cases, { config, scorer: () => byKeywords }),
    offline: await runMethod(cases, byOffline),
    model: model === undefined ? undefined : await runMethod(cases, { ...byOffline, model }),
    /** With the labelled relevance, over the cases that have it. */
    rightRelevance: labelled.length === 0 ? undefined : await runMethod(labelled, { config, scorer: byLabels }),
  };
}

interface Method {
  config: SessionSelectionConfig;
  scorer: (one: SelectionCase) => RelevanceScorer;
  model?: SelectOptions["model"];
}

async function runMethod(cases: readonly SelectionCase[], method: Method) {
  const decisions: CaseDecision[] = [];
  for (const one of cases) decisions.push(await decideCase(one, method));
  const count = (verdict: Verdict): number => decisions.filter((decision) => decision.verdict === verdict).length;
  const kinds = Object.groupBy(decisions, (decision) => decision.kind);
  return {
    ...accuracyOf(decisions),
    wrongSession: count("wrong-session"),
    missedResume: count("missed-resume"),
    wrongResume: count("wrong-resume"),
    byKind: Object.fromEntries(Object.entries(kinds).map(([kind, some]) => [kind, accuracyOf(some ?? [])])),
    decisions,
  };
}

async function decideCase(one: SelectionCase, { config, scorer, model }: Method) {
  const { id, kind, task, expected, currentBranch } = one;
  const recentCommits = one.commitSubjects.map((message) => ({ sha: "", message, author: "", date: "" }));
  const git = currentBranch === undefined ? undefined : { currentBranch, recentCommits, worktrees: [] };
  const project = { git, sessions: { active: [], recent: [], ownRecent: [] } };
  // The repo of a case does not exist on this disk, so there is no evidence to gather.
  const options = {
    sessions: one.sessions,
    offline: scorer(one),
    model,
    config,
    now: one.now,
    evidence: false,
  } as const;
  const chosen = await selectSession(task, one.repoPath, one.agentId, project, options);
  return {
    id,
    kind,
    task,
    expected,
    action: chosen.action,
    sessionId: chosen.sessionId,
    verdict: judge(expected, chosen),
    /** How likely it seemed right, 0 to 1. Undefined without a session to compare. */
    confidence: chosen.confidence,
    reason: chosen.reason,
    /** Of all sessions, best first. */
    relevance: chosen.scores.map(({ sessionId, score, relevance: { relevance, reasoning } }) => {
      return { sessionId, relevance, score, reasoning };
    }),
  };
}

type Verdict = "right" | "wrong-session" | "missed-resume" | "wrong-resume";

function judge(expected: ExpectedDecision, chosen: SessionSelection): Verdict {
  const isSameSession = expected.action === "fresh" || expected.sessionId === chosen.sessionId;
  if (expected.action === chosen.action && isSameSession) return "right";
  if (expected.action === "fresh") return "wrong-resume";
  return chosen.action === "fresh" ? "missed-resume" : "wrong-session";
}

const byLabels =
  (one: SelectionCase): RelevanceScorer =>
  (_task, sessions) =>
    sessions.map(({ sessionId }) => {
      return { sessionId, relevance: one.relevance?.get(sessionId) ?? 0, reasoning: "as labelled" };
    });

const byKeywords: RelevanceScorer = (task, sessions) => sessions.map((session) => keywordFallback(task, session));

/** A baseline: the share of longer words that two tasks have in common. Knows no synonyms. */
export function keywordFallback(task: string, session: DiscoveredSession): TaskRelevance {
  const wanted = longWords(task);
  const known = longWords(session.lastTask ?? session.firstMessage);
  const shared = [...wanted].filter((word) => known.has(word)).length;
  const all = wanted.size + known.size - shared;
  const relevance = all === 0 ? 0 : Math.min((2 * shared) / all, 1);
  return { sessionId: session.sessionId, relevance, reasoning: `${shared} of ${all} words shared` };
}

function longWords(text: string): Set<string> {
  const words = text.toLowerCase().split(/\W+/);
  return new Set(words.filter((word) => word.length > 3));
}

function accuracyOf(decisions: readonly CaseDecision[]) {
  const right = decisions.filter((decision) => decision.verdict === "right").length;
  return { cases: decisions.length, right, accuracy: decisions.length === 0 ? 0 : right / decisions.length };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
