/**
 * How well a session fits a task: five factors that add up to at most 1, and ceilings that require a
 * fresh session whatever the sum. Every number comes from the configuration (`config/claude-code.ts`).
 *
 * Scores are rounded to six places before they are compared, so that 0.25 + 0.2 − 0.15 + 0.15 + 0.15
 * reaches a threshold of 0.6, and so that the shown score is the one that decided.
 */
import type { DiscoveredSession } from "../discovered-session.ts";
import type { Evidence, ScoreFactors, SessionScore, SessionSelection, TaskRelevance } from "./selection.ts";
import { printableLine } from "../../base/text.ts";
import type { SelectionScoring, SessionSelectionConfig } from "../../config/claude-code.ts";

export interface ScoreFacts {
  /** Empty on a detached HEAD. Undefined in a folder without git. */
  currentBranch?: string | undefined;
  relevance: TaskRelevance;
  /** In ms. */
  now: number;
  config: SessionSelectionConfig;
  /** Default: none. */
  evidence?: readonly Evidence[] | undefined;
}

const NO_POINTS: ScoreFactors = {
  branchMatch: 0,
  recency: 0,
  taskRelevance: 0,
  sessionHealth: 0,
  contextCapacity: 0,
};

export function scoreSession(session: DiscoveredSession, facts: ScoreFacts): SessionScore {
  const { relevance, config } = facts;
  const evidence = [...(facts.evidence ?? [])];
  const common = { sessionId: session.sessionId, relevance, evidence };

  const exhausted = ceilingOf(session, relevance, config.scoring);
  if (exhausted !== undefined) {
    const reason = notEligible(exhausted);
    return { ...common, score: 0, factors: { ...NO_POINTS }, recommendation: "fresh", reason, ceiling: exhausted };
  }

  const factors = factorsOf(session, facts);
  const sum = Object.values(factors).reduce((total, points) => total + points, 0);
  const score = Math.min(1, Math.max(0, rounded(sum)));
  const forced = evidence.find((found) => found.forcesFresh)?.text;
  // With a perfect match of all other factors, the penalty alone would leave unrelated work at the threshold.
  const ceiling = forced ?? (isUnrelated(relevance, config.scoring) ? UNRELATED_WORK : undefined);
  const recommendation = ceiling === undefined && score >= config.resumeThreshold ? "resume" : "fresh";
  return { ...common, score, factors, recommendation, reason: reasonOf(session, factors, facts, ceiling), ceiling };
}

const UNRELATED_WORK = "unrelated work";

/** Reasons that make a session useless for any task. */
function ceilingOf(session: DiscoveredSession, relevance: TaskRelevance, scoring: SelectionScoring) {
  const { ceilings } = scoring;
  if (session.compactionCount >= ceilings.compactions) {
    return `compacted ${session.compactionCount} times, too little of its context is left`;
  }
  if ((session.budgetUsedPct ?? 0) >= ceilings.budgetUsed) {
    return `${percent(session.budgetUsedPct)} of the budget is used`;
  }
  if (isUnrelated(relevance, scoring) && session.messageCount > ceilings.unrelatedMessages) {
    return `unrelated work in a session of ${session.messageCount} messages`;
  }
  return undefined;
}

/** NaN counts as unrelated. */
function isUnrelated({ relevance }: TaskRelevance, scoring: SelectionScoring): boolean {
  return !(relevance >= scoring.relevance.unrelatedBelow);
}

function factorsOf(session: DiscoveredSession, facts: ScoreFacts): ScoreFactors {
  const { scoring } = facts.config;
  const age = ageInHours(session, facts.now);
  return {
    branchMatch: isOnBranch(session, facts.currentBranch) ? scoring.branchMatch : 0,
    recency: scoring.recency.find((row) => age < row.withinHours)?.points ?? 0,
    taskRelevance: rounded(relevancePoints(facts.relevance.relevance, scoring.relevance)),
    sessionHealth: rounded(healthPoints(session, age, scoring.health)),
    contextCapacity: rounded(capacityPoints(session, scoring.capacity)),
  };
}

