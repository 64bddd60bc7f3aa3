/**
 * Lets a model write the lines of a hand-off when a window has ended or is compacted, in the background: nobody waits
 * for it, one request runs at a time, and its failure changes nothing. Its lines replace those that words were matched
 * for, never the facts and never what the window inherited.
 */
import { randomIds } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import { printableLine } from "../base/text.ts";
import type { LanguageModel } from "../models/language-model.ts";
import type { CaptureSource } from "./capture-source.ts";
import type { Captures } from "./capture.ts";
import { summaryOf } from "./extract/summary.ts";
import { withModelItems } from "./model-items.ts";
import { type ModelLines, askForLines } from "./model-lines.ts";
import { isActiveProject } from "./project.ts";
import { readNative } from "./read/read-native.ts";
import { readSession } from "./read/read-session.ts";
import type { CaptureReason, ModelWork, ReadMessage, SessionState } from "./state.ts";
import { createWorkQueue } from "./work-queue.ts";

export interface ModelLayer {
  captured(state: SessionState): void;
  /** Everything is asked and answered; what would have been asked soon is asked now. */
  settled(): Promise<void>;
  stop(): void;
}

export interface ModelLayerOptions {
  /** The model for a session. Undefined: none may be asked. */
  modelFor: (state: SessionState) => LanguageModel | undefined;
  timeoutSeconds: number;
  logger: Logger;
  captures: Pick<Captures, "change">;
  sourceOf: (state: SessionState) => Promise<CaptureSource | undefined>;
}

const WINDOW_ENDS: ReadonlySet<CaptureReason> = new Set(["new", "reset", "daily", "idle", "compaction", "ended"]);
/** A person may wait for the same model meanwhile, for example while it saves its memory before `/new`. */
const DELAY_MS = 5_000;
/** A shorter conversation needs no summary. */
const MIN_MESSAGES = 4;

export function createModelLayer(options: ModelLayerOptions): ModelLayer {
  const { modelFor, timeoutSeconds, logger, captures } = options;
  const stopping = new AbortController();
  const queue = createWorkQueue<SessionState>({
    work: async (sessionKey, state) => {
      const model = modelFor(state);
      const messages = model === undefined ? [] : await messagesOf(options, state);
      if (model === undefined || messages.length === 0) return;
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
      const lines = await askForLines(model, messages, { signal, ids: randomIds });
      const work = workOf(model, lines, state);
      const { dropped, items } = lines;
      const cost = { costUsd: work.costUsd, ...lines.answer.usage };
      logger.info("a model wrote a hand-off", { sessionKey, model: work.name, lines: items.length, dropped, ...cost });
      if (!stopping.signal.aborted) await captures.change(sessionKey, (now) => withLines(now, state, work));
    },
    onError: (sessionKey, error) => {
      const reason = printableLine(errorMessage(error), 200);
      const level = isNoModelAtHand(error) ? "debug" : "warn";
      logger[level]("no model wrote a hand-off; it stays as it was captured", { sessionKey, reason });
    },
  });

  const waiting = new Map<string, SessionState>();
  let timer: NodeJS.Timeout | undefined;
  const askNow = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [sessionKey, state] of waiting) queue.put(sessionKey, state);
    waiting.clear();
  };

  return {
    captured(state) {
      const { reason, lastMessageIndex, project, items, mode, model } = state;
      const isOver = WINDOW_ENDS.has(reason) && lastMessageIndex >= MIN_MESSAGES && isActiveProject(project);
      const isSmallTalk = mode === "chat" && items.length === 0;
      if (!isOver || isSmallTalk || model?.lastMessageIndex === lastMessageIndex) return;
      waiting.set(state.sessionKey, state);
      timer ??= setTimeout(askNow, DELAY_MS).unref();
    },
    async settled() {
      askNow();
      await queue.settled();
    },
    stop() {
      clearTimeout(timer);
      waiting.clear();
      stopping.abort();
      queue.stop();
    },
  };
}

function isNoModelAtHand(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "claude-not-found";
}

/** Of the state's project, and nothing from before the person cleared the hand-off. */
async function messagesOf({ sourceOf }: ModelLayerOptions, state: SessionState): Promise<ReadMessage[]> {
  const source = await sourceOf(state);
  if (source === undefined) return [];
  const read = source.kind === "native" ? readNative : readSession;
  const reading = await read(source.path, { offset: 0 });
  const clearedAt = Date.parse(state.clearedAt ?? "");
  return (reading?.messages ?? []).filter(({ timestamp, project = state.project }) => {
    return project === state.project && !(Date.parse(timestamp) <= clearedAt);
  });
}

function workOf({ provider, model }: LanguageModel, { answer, items }: ModelLines, state: SessionState): ModelWork {
  const { lastMessageIndex, project } = state;
  return { name: `${provider}/${model}`, costUsd: answer.costUsd, lastMessageIndex, project, items };
}

/** Undefined if something was said or cleared since. */
function withLines(now: SessionState, asked: SessionState, model: ModelWork): SessionState | undefined {
  const names = ["previousSessionId", "lastMessageIndex", "project", "clearedAt"] as const;
  if (names.some((name) => now[name] !== asked[name])) return undefined;
  const items = withModelItems(now.items, model, now);
  return { ...now, items, summary: summaryOf(items), resumeAvailable: items.length > 0 || now.resumeAvailable, model };
}
