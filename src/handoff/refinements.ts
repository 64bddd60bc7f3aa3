/**
 * A model puts the lines of a captured state into better words, behind everything else: nobody waits for it,
 * one at a time is asked, and its failure changes nothing. A line that it reworded stays reworded in later captures
 * (`said` tells what it was made of).
 */
import type { Logger } from "../base/log.ts";
import type { Captures } from "./capture.ts";
import { summaryOf } from "./extract/summary.ts";
import { refineItems } from "./refine.ts";
import type { SessionState, SummaryItem } from "./state.ts";
import { createWorkQueue } from "./work-queue.ts";
import type { LanguageModel } from "../models/language-model.ts";

export interface Refinements {
  captured(state: SessionState): void;
  settled(): Promise<void>;
  stop(): void;
}

export interface RefinementOptions {
  model: LanguageModel | (() => LanguageModel);
  timeoutSeconds: number;
  logger: Logger;
  captures: Pick<Captures, "change">;
}

export function createRefinements({ model, timeoutSeconds, logger, captures }: RefinementOptions): Refinements {
  const stopping = new AbortController();

  const refine = async ({ sessionKey, items }: SessionState): Promise<void> => {
    const plain = items.filter(({ by }) => by !== "model");
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
    const refined = plain.length === 0 ? undefined : await refineItems(plain, { model, signal, logger });
    if (refined === undefined || stopping.signal.aborted) return;
    const reworded = plain.flatMap((item, index) => {
      const better = refined[index];
      return better?.by === "model" ? [{ item, better: { ...better, said: item.text } }] : [];
    });
    await captures.change(sessionKey, (state) => withWords(state, reworded));
  };
  const queue = createWorkQueue<SessionState>({
    work: async (_sessionKey, state) => await refine(state),
    onError: (sessionKey, error) => logger.warn("a hand-off was not refined", { sessionKey, error }),
  });

  return {
    captured: (state) => queue.put(state.sessionKey, state),
    settled: () => queue.settled(),
    stop() {
      stopping.abort();
      queue.stop();
    },
  };
}

/** Only lines that still stand as the model was given them. */
function withWords(
  state: SessionState,
  reworded: readonly { item: SummaryItem; better: SummaryItem }[],
): SessionState | undefined {
  let isChanged = false;
  const items = state.items.map((item) => {
    const found = reworded.find(
      ({ item: { kind, entryId, text } }) => kind === item.kind && entryId === item.entryId && text === item.text,
    );
    isChanged ||= found !== undefined;
    return found?.better ?? item;
  });
  return isChanged ? { ...state, items, summary: summaryOf(items) } : undefined;
}
