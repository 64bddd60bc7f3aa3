/**
 * How good a session is for a task: five factors that add up to at most 1, and ceilings that force
 * a fresh session whatever they add up to. Every number comes from the configuration.
 *
 * Scores are rounded to six places before they are compared, so that 0.25 + 0.2 − 0.15 + 0.15 + 0.15
 * reaches a threshold of 0.6, and so that what is shown is what was decided upon.
 */
import { printableLine } from "../../base/printable.ts";
import type { SelectionScoring, SessionSelectionConfig } from "../../config/config.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { Evidence, ScoreFactors, SessionScore, TaskRelevance } from "./selection.ts";

export interface ScoreFacts {
  /** Empty on a detached HEAD. Left out where there are no branches, in a folder without git. */
  currentBranch?: string | undefined;
  relevance: TaskRelevance;
  /** In ms. */
  now: number;
  config: SessionSelectionConfig;
  /** Left out: nothing is known against the session. */
  evidence?: readonly Evidence[] | undefined;
}

export function scoreSession(session: DiscoveredSession, facts: ScoreFacts): SessionScore {
  const { relevance, config } = facts;
  const evidence = [...(facts.evidence ?? [])];
  const common = { sessionId: session.sessionId, relevance, evidence };

  const exhausted = ceilingOf(session, relevance, config.scoring);
  if (exhausted !== undefined) {
    return {
      ...common,
      score: 0,
      factors: { branchMatch: 0, recency: 0, taskRelevance: 0, sessionHealth: 0, contextCapacity: 0 },
      recommendation: "fresh",
      reason: exhausted,
      ceiling: exhausted,
    };
  }

  const factors = factorsOf(session, facts);
  const score = Math.min(1, Math.max(0, rounded(Object.values(factors).reduce((sum, points) => sum + points, 0))));
  const ceiling =
    evidence.find((found) => found.forcesFresh)?.text ?? unrelatedCeiling(relevance.relevance, config.scoring);
  const recommendation = ceiling === undefined && score >= config.resumeThreshold ? "resume" : "fresh";
  return {
    ...common,
    score,
    factors,
    recommendation,
    reason: reasonOf(session, factors, facts, ceiling),
    ...(ceiling === undefined ? {} : { ceiling }),
  };
}

/** The hours since a session was last used. A clock that was ahead must not make a session look old. */
export function ageInHours(session: DiscoveredSession, now: number): number {
  return Math.max(0, now - session.lastModified.getTime()) / 3_600_000;
}

/** Two detached heads or two unknown branches are no match: nothing says that they are the same place. */
function onSameBranch(session: DiscoveredSession, currentBranch: string | undefined): boolean {
  const branch = session.branch === "HEAD" ? "" : session.branch;
  return currentBranch === undefined ? branch === "" : branch !== "" && branch === currentBranch;
}

/** What makes a session useless for any task. */
function ceilingOf(session: DiscoveredSession, relevance: TaskRelevance, scoring: SelectionScoring) {
  const { ceilings } = scoring;
  if (session.compactionCount >= ceilings.compactions) {
    return `compacted ${session.compactionCount} times, too little of its context is left`;
  }
  if ((session.budgetUsedPct ?? 0) >= ceilings.budgetUsed) {
    return `${percent(session.budgetUsedPct)} of the budget is used`;
  }
  if (isUnrelated(relevance.relevance, scoring) && session.messageCount > ceilings.unrelatedMessages) {
    return `unrelated work in a session of ${session.messageCount} messages`;
  }
  return undefined;
}

/**
 * The penalty alone leaves a perfect match of everything else at exactly the threshold. Unrelated work
 * must not be resumed however good the rest is, so it is a ceiling of its own.
 */
function unrelatedCeiling(relevance: number, scoring: SelectionScoring): string | undefined {
  return isUnrelated(relevance, scoring) ? "unrelated work" : undefined;
}

function isUnrelated(relevance: number, scoring: SelectionScoring): boolean {
  return !(relevance >= scoring.relevance.unrelatedBelow);
}

function factorsOf(session: DiscoveredSession, facts: ScoreFacts): ScoreFactors {
  const { scoring } = facts.config;
  const age = ageInHours(session, facts.now);
  return {
    branchMatch: onSameBranch(session, facts.currentBranch) ? scoring.branchMatch : 0,
    recency: scoring.recency.find((row) => age < row.withinHours)?.points ?? 0,
    taskRelevance: rounded(relevancePoints(facts.relevance.relevance, scoring.relevance)),
    sessionHealth: rounded(healthPoints(session, age, scoring.health)),
    contextCapacity: rounded(capacityPoints(session, scoring.capacity)),
  };
}

function relevancePoints(relevance: number, rule: SelectionScoring["relevance"]): number {
  if (relevance >= rule.relatedFrom) return rule.relatedPoints;
  if (relevance >= rule.partlyFrom) {
    const slope = (rule.relatedPoints - rule.partlyPoints) / (rule.relatedFrom - rule.partlyFrom);
    return rule.partlyPoints + (relevance - rule.partlyFrom) * slope;
  }
  return relevance >= rule.unrelatedBelow ? 0 : -rule.unrelatedPenalty;
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
  // The ceiling may be configured to lie higher than three: more than two cost at least as much as two.
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
  const parts = ceiling === undefined ? [] : [ceiling];
  parts.push(
    factors.branchMatch > 0 ? "same branch" : "another branch",
    `used ${sinceWords(ageInHours(session, now))}`,
  );
  parts.push(`${wordFor(relevance.relevance, scoring)} (${printableLine(relevance.reasoning, 160)})`);
  if (factors.sessionHealth < scoring.health.points) parts.push("large or old");
  if (session.compactionCount > 0) parts.push(`${session.compactionCount}× compacted`);
  if ((session.budgetUsedPct ?? 0) > scoring.capacity.budgetUsed) {
    parts.push(`${percent(session.budgetUsedPct)} of the budget used`);
  }
  return parts.join(", ");
}

function wordFor(relevance: number, { relevance: rule }: SelectionScoring): string {
  if (relevance >= rule.relatedFrom) return "related";
  if (relevance >= rule.partlyFrom) return "partly related";
  return relevance >= rule.unrelatedBelow ? "hardly related" : "unrelated";
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
