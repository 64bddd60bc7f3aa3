/**
 * How often selection decides rightly: labelled cases go through the same code as every other
 * decision, once for each way of comparing tasks. Chance and "always fresh" say what a figure is worth.
 */
import { DEFAULT_CONFIG, type SessionSelectionConfig } from "../../config/config.ts";
import type { LanguageModel } from "../../models/language-model.ts";
import type { ExpectedDecision, SelectionCase } from "./cases.ts";
import { keywordFallback } from "./keyword-fallback.ts";
import { scoreOffline } from "./offline/score-offline.ts";
import { selectSession } from "./select-session.ts";
import type { RelevanceScorer, SelectionAction } from "./selection.ts";

export interface EvaluateOptions {
  /** Left out: the offline scorer. */
  offline?: RelevanceScorer;
  /** Left out: there is no row for a model. */
  model?: LanguageModel | (() => LanguageModel);
  /** Left out: the defaults. */
  config?: SessionSelectionConfig;
}

export interface Evaluation {
  cases: number;
  /** Expected share of right answers when a decision is drawn from fresh and every session. */
  chance: number;
  alwaysFresh: number;
  keywords: MethodResult;
  offline: MethodResult;
  /** With a model, when one was given. */
  model?: MethodResult;
  /** With the relevance that the cases are labelled with, over those that are. */
  rightRelevance?: MethodResult;
}

export interface MethodResult {
  cases: number;
  right: number;
  accuracy: number;
  /** How it went wrong. */
  wrongSession: number;
  missedResume: number;
  wrongResume: number;
  byKind: Record<string, { cases: number; right: number; accuracy: number }>;
  decisions: CaseDecision[];
}

export interface CaseDecision {
  id: string;
  kind: string;
  task: string;
  expected: ExpectedDecision;
  action: SelectionAction;
  sessionId?: string;
  verdict: "right" | "wrong-session" | "missed-resume" | "wrong-resume";
  reason: string;
  /** Of every session, best first. */
  relevance: { sessionId: string; relevance: number; score: number; reasoning: string }[];
}

export async function evaluateCases(
  cases: readonly SelectionCase[],
  options: EvaluateOptions = {},
): Promise<Evaluation> {
  const { model, config = DEFAULT_CONFIG.claudeCode.sessionSelection, offline = scoreOffline } = options;
  const labelled = cases.filter((one) => one.relevance !== undefined);
  return {
    cases: cases.length,
    chance: mean(cases.map((one) => 1 / (one.sessions.length + 1))),
    alwaysFresh: mean(cases.map((one) => (one.expected.action === "fresh" ? 1 : 0))),
    keywords: await runMethod(cases, { config, scorer: () => byKeywords }),
    offline: await runMethod(cases, { config, scorer: () => offline }),
    ...(model === undefined ? {} : { model: await runMethod(cases, { config, scorer: () => offline, model }) }),
    ...(labelled.length === 0 ? {} : { rightRelevance: await runMethod(labelled, { config, scorer: asLabelled }) }),
  };
}

interface Method {
  config: SessionSelectionConfig;
  scorer: (one: SelectionCase) => RelevanceScorer;
  model?: LanguageModel | (() => LanguageModel);
}

async function runMethod(cases: readonly SelectionCase[], method: Method): Promise<MethodResult> {
  const decisions: CaseDecision[] = [];
  for (const one of cases) decisions.push(await decide(one, method));
  const count = (verdict: CaseDecision["verdict"]): number =>
    decisions.filter((decision) => decision.verdict === verdict).length;
  const kinds = Object.groupBy(decisions, (decision) => decision.kind);
  return {
    ...rightOf(decisions),
    wrongSession: count("wrong-session"),
    missedResume: count("missed-resume"),
    wrongResume: count("wrong-resume"),
    byKind: Object.fromEntries(Object.entries(kinds).map(([kind, some]) => [kind, rightOf(some ?? [])])),
    decisions,
  };
}

async function decide(one: SelectionCase, { config, scorer, model }: Method): Promise<CaseDecision> {
  const git =
    one.currentBranch === undefined
      ? undefined
      : {
          currentBranch: one.currentBranch,
          recentCommits: one.commitSubjects.map((message) => ({ sha: "", message, author: "", date: "" })),
          worktrees: [],
        };
  const chosen = await selectSession(
    one.task,
    one.repoPath,
    one.agentId,
    { ...(git === undefined ? {} : { git }), sessions: { active: [], recent: [], ownRecent: [] } },
    {
      sessions: one.sessions,
      offline: scorer(one),
      model,
      config,
      now: one.now,
      // A case describes a repo that is not on this disk.
      evidence: false,
    },
  );
  const { action, sessionId } = chosen;
  return {
    id: one.id,
    kind: one.kind,
    task: one.task,
    expected: one.expected,
    action,
    ...(sessionId === undefined ? {} : { sessionId }),
    verdict: judge(one.expected, chosen),
    reason: chosen.reason,
    relevance: chosen.scores.map((score) => ({
      sessionId: score.sessionId,
      relevance: score.relevance.relevance,
      score: score.score,
      reasoning: score.relevance.reasoning,
    })),
  };
}

function judge(
  expected: ExpectedDecision,
  chosen: { action: SelectionAction; sessionId?: string },
): CaseDecision["verdict"] {
  if (expected.action === chosen.action && (expected.action === "fresh" || expected.sessionId === chosen.sessionId))
    return "right";
  if (expected.action === "fresh") return "wrong-resume";
  return chosen.action === "fresh" ? "missed-resume" : "wrong-session";
}

const byKeywords: RelevanceScorer = (task, sessions) => sessions.map((session) => keywordFallback(task, session));

const asLabelled =
  (one: SelectionCase): RelevanceScorer =>
  (_task, sessions) =>
    sessions.map(({ sessionId }) => ({
      sessionId,
      relevance: one.relevance?.get(sessionId) ?? 0,
      reasoning: "as labelled",
    }));

function rightOf(decisions: readonly CaseDecision[]): { cases: number; right: number; accuracy: number } {
  const right = decisions.filter((decision) => decision.verdict === "right").length;
  return { cases: decisions.length, right, accuracy: decisions.length === 0 ? 0 : right / decisions.length };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
