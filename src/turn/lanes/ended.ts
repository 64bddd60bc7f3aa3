/**
 * Who waits for the end of which message. Ends in this process are told by whoever brought them about;
 * those of other processes are seen in the store, where they left what there is to tell.
 *
 * Somebody who waits keeps the process alive: when another process is at the session, nothing else does.
 */
import type { InboxItem } from "../../store/store.ts";
import type { AgentParts } from "../turn.ts";
import type { TurnEnd } from "../turn-events.ts";
import { endOfItem } from "./kept-end.ts";

export interface EndedTurns {
  wait(parts: AgentParts, item: InboxItem): Promise<TurnEnd>;
  tell(agentId: string, itemIds: readonly number[], end: TurnEnd): void;
  /** Looks whether another process ended what is waited for. Left out key: of all sessions of the agent. */
  check(parts: AgentParts, key?: string): Promise<void>;
  /** Looks no more from time to time, and keeps nothing alive. */
  stop(): void;
}

export interface EndedTurnsOptions {
  /** Called from time to time for as long as somebody waits: a change in a store may be missed. */
  look: () => void;
  /** Another process ended a turn that somebody here waits for; told once. `note` says why it was dropped. */
  onForeignEnd: (end: TurnEnd, note: string | undefined) => void;
}

/** The same message may come again: its end is then known without asking. */
const REMEMBERED = 500;
const LOOK_MS = 3_000;

export function createEndedTurns({ look, onForeignEnd }: EndedTurnsOptions): EndedTurns {
  const waiting = new Map<string, Waiting>();
  /** Seen in a store and not yet told. */
  const foreign = new Map<string, ForeignEnd>();
  const remembered = new Map<string, TurnEnd>();
  let looking: NodeJS.Timeout | undefined;
  let isStopped = false;

  const stopLooking = (): void => {
    clearInterval(looking);
    looking = undefined;
  };

  const settle = (name: string, end: TurnEnd): void => {
    waiting.get(name)?.resolve(end);
    waiting.delete(name);
    clearTimeout(foreign.get(name)?.timer);
    foreign.delete(name);
    if (waiting.size === 0) stopLooking();
  };

  const remember = (name: string, end: TurnEnd): void => {
    remembered.set(name, end);
    for (const oldest of remembered.keys()) {
      if (remembered.size <= REMEMBERED) break;
      remembered.delete(oldest);
    }
  };

  /** Several messages may have ended with one turn. */
  const tellForeign = (name: string, { end, note }: ForeignEnd): void => {
    settle(name, end);
    const turn = nameOf(end.agentId, end.itemId);
    if (remembered.has(turn)) return;
    remember(turn, end);
    onForeignEnd(end, note);
  };

  /** Ends of a session are told in their order. */
  const tellEarlier = ({ agentId, sessionKey, itemId }: TurnEnd): void => {
    for (const [name, earlier] of foreign) {
      const { end } = earlier;
      if (end.agentId === agentId && end.sessionKey === sessionKey && end.itemId < itemId) tellForeign(name, earlier);
    }
  };

  return {
    wait: (parts, item) => {
      const { agentId } = parts.agent;
      const name = nameOf(agentId, item.id);
      const known = remembered.get(name) ?? endOfItem(agentId, item);
      if (known !== undefined) return Promise.resolve(known);
      const present = waiting.get(name);
      if (present !== undefined) return present.promise;
      const { promise, resolve } = Promise.withResolvers<TurnEnd>();
      waiting.set(name, { agentId, key: item.key, id: item.id, promise, resolve });
      if (!isStopped) looking ??= setInterval(look, LOOK_MS);
      return promise;
    },
    tell: (agentId, itemIds, end) => {
      tellEarlier(end);
      for (const id of itemIds) {
        const name = nameOf(agentId, id);
        remember(name, end);
        settle(name, end);
      }
    },
    check: async ({ agent }, key) => {
      for (const [name, { agentId, key: itsKey, id }] of waiting) {
        if (agentId !== agent.agentId || (key !== undefined && key !== itsKey)) continue;
        const item = await agent.store.inbox.get(id);
        const end = item === undefined ? forgotten(agentId, itsKey, id) : endOfItem(agentId, item);
        if (end === undefined || !waiting.has(name) || foreign.has(name)) continue;
        const seen: ForeignEnd = { end, note: item?.note };
        foreign.set(name, seen);
        // What this process ended is told by whoever did it.
        seen.timer = setTimeout(tellForeign, TOLD_WITHIN_MS, name, seen);
      }
    },
    stop: () => {
      isStopped = true;
      stopLooking();
    },
  };
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

interface ForeignEnd {
  end: TurnEnd;
  note: string | undefined;
  timer?: NodeJS.Timeout;
}

function nameOf(agentId: string, itemId: number): string {
  return `${agentId} ${itemId}`;
}

/** It ended so long ago that nobody knows how. */
function forgotten(agentId: string, sessionKey: string, itemId: number): TurnEnd {
  return { agentId, sessionKey, itemId, outcome: "answered", durationMs: 0 };
}
