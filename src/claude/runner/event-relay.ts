/**
 * Events on their way to whoever watches a run. A slow watcher never holds up the run and never makes
 * it grow: while one event is being handled, text is joined, progress is replaced by newer progress,
 * and beyond a number of waiting events tool events are left out and counted.
 */
import type { RunnerEvent } from "./runner-contract.ts";

export interface EventRelay {
  emit(event: RunnerEvent): void;
}

/** Few enough to be read in a moment, many enough for a burst of tools. */
const MAX_WAITING = 200;
const MAX_JOINED_TEXT = 4000;

type Watcher = (event: RunnerEvent) => void | Promise<void>;

export function createEventRelay(watch: Watcher | undefined, onFailure: (error: unknown) => void): EventRelay {
  const waiting: RunnerEvent[] = [];
  let lost = 0;
  let isHandling = false;
  const drain = async (handle: Watcher): Promise<void> => {
    isHandling = true;
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      try {
        await handle(next);
      } catch (error) {
        onFailure(error);
      }
    }
    isHandling = false;
  };
  const takeNext = (): RunnerEvent | undefined => {
    if (lost === 0) return waiting.shift();
    const event: RunnerEvent = { type: "dropped", count: lost };
    lost = 0;
    return event;
  };
  return {
    emit(event) {
      if (watch === undefined) return;
      if (!join(waiting, event)) {
        if (waiting.length >= MAX_WAITING && isMinor(event)) lost += 1;
        else waiting.push(event);
      }
      if (!isHandling) void drain(watch);
    },
  };
}

/** True when a waiting event took the new one in. */
function join(waiting: RunnerEvent[], event: RunnerEvent): boolean {
  if (event.type === "progress") {
    const index = waiting.findIndex((other) => other.type === "progress");
    if (index === -1) return false;
    waiting[index] = event;
    return true;
  }
  const last = waiting.at(-1);
  if (event.type !== "text" || last?.type !== "text") return false;
  waiting[waiting.length - 1] = { type: "text", text: `${last.text}${event.text}`.slice(-MAX_JOINED_TEXT) };
  return true;
}

/** What can be missed: the others are few, and each says something that nobody else says. */
function isMinor(event: RunnerEvent): boolean {
  return event.type === "tool" || event.type === "tool-failed" || event.type === "text";
}
