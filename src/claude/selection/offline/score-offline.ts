/**
 * Compares a task with sessions when no model is at hand: deterministic, without network, fast. What
 * they share becomes features, and learned weights say how much those speak for a session; the sessions
 * and a fresh start compete. A follow-up belongs to the session used last on the branch.
 *
 * The answer is about as likely as the work is related: from 0.6 related, below 0.1 surely not, doubt in
 * between (docs/selection-cases.md has the figures).
 */
import type { DiscoveredSession } from "../../discovered-session.ts";
import type { RelevanceContext, RelevanceScorer, TaskRelevance } from "../selection.ts";
import { type Comparison, compareTask, NOTHING_IN_COMMON, readTask } from "./compare.ts";
import { FEATURE_NAMES, type FeatureName } from "./features.ts";
import { readFollowUp } from "./follow-up.ts";
import { readSession } from "./session-reading.ts";
import { meetable } from "./units.ts";
import { WEIGHTS } from "./weights.ts";

/** A task that surely refers back to the session, and one that may. */
const FOLLOWED = 0.9;
const MAYBE_FOLLOWED = 0.4;
/** At least this much for a session that shares a distinctive word with the task. */
const SHARES_WORD = 0.25;
/** A session that is so much less likely than the best one merely resembles it. */
const RIVAL = 0.5;
/** Evidence of what only related work shares, and the most for a session that loses to a better one. */
const SPECIFIC = 2;
const UNLIKELY = -0.5;
/** From evidence to relevance, by a logistic curve: 0.1 at an evidence of -1, 0.3 at 0, 0.6 at 1. */
const CURVE = { slope: 1.3, offset: -0.9 };

export const scoreOffline: RelevanceScorer = createOfflineScorer(WEIGHTS);

/** With other weights, for training. */
export function createOfflineScorer(weights: Readonly<Record<FeatureName, number>>): RelevanceScorer {
  const ordered = FEATURE_NAMES.map((name) => weights[name]);
  return (task, sessions, context) => {
    const judged = onScale(compareAll(task, sessions, context), ordered);
    const followed = followedSession(task, sessions, context, judged);
    return sessions.map((session, at): TaskRelevance => {
      const { relevance, reasoning } = judged[at] ?? { relevance: 0, reasoning: NOTHING_IN_COMMON };
      const { sessionId } = session;
      if (session === followed?.session)
        return { sessionId, relevance: Math.max(relevance, followed.relevance), reasoning: followed.reasoning };
      if (followed?.relevance !== FOLLOWED) return { sessionId, relevance, reasoning };
      const rest = Math.min(relevance, toRelevance(UNLIKELY));
      return { sessionId, relevance: rest, reasoning: "the task refers back to another session" };
    });
  };
}

export function compareAll(
  task: string,
  sessions: readonly DiscoveredSession[],
  context: RelevanceContext,
): Comparison[] {
  const reading = readTask(task);
  const canMeet = meetable(reading.units);
  const readings = sessions.map((session) => readSession(session, context, canMeet));
  return readings.map((session) => compareTask(reading, session, readings));
}

interface Judgement {
  relevance: number;
  reasoning: string;
  /** Stems of the words that task and session share. */
  shared: ReadonlySet<string>;
}

/** Sets the best apart from those that merely resemble it. What only related work shares decides alone. */
function onScale(found: readonly Comparison[], weights: readonly number[]): Judgement[] {
  const isSettled = found.some((comparison) => comparison.isSpecific);
  const evidence = found.map(({ features, isSpecific }) => {
    const sum = features.reduce((total, value, at) => total + value * (weights[at] ?? 0), 0);
    if (isSpecific) return Math.max(SPECIFIC, sum);
    return isSettled ? Math.min(sum, UNLIKELY) : sum;
  });
  const best = Math.max(...evidence);
  return found.map(({ reasoning, shared, sharesWord }, at) => {
    const own = evidence[at] ?? UNLIKELY;
    const likely = toRelevance(own < best - RIVAL ? Math.min(own, UNLIKELY) : own);
    return { reasoning, shared, relevance: sharesWord ? Math.max(SHARES_WORD, likely) : likely };
  });
}

function toRelevance(evidence: number): number {
  return Math.round(100 / (1 + Math.exp(-(CURVE.slope * evidence + CURVE.offset)))) / 100;
}

/** The session that a follow-up means: the one used last on this branch, or another one whose words it uses. */
function followedSession(
  task: string,
  sessions: readonly DiscoveredSession[],
  { currentBranch = "" }: RelevanceContext,
  judged: readonly Judgement[],
): { session: DiscoveredSession; relevance: number; reasoning: string } | undefined {
  const followUp = readFollowUp(task);
  if (followUp === undefined) return undefined;
  const [last, ...others] = sessions
    .map((session, at) => ({
      session,
      isHere: session.branch === currentBranch,
      topic: followUp.ownTopic(judged[at]?.shared ?? new Set()),
      compared: judged[at]?.reasoning ?? NOTHING_IN_COMMON,
    }))
    .sort(
      (a, b) =>
        Number(b.isHere) - Number(a.isHere) || b.session.lastModified.getTime() - a.session.lastModified.getTime(),
    );
  if (last === undefined) return undefined;
  if (last.topic <= followUp.doubtful) {
    const isSure = last.isHere && last.topic <= followUp.sure;
    const reasoning = `the task ${isSure ? "refers" : "may refer"} back, and this is the session used last${last.isHere ? " on this branch" : ""}`;
    return { session: last.session, relevance: isSure ? FOLLOWED : MAYBE_FOLLOWED, reasoning };
  }
  const named = others.find(({ topic }) => topic <= followUp.sure);
  if (named === undefined) return undefined;
  const reasoning = `the task refers back, and this is about ${named.compared}`;
  return { session: named.session, relevance: FOLLOWED, reasoning };
}
