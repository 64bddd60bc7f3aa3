/**
 * Compares a task with sessions without a model: a weighted sum of a few features per session, as a value from 0 to 1.
 * The weights are learned from labelled decisions (scripts/train-relevance.ts) through the points of score.ts. So the
 * value is the relevance with which the points decide as people did: on the current branch, which has points of its
 * own, 0.1 is the balance between resume and fresh, elsewhere it is between 0.3 and 0.6.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../../base/package.ts";
import { lazily } from "../../../base/text.ts";
import type { RelevanceScorer } from "../selection.ts";
import { type ComparedSession, type Vocabulary, compareSessions } from "./features.ts";

export interface RelevanceModel {
  weights: Readonly<Record<string, number>>;
  vocabulary: Vocabulary;
}

/** The file `data/relevance-weights.json`. */
export interface RelevanceWeightsFile {
  weights: Record<string, number>;
  collections: number;
  frequencies: Record<string, number>;
  wording: Record<string, number>;
}

const shipped = lazily(() => {
  const file = JSON.parse(readFileSync(dataFile("relevance-weights.json"), "utf8")) as RelevanceWeightsFile;
  const frequencies = new Map(Object.entries(file.frequencies));
  const wording = new Map(Object.entries(file.wording));
  const vocabulary = { collections: file.collections, frequencies, wording };
  return createOfflineScorer({ weights: file.weights, vocabulary });
});

export const scoreOffline: RelevanceScorer = (task, sessions, context) => shipped()(task, sessions, context);

export function createOfflineScorer({ weights, vocabulary }: RelevanceModel): RelevanceScorer {
  return (task, sessions, context) => {
    const compared = compareSessions(task, sessions, context, vocabulary);
    return sessions.map(({ sessionId }, at) => {
      const session = compared[at] as ComparedSession;
      const { features } = session;
      const evidence = Object.entries(features).reduce((sum, [name, value]) => sum + value * (weights[name] ?? 0), 0);
      const relevance = Math.round(1_000 * bounded(1 / (1 + Math.exp(-evidence)), session)) / 1_000;
      return { sessionId, relevance, reasoning: reasoningFor(session, relevance) };
    });
  };
}

const UNRELATED = 0.09;
const IN_DOUBT = 0.15;
/** A session that knows less of the task than this shares nothing with it. */
const SHARES_NOTHING = 0.05;
/**
 * In doubt: it knows half of the task. The details of a task dilute that share, because the session cannot know them. So
 * with two telling words a third is enough, of the task or of what the session was started for.
 */
const SHARES_TASK = 0.5;
const SHARES_SUBJECT = 0.3;

/** The learned weights alone would resume any task on a feature branch, and call related work unrelated. */
function bounded(relevance: number, session: ComparedSession): number {
  const { features, coverage, repeated, sharedCount, refersBack, isFollowUp } = session;
  const sharesSubject = sharedCount > 1 && Math.max(coverage, repeated) >= SHARES_SUBJECT;
  if (isFollowUp || sharesSubject || coverage >= SHARES_TASK) return Math.max(relevance, IN_DOUBT);
  const sharesNothing = coverage < SHARES_NOTHING && features.namesFile === 0;
  return sharesNothing && !refersBack ? Math.min(relevance, UNRELATED) : relevance;
}

function reasoningFor({ features, shared, refersBack, isFollowUp }: ComparedSession, relevance: number): string {
  const isContinued = isFollowUp || (refersBack && relevance > UNRELATED);
  const reasons = [
    shared.length > 0 ? `shares ${shared.map((word) => `"${word}"`).join(", ")}` : "shares no telling word",
    features.namesFile > 0 ? "the task names a file of it" : "",
    isContinued ? "the task reads like a follow-up, and it is the newest on the branch" : "",
    features.featureBranch > 0 ? "on this feature branch" : "",
  ];
  return reasons.filter((reason) => reason !== "").join("; ");
}
