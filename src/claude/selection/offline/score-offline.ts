/**
 * Compares a task with sessions without a model: a weighted sum of a few features per session, as a value from 0 to 1.
 * The weights are learned from labelled decisions (scripts/train-relevance.ts) through the points of score.ts. So the
 * value is the relevance with which the points decide as people did: on the current branch, which has points of its
 * own, 0.1 is the balance between resume and fresh, elsewhere it is between 0.3 and 0.6.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../../base/package.ts";
import type { DiscoveredSession } from "../../discovered-session.ts";
import type { RelevanceContext, RelevanceScorer, TaskRelevance } from "../selection.ts";
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

let shipped: RelevanceModel | undefined;

export function scoreOffline(
  task: string,
  sessions: readonly DiscoveredSession[],
  context: RelevanceContext,
): TaskRelevance[] {
  shipped ??= readModel();
  return createOfflineScorer(shipped)(task, sessions, context);
}

function readModel(): RelevanceModel {
  const file = JSON.parse(readFileSync(dataFile("relevance-weights.json"), "utf8")) as RelevanceWeightsFile;
  const { weights, collections, frequencies, wording } = file;
  const vocabulary = {
    collections,
    frequencies: new Map(Object.entries(frequencies)),
    wording: new Map(Object.entries(wording)),
  };
  return { weights, vocabulary };
}

export function createOfflineScorer({ weights, vocabulary }: RelevanceModel): RelevanceScorer {
  return (task, sessions, context) => {
    const compared = compareSessions(task, sessions, context, vocabulary);
    return sessions.map(({ sessionId }, at) => {
      const session = compared[at] as ComparedSession;
      const { features, shared } = session;
      const evidence = Object.entries(features).reduce((sum, [name, value]) => sum + value * (weights[name] ?? 0), 0);
      const relevance = Math.round(1_000 * bounded(1 / (1 + Math.exp(-evidence)), session)) / 1_000;
      return { sessionId, relevance, reasoning: reasoningFor(features, shared) };
    });
  };
}

const UNRELATED = 0.09;
const IN_DOUBT = 0.15;
/** A session that knows less of the task than this shares nothing with it. */
const SHARES_NOTHING = 0.05;
/**
 * In doubt: it knows half of the task, or the task names a third of what the session was started for. The details of a
 * task dilute the first share, because the session cannot know them.
 */
const SHARES_TASK = 0.5;
const SHARES_SUBJECT = 0.3;

/** The learned weights alone would resume any task on a feature branch, and call related work unrelated. */
function bounded(relevance: number, { features, coverage, repeated }: ComparedSession): number {
  const refersBack = features.refersBack >= 0.25 || features.noTopic > 0;
  const sharesNothing = coverage < SHARES_NOTHING && features.namesFile === 0;
  if (sharesNothing && !refersBack) return Math.min(relevance, UNRELATED);
  const isInDoubt = coverage >= SHARES_TASK || repeated >= SHARES_SUBJECT;
  return isInDoubt ? Math.max(relevance, IN_DOUBT) : relevance;
}

function reasoningFor(features: ComparedSession["features"], shared: readonly string[]): string {
  const reasons = [
    shared.length > 0 ? `shares ${shared.map((word) => `"${word}"`).join(", ")}` : "shares no telling word",
    features.namesFile > 0 ? "the task names a file of it" : "",
    features.refersBack >= 0.25 ? "the task refers back, and it is the newest on the branch" : "",
    features.featureBranch > 0 ? "on this feature branch" : "",
  ];
  return reasons.filter((reason) => reason !== "").join("; ");
}
