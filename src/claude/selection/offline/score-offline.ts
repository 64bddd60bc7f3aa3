/**
 * Compares a task with sessions when no model is at hand: deterministic, without network, fast. What
 * they share becomes features, and learned weights say how much those speak for a session; the sessions
 * and a fresh start compete. A task that refers back belongs to the session used last. The scale is the
 * one that models are asked for: below 0.1 unrelated, from 0.6 related.
 */
import type { DiscoveredSession } from "../../discovered-session.ts";
import type { RelevanceContext, RelevanceScorer, TaskRelevance } from "../selection.ts";
import { type Comparison, compareTask, NOTHING_IN_COMMON, readTask } from "./compare.ts";
import { FEATURE_NAMES, type FeatureName } from "./features.ts";
import { referenceBack } from "./follow-up.ts";
import { readSession } from "./session-reading.ts";
import { meetable, readUnits, type Unit } from "./units.ts";
import { WEIGHTS } from "./weights.ts";
import { takeApart } from "./words.ts";

const FOLLOWED = 0.9;
const UNRELATED = 0.05;
/** A session that is so much less likely than the best one merely resembles it. */
const RIVAL = 0.5;
/** Evidence of what only related work shares, and of what is surely no related work. */
const SPECIFIC = 2;
const UNLIKELY = -0.5;
/** From how much subject on a task names something. */
const SAYS_SOMETHING = 0.75;

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
      if (followed === undefined) return { sessionId, relevance, reasoning };
      return session === followed.session
        ? { sessionId, relevance: FOLLOWED, reasoning: `the task refers back, and this is ${followed.why}` }
        : {
            sessionId,
            relevance: Math.min(relevance, UNRELATED),
            reasoning: "the task refers back to another session",
          };
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
  /** Above 0 it speaks for the session, below for a fresh start. */
  evidence: number;
  relevance: number;
  reasoning: string;
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
  return found.map(({ reasoning }, at) => {
    const own = evidence[at] ?? UNLIKELY;
    const relevance = toRelevance(own < best - RIVAL ? Math.min(own, UNLIKELY) : own);
    return { reasoning, evidence: own, relevance: Math.round(relevance * 100) / 100 };
  });
}

function toRelevance(evidence: number): number {
  const likelihood = 1 / (1 + Math.exp(-evidence));
  return likelihood < 0.5 ? likelihood * 0.19 : 0.6 + (likelihood - 0.5) * 0.8;
}

/** The session that a follow-up means: what it names if it names one, else the one used last on this branch. */
function followedSession(
  task: string,
  sessions: readonly DiscoveredSession[],
  context: RelevanceContext,
  judged: readonly Judgement[],
): { session: DiscoveredSession; why: string } | undefined {
  const back = referenceBack(task);
  if (back === undefined) return undefined;
  const rest = takeApart(back.rest);
  const subject = subjectOf(readUnits(rest.words));
  if (rest.codes.size + rest.paths.length > 0) return undefined;
  const best = judged.reduce((most, { evidence }, at) => (evidence > (judged[most]?.evidence ?? 0) ? at : most), 0);
  const named = sessions[best];
  if (subject >= SAYS_SOMETHING && named !== undefined && (judged[best]?.evidence ?? 0) >= back.reference.named)
    return back.reference.isClear ? { session: named, why: `about ${judged[best]?.reasoning}` } : undefined;
  if (subject > back.reference.subject) return undefined;
  const onBranch = sessions.filter((session) => session.branch === context.currentBranch);
  const [first, ...others] = onBranch.length > 0 ? onBranch : sessions;
  if (first === undefined) return undefined;
  const session = others.reduce((latest, other) => (other.lastModified > latest.lastModified ? other : latest), first);
  return { session, why: onBranch.length > 0 ? "the session used last on this branch" : "the session used last" };
}

/** How much a text says of a subject of its own. */
function subjectOf(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + (unit.aspect !== undefined || unit.weight < 0.3 ? 0 : unit.weight), 0);
}