/** Hours since the last use. 0 for a date in the future. */
export function ageInHours(session: DiscoveredSession, now: number): number {
  return Math.max(0, now - session.lastModified.getTime()) / 3_600_000;
}

/** Two detached heads or two unknown branches do not match: they may be different commits. */
function isOnBranch(session: DiscoveredSession, currentBranch: string | undefined): boolean {
  const branch = session.branch === "HEAD" ? "" : session.branch;
  return currentBranch === undefined ? branch === "" : branch !== "" && branch === currentBranch;
}

function relevancePoints(relevance: number, rule: SelectionScoring["relevance"]): number {
  if (relevance >= rule.relatedFrom) return rule.relatedPoints;
  if (relevance >= rule.partlyFrom) {
    const slope = (rule.relatedPoints - rule.partlyPoints) / (rule.relatedFrom - rule.partlyFrom);
    return rule.partlyPoints + (relevance - rule.partlyFrom) * slope;
  }
  return relevance >= rule.unrelatedBelow ? 0 : -rule.unrelatedPenalty;
}

/** The least relevance with which the session would be resumed. Undefined: it would not be, however relevant. */
export function relevanceToResume(
  session: DiscoveredSession,
  facts: Omit<ScoreFacts, "relevance">,
): number | undefined {
  const { resumeThreshold, scoring } = facts.config;
  const rule = scoring.relevance;
  const full = { sessionId: session.sessionId, relevance: 1, reasoning: "" };
  const best = scoreSession(session, { ...facts, relevance: full });
  if (best.recommendation === "fresh") return undefined;
  const missing = rounded(resumeThreshold - (best.score - best.factors.taskRelevance));
  if (missing <= 0) return rule.unrelatedBelow;
  if (missing <= rule.partlyPoints) return rule.partlyFrom;
  const slope = (rule.relatedPoints - rule.partlyPoints) / (rule.relatedFrom - rule.partlyFrom);
  return Math.min(rule.relatedFrom, rule.partlyFrom + (missing - rule.partlyPoints) / slope);
}

/** Beyond these values a relevance says no more about a decision. */
const RELEVANCE_RANGE = [0.005, 0.995] as const;

/**
 * How likely each choice is right, the likeliest first, as shares that add up to 1. Without a session id: fresh. The
 * evidence of a session counts from the relevance with which it would be resumed, as in scripts/train-relevance.ts.
 */
export function likelihoods(
  candidates: readonly (Omit<ScoreFacts, "now" | "config"> & { session: DiscoveredSession })[],
  context: Pick<ScoreFacts, "now" | "config">,
): { sessionId?: string | undefined; share: number }[] {
  const odds = candidates.flatMap(({ session, relevance, ...facts }) => {
    const needed = relevanceToResume(session, { ...facts, ...context });
    if (needed === undefined) return [];
    return { sessionId: session.sessionId, value: Math.exp(logOdds(relevance.relevance) - logOdds(needed)) };
  });
  const total = odds.reduce((sum, { value }) => sum + value, 1);
  const shares = odds.map(({ sessionId, value }) => ({ sessionId, share: value / total }));
  return [{ sessionId: undefined, share: 1 / total }, ...shares].toSorted((a, b) => b.share - a.share);
}

export function logOdds(share: number): number {
  const [low, high] = RELEVANCE_RANGE;
  const bounded = Math.min(high, Math.max(low, share));
  return Math.log(bounded / (1 - bounded));
}

function healthPoints(session: DiscoveredSession, age: number, rule: SelectionScoring["health"]): number {
  let points = rule.points;
  if (session.messageCount > rule.manyMessages) points -= rule.manyMessagesPenalty;
  if (session.fileSizeBytes > rule.largeBytes) points -= rule.largePenalty;
  if (age > rule.oldHours) points -= rule.oldPenalty;
  return Math.max(0, points);
}

