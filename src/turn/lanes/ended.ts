/**
 * Who waits for the end of which message. Ends in this process are told with everything that is known;
 * those of other processes are seen in the store, which knows how a message ended and not what was said.
 */
import type { InboxItem } from "../../store/store.ts";
import type { AgentParts } from "../turn.ts";
import type { TurnEnd, TurnOutcome } from "../turn-events.ts";

export interface EndedTurns {
  wait(parts: AgentParts, item: InboxItem): Promise<TurnEnd>;
  tell(agentId: string, itemIds: readonly number[], end: TurnEnd): void;
  /** Looks whether another process ended what is waited for. Left out key: of all sessions of the agent. */
  check(parts: AgentParts, key?: string): Promise<void>;
}

/** The same message may come again: its end is then known without asking. */
const REMEMBERED = 500;

export function createEndedTurns(): EndedTurns {
  const waiting = new Map<string, Waiting>();
  const remembered = new Map<string, TurnEnd>();

  const settle = (name: string, end: TurnEnd): void => {
    waiting.get(name)?.resolve(end);
    waiting.delete(name);
  };

  return {
    wait: (parts, item) => {
      const { agentId } = parts.agent;
      const name = nameOf(agentId, item.id);
      const known = remembered.get(name) ?? endedItem(agentId, item);
      if (known !== undefined) return Promise.resolve(known);
      const present = waiting.get(name);
      if (present !== undefined) return present.promise;
      const { promise, resolve } = Promise.withResolvers<TurnEnd>();
      waiting.set(name, { agentId, key: item.key, id: item.id, promise, resolve });
      return promise;
    },
    tell: (agentId, itemIds, end) => {
      for (const id of itemIds) {
        const name = nameOf(agentId, id);
        remembered.set(name, end);
        settle(name, end);
      }
      for (const name of remembered.keys()) {
        if (remembered.size <= REMEMBERED) break;
        remembered.delete(name);
      }
    },
    check: async ({ agent }, key) => {
      for (const [name, { agentId, key: itsKey, id }] of waiting) {
        if (agentId !== agent.agentId || (key !== undefined && key !== itsKey)) continue;
        const item = await agent.store.inbox.get(id);
        const end = item === undefined ? forgotten(agentId, itsKey, id) : endedItem(agentId, item);
        // What this process ended is told by whoever did it, with everything that is known.
        if (end !== undefined) settleLater(name, end);
      }
    },
  };

  function settleLater(name: string, end: TurnEnd): void {
    setTimeout(() => settle(name, end), TOLD_WITHIN_MS).unref();
  }
}

/** Between the commit of an end and the tick in which it is told. */
const TOLD_WITHIN_MS = 200;

interface Waiting {
  agentId: string;
  key: string;
  id: number;
  promise: Promise<TurnEnd>;
  resolve(end: TurnEnd): void;
}

function nameOf(agentId: string, itemId: number): string {
  return `${agentId} ${itemId}`;
}

const OUTCOMES: readonly TurnOutcome[] = ["answered", "silent", "command", "noted", "aborted", "failed", "dropped"];

function endedItem(agentId: string, { id, key, state, note }: InboxItem): TurnEnd | undefined {
  if (state !== "done" && state !== "dropped") return undefined;
  const noted = OUTCOMES.find((outcome) => outcome === note) ?? "answered";
  return { agentId, sessionKey: key, itemId: id, outcome: state === "dropped" ? "dropped" : noted, durationMs: 0 };
}

/** It ended so long ago that nobody knows how. */
function forgotten(agentId: string, sessionKey: string, itemId: number): TurnEnd {
  return { agentId, sessionKey, itemId, outcome: "answered", durationMs: 0 };
}
