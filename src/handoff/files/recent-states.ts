/**
 * What the files tell about the newest states, kept up to date change by change: reading and checking all of them
 * again for every capture would take longer than the capture. Whoever wants to be sure loads it anew.
 */
import { redactValue } from "../../base/redact.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { HandoffChanges } from "../handoff-changes.ts";
import { isExpired, isTellable, readState } from "../kept-state.ts";
import { PIECE_MS, PROMPT } from "../pace.ts";
import type { SessionState } from "../state.ts";

export interface RecentStates {
  /** Reads everything again. What it read, newest first. */
  load(): Promise<SessionState[]>;
  /** Reads what was changed; everything, the first time. */
  refresh(): Promise<void>;
  /** The newest state that there is something to tell of. */
  newest(): Promise<SessionState | undefined>;
  /** What waits for somebody to go on with it, newest first; redacted. */
  pending(now: number): PendingSession[];
}

export interface RecentOptions {
  agent: AgentHandle;
  changes: HandoffChanges;
  /** Somebody changed a state. */
  onChange: () => void;
}

export interface PendingSession {
  sessionKey: string;
  previousSessionId: string;
  project: string;
  reason: string;
  updatedAt: string;
  expiresAt: string;
  lastTopic: string;
  nextStep: string;
}

interface Row {
  isTellable: boolean;
  /** Undefined when it was offered already. */
  pending: PendingSession | undefined;
}

const MOST_STATES = 200;
const MOST_PENDING = 100;

export function createRecentStates({ agent, changes, onChange }: RecentOptions): RecentStates {
  const { handoffs } = agent.store;
  /** Oldest first. */
  const rows = new Map<string, Row>();
  const changed = new Set<string>();
  let isListening = false;
  let isLoaded = false;
  /** The store may hold more than was read. */
  let isCut = false;

  const listen = (): void => {
    if (isListening) return;
    isListening = true;
    changes.listen((key) => {
      // The newest change counts.
      changed.delete(key);
      changed.add(key);
      onChange();
    });
  };
  const take = (key: string, state: SessionState | undefined): void => {
    rows.delete(key);
    if (state !== undefined) rows.set(key, rowOf(state));
  };
  const load = async (): Promise<SessionState[]> => {
    listen();
    isLoaded = false;
    changed.clear();
    const kept = await handoffs.list({ limit: MOST_STATES });
    isCut = kept.length === MOST_STATES;
    rows.clear();
    const states: SessionState[] = [];
    await inPieces(kept.toReversed(), ({ key, state }) => {
      const known = readState(state);
      take(key, known);
      if (known !== undefined) states.push(known);
    });
    isLoaded = true;
    return states.reverse();
  };

  return {
    load,
    async refresh() {
      if (!isLoaded || (isCut && rows.size < MOST_PENDING)) {
        await load();
        return;
      }
      for (const key of changed) {
        changed.delete(key);
        try {
          take(key, readState(await handoffs.get(key)));
        } catch (error) {
          changed.add(key);
          throw error;
        }
        await PROMPT.rest();
      }
      for (const oldest of rows.keys()) {
        if (rows.size <= MOST_STATES) break;
        rows.delete(oldest);
        isCut = true;
      }
    },
    async newest() {
      for (const [key, row] of Array.from(rows).reverse()) {
        const state = row.isTellable ? readState(await handoffs.get(key)) : undefined;
        if (state !== undefined && isTellable(state)) return state;
      }
      return undefined;
    },
    pending: (now) =>
      Array.from(rows.values())
        .reverse()
        .flatMap(({ pending }) => (pending === undefined || isExpired(pending, now) ? [] : [pending]))
        .slice(0, MOST_PENDING),
  };
}

function rowOf(state: SessionState): Row {
  const { sessionKey, previousSessionId, project, reason, updatedAt, expiresAt, summary } = state;
  const { lastTopic, nextStep } = summary;
  const row = { sessionKey, previousSessionId, project, reason, updatedAt, expiresAt, lastTopic, nextStep };
  const isWaiting = isTellable(state) && state.resumeOfferedAt === null;
  return { isTellable: isTellable(state), pending: isWaiting ? (redactValue(row) as PendingSession) : undefined };
}

/** Others on the thread have their turn now and then. */
async function inPieces<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  let since = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - since < PIECE_MS) continue;
    await PROMPT.rest();
    since = performance.now();
  }
}