function capacityPoints(session: DiscoveredSession, rule: SelectionScoring["capacity"]): number {
  let points = rule.points;
  if (session.compactionCount === 1) points -= rule.oneCompactionPenalty;
  if (session.compactionCount >= 2) points -= rule.twoCompactionsPenalty;
  const used = session.budgetUsedPct ?? 0;
  if (used > rule.budgetHalf) points -= rule.budgetHalfPenalty;
  else if (used > rule.budgetUsed) points -= rule.budgetUsedPenalty;
  const tokens = session.totalInputTokens + session.totalOutputTokens;
  if (session.messageCount > 0 && tokens / session.messageCount > rule.denseTokensPerMessage) {
    points -= rule.densePenalty;
  }
  return Math.max(0, points);
}

function reasonOf(
  session: DiscoveredSession,
  factors: ScoreFactors,
  { relevance, now, config: { scoring } }: ScoreFacts,
  ceiling: string | undefined,
): string {
  const compared = printableLine(relevance.reasoning, 160);
  const parts = [
    factors.branchMatch > 0 ? "same branch" : "another branch",
    `used ${sinceWords(ageInHours(session, now))}`,
    ceiling === UNRELATED_WORK ? compared : `${wordFor(relevance.relevance, scoring)} (${compared})`,
  ];
  if (factors.sessionHealth < scoring.health.points) parts.push("large or old");
  if (session.compactionCount > 0) parts.push(`${session.compactionCount}× compacted`);
  if ((session.budgetUsedPct ?? 0) > scoring.capacity.budgetUsed) {
    parts.push(`${percent(session.budgetUsedPct)} of the budget used`);
  }
  const facts = parts.join(", ");
  return ceiling === undefined ? facts : `${notEligible(ceiling)} (${facts})`;
}

function notEligible(ceiling: string): string {
  return `not eligible: ${ceiling}`;
}

function wordFor(relevance: number, { relevance: rule }: SelectionScoring): string {
  if (relevance >= rule.relatedFrom) return "related";
  if (relevance >= rule.partlyFrom) return "partly related";
  return relevance >= rule.unrelatedBelow ? "possibly related" : "unrelated";
}

function sinceWords(hours: number): string {
  if (hours < 1) return "within the hour";
  return hours < 48 ? `${Math.floor(hours)} h ago` : `${Math.floor(hours / 24)} days ago`;
}

function percent(share: number | undefined): string {
  return `${Math.round((share ?? 0) * 100)} %`;
}

function rounded(points: number): number {
  return Math.round(points * 1e6) / 1e6;
}

/** One candidate in the table of `holdfast cc select`. Texts are safe to print. */
export type SelectionRow = ReturnType<typeof explainSelection>[number];

/** Best first. A selection without scores, such as one by label, has no rows. */
export function explainSelection(selection: SessionSelection, sessions: readonly DiscoveredSession[]) {
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  return selection.scores.map((score) => {
    const session = byId.get(score.sessionId);
    return {
      sessionId: score.sessionId,
      /** Title or first message. */
      candidate: printableLine(session?.title ?? session?.firstMessage ?? "", 60),
      score: score.score,
      factors: score.factors,
      /** 0 to 1. */
      relevance: score.relevance.relevance,
      reasoning: printableLine(score.relevance.reasoning, 160),
      evidence: score.evidence.map(({ text }) => printableLine(text, 160)),
      verdict: verdictOf(score, selection),
      /** Why it is not eligible. */
      ceiling: score.ceiling === undefined ? undefined : printableLine(score.ceiling, 160),
    };
  });
}

function verdictOf(score: SessionScore, selection: SessionSelection) {
  if (score.sessionId === selection.sessionId && selection.action !== "queue") return "chosen";
  if (score.ceiling !== undefined) return "not eligible";
  return score.recommendation === "resume" ? "not the best" : "score too low";
}
