/**
 * What watchers hear of a running turn. Models speak in pieces of a few letters; watchers get them
 * together, some twenty times a second at most.
 */
import type { TurnEvent, TurnName } from "../turn-events.ts";

export interface TurnWatch {
  text(piece: string): void;
  tool(phase: "start" | "end", tool: { id: string; name: string; isError?: boolean }): void;
  notice(text: string): void;
  compaction(phase: "start" | "end"): void;
  /** Tells what was held back. */
  flush(): void;
}

const PACE_MS = 50;

export function createTurnWatch(name: TurnName, emit: (event: TurnEvent) => void): TurnWatch {
  const place = { agentId: name.agentId, sessionKey: name.sessionKey, itemId: name.itemId };
  let held = "";
  let toldAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (held === "") return;
    const text = held;
    held = "";
    toldAt = performance.now();
    emit({ type: "turn.text", ...place, text });
  };
  return {
    text(piece) {
      held += piece;
      const wait = toldAt + PACE_MS - performance.now();
      if (wait <= 0) flush();
      else timer ??= setTimeout(flush, wait).unref();
    },
    tool(phase, { id, name: tool, isError }) {
      flush();
      emit({ type: "turn.tool", ...place, phase, id, name: tool, ...(isError === undefined ? {} : { isError }) });
    },
    notice(text) {
      flush();
      emit({ type: "turn.notice", ...place, text });
    },
    compaction(phase) {
      flush();
      emit({ type: "turn.compaction", ...place, phase });
    },
    flush,
  };
}

/** For a turn that nobody asked for: its words are no part of an answer, its notices are for the person. */
export function createQuietWatch(name: TurnName, emit: (event: TurnEvent) => void): TurnWatch {
  return { ...createTurnWatch(name, emit), text: () => undefined, tool: () => undefined };
}
