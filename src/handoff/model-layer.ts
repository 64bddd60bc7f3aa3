/**
 * Lets a model write the lines of a hand-off when a window ends or is compacted, in the background. One request runs at
 * a time, and a failure changes nothing. The model's lines replace detected ones, never facts or inherited lines.
 */
import { errorMessage, hasCode } from "../base/errors.ts";
import { randomIds } from "../base/ids.ts";
import type { Logger } from "../base/log.ts";
import { printableLine } from "../base/text.ts";
import type { LanguageModel } from "../models/language-model.ts";
import type { CaptureSource } from "./capture-source.ts";
import type { Captures } from "./capture.ts";
import { summaryOf, withModelItems } from "./items.ts";
import { askForLines } from "./model-lines.ts";
import { isActiveProject } from "./project.ts";
import { readNative } from "./read/read-native.ts";
import { readSession } from "./read/read-session.ts";
import type { CaptureReason, ModelWork, ReadMessage, SessionState } from "./state.ts";
import { createWorkQueue } from "./work-queue.ts";

export interface ModelLayer {
  captured(state: SessionState): void;
  settled(): Promise<void>;
  stop(): void;
}

export interface ModelLayerOptions {
  /** The model for a session. Undefined: no model may be asked. */
  modelFor: (state: SessionState) => LanguageModel | undefined;
  timeoutSeconds: number;
  logger: Logger;
  captures: Pick<Captures, "change">;
  sourceOf: (state: SessionState) => Promise<CaptureSource | undefined>;
}

const WINDOW_ENDS: ReadonlySet<CaptureReason> = new Set(["new", "reset", "daily", "idle", "compaction", "ended"]);
/** A person may use the same model meanwhile, for example while it saves its memory before `/new`. */
const DELAY_MS = 5_000;
/** A shorter conversation needs no summary. */
const MIN_MESSAGES = 4;

export function createModelLayer(options: ModelLayerOptions): ModelLayer {
  const { modelFor, timeoutSeconds, logger, captures } = options;
  const stopping = new AbortController();
  const queue = createWorkQueue<SessionState>({
    delayMs: DELAY_MS,
    work: async (sessionKey, state) => {
      const model = modelFor(state);
      const messages = model === undefined ? [] : await messagesOf(options, state);
      if (model === undefined || messages.length === 0) return;
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
      const { items, dropped, answer } = await askForLines(model, messages, { signal, ids: randomIds });
      const { lastMessageIndex, project } = state;
      const { costUsd, usage } = answer;
      const work = { name: `${model.provider}/${model.model}`, costUsd, lastMessageIndex, project, items };
      const cost = { costUsd, ...usage };
      logger.info("a model wrote a hand-off", { sessionKey, model: work.name, lines: items.length, dropped, ...cost });
      if (!stopping.signal.aborted) await captures.change(sessionKey, (now) => withLines(now, state, work));
    },
    onError: (sessionKey, error) => {
      const reason = printableLine(errorMessage(error), 200);
      const isNoModel = hasCode(error, "claude-not-found");
      logger[isNoModel ? "debug" : "warn"]("no model wrote a hand-off; it stays as it was captured", {
        sessionKey,
        reason,
      });
    },
  });

  return {
    captured(state) {
      const { reason, lastMessageIndex, project, items, mode, model } = state;
      const isOver = WINDOW_ENDS.has(reason) && lastMessageIndex >= MIN_MESSAGES && isActiveProject(project);
      const isSmallTalk = mode === "chat" && items.length === 0;
      if (!isOver || isSmallTalk || model?.lastMessageIndex === lastMessageIndex) return;
      queue.put(state.sessionKey, state);
    },
    settled: async () => await queue.settled(),
    stop() {
      stopping.abort();
      queue.stop();
    },
  };
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

/** Undefined if the state changed since the request. */
function withLines(now: SessionState, asked: SessionState, model: ModelWork): SessionState | undefined {
  const names = ["previousSessionId", "lastMessageIndex", "project", "clearedAt"] as const;
  if (names.some((name) => now[name] !== asked[name])) return undefined;
  const items = withModelItems(now.items, model, now);
  return { ...now, items, summary: summaryOf(items), resumeAvailable: items.length > 0 || now.resumeAvailable, model };
}
