/**
 * How relevant each session is to a task: one request to a model for all of them, and the offline scorer
 * wherever the model is missing, late, wrong or silent. A failed comparison never fails a selection.
 *
 * A session that the model left out gets what the offline scorer says, not a value in the middle: 0.5
 * would count as partly related and let a session win that nobody has judged.
 */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { printableLine } from "../../base/printable.ts";
import type { SessionSelectionConfig } from "../../config/config.ts";
import type { LanguageModel } from "../../models/language-model.ts";
import { type OpenModelOptions, openLanguageModel } from "../../models/open-language-model.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { readRatings } from "./relevance-answer.ts";
import { buildRelevancePrompt } from "./relevance-prompt.ts";
import { ageInHours } from "./score.ts";
import type { RelevanceContext, RelevanceScorer, SessionSelection, TaskRelevance } from "./selection.ts";

export interface AssessOptions {
  /** A function is called when the model is needed; what it throws counts as a model that failed. */
  model?: LanguageModel | (() => LanguageModel) | undefined;
  config: SessionSelectionConfig;
  offline: RelevanceScorer;
  context?: RelevanceContext | undefined;
  /** In ms. */
  now?: number | undefined;
  logger?: Logger | undefined;
  /** An abort ends the comparison; it does not fall back. */
  signal?: AbortSignal | undefined;
  ids?: Ids | undefined;
}

export interface AssessedRelevance {
  /** One for each session, in their order. */
  relevances: TaskRelevance[];
  by: SessionSelection["relevanceBy"];
}

export async function assessTaskRelevance(
  task: string,
  sessions: readonly DiscoveredSession[],
  options: AssessOptions,
): Promise<AssessedRelevance> {
  if (sessions.length === 0) return { relevances: [], by: "none" };
  const offline = options.offline(task, sessions, options.context ?? {});
  if (!options.config.enabled || options.model === undefined) return { relevances: offline, by: "offline" };

  const asked = worthAsking(sessions, offline, options);
  try {
    const ratings = await askModel(task, sessions, asked, options);
    return { relevances: withRatings(offline, asked, ratings), by: "model" };
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    const logger = options.logger ?? silentLogger;
    logger.warn("the relevance model failed; tasks are compared offline", { error });
    const failure = `compared offline: ${printableLine(errorMessage(error), 100)}`;
    return { relevances: offline.map((item) => annotated(item, failure)), by: "offline" };
  }
}

/** The configured model, opened when it is needed. Undefined: tasks are compared without one. */
export function relevanceModel(
  config: SessionSelectionConfig,
  options: OpenModelOptions,
): (() => LanguageModel) | undefined {
  const spec = config.enabled ? config.relevanceModel : undefined;
  return spec === undefined ? undefined : () => openLanguageModel(spec, options);
}

const MAX_ASKED = 20;
/** Id, number, six words and the JSON around them. */
const TOKENS_PER_RATING = 24;

/** The indexes of the sessions to ask about: as many as the answer has room for, the likeliest ones. */
function worthAsking(
  sessions: readonly DiscoveredSession[],
  offline: readonly TaskRelevance[],
  { config, now = Date.now() }: AssessOptions,
): number[] {
  const room = Math.max(1, Math.min(MAX_ASKED, Math.floor(config.relevanceMaxTokens / TOKENS_PER_RATING)));
  const promise = sessions.map((session, index) => {
    // Without the addend, sessions that share no word with the task would not differ in age.
    return ((offline[index]?.relevance ?? 0) + 0.05) / (1 + ageInHours(session, now) / 168);
  });
  return sessions
    .map((_, index) => index)
    .sort((a, b) => (promise[b] ?? 0) - (promise[a] ?? 0) || a - b)
    .slice(0, room);
}

async function askModel(
  task: string,
  sessions: readonly DiscoveredSession[],
  asked: readonly number[],
  { model, config, context, signal, ids }: AssessOptions,
): Promise<Map<number, { relevance: number; reason: string }>> {
  const opened = typeof model === "function" ? model() : model;
  if (opened === undefined) return new Map();
  const batch = asked.map((index) => sessions[index]).filter((session) => session !== undefined);
  const { system, prompt, indexById } = buildRelevancePrompt(task, batch, context ?? {}, ids);
  const limit = AbortSignal.timeout(config.relevanceTimeoutMs);
  const answer = await opened.generateText({
    system,
    prompt,
    maxTokens: config.relevanceMaxTokens,
    temperature: 0,
    reasoning: "none",
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  });
  const ratings = readRatings(answer.text, indexById);
  if (ratings.size === 0) throw noRatings(opened);
  return ratings;
}

function withRatings(
  offline: readonly TaskRelevance[],
  asked: readonly number[],
  ratings: ReadonlyMap<number, { relevance: number; reason: string }>,
): TaskRelevance[] {
  const positions = new Map(asked.map((index, position) => [index, position]));
  return offline.map((item, index) => {
    const position = positions.get(index);
    if (position === undefined) return annotated(item, "compared offline: not among the likeliest");
    const rating = ratings.get(position);
    if (rating === undefined) return annotated(item, "compared offline: the model left it out");
    return { ...item, relevance: rating.relevance, reasoning: rating.reason || "rated by the model" };
  });
}

function annotated(item: TaskRelevance, note: string): TaskRelevance {
  return { ...item, reasoning: item.reasoning === "" ? note : `${item.reasoning}; ${note}` };
}

function noRatings({ provider, model }: LanguageModel): HoldfastError {
  return new HoldfastError("unavailable", "model-answer-unreadable", `${provider}/${model} rated no session`, {
    hint: "Choose another model in claudeCode.sessionSelection.relevanceModel.",
    data: { provider, model },
  });
}
