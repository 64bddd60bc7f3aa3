/** The newest states for the files, updated change by change: checking all of them takes longer than a capture. */
import { setImmediate as nextTick } from "node:timers/promises";
import { redactValue } from "../../base/redact.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { isExpired, isTellable, readState } from "../kept-state.ts";
import type { SessionState } from "../state.ts";

export interface RecentStates {
  /** Reads all states from the store. Newest first. */
  load(): Promise<SessionState[]>;
  /** Reads changed states; all of them the first time. */
  refresh(): Promise<void>;
  /** The newest state with content. */
  newest(): Promise<SessionState | undefined>;
  /** States that were not offered yet, newest first, redacted. */
  pending(now: number): PendingSession[];
  close(): void;
}

export interface PendingSession extends Pick<
  SessionState,
  "sessionKey" | "previousSessionId" | "project" | "reason" | "updatedAt" | "expiresAt"
> {
  lastTopic: string;
  nextStep: string;
}

interface Row {
  isTellable: boolean;
  /** Undefined if it was offered already. */
  pending: PendingSession | undefined;
}

const MAX_STATES = 200;
const MAX_PENDING = 100;

/** `onChange` is called after a change of any process. */
export function createRecentStates({ store }: AgentHandle, onChange: () => void): RecentStates {
  const { handoffs } = store;
  /** Oldest change first. */
  const rows = new Map<string, Row>();
  const changed = new Set<string>();
  let stop: (() => void) | undefined;
  let isLoaded = false;

  const listen = (): void => {
    stop ??= store.onChange(({ what, key }) => {
      if (what !== "handoff") return;
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
    const kept = await handoffs.list({ limit: MAX_STATES });
    rows.clear();
    const states: SessionState[] = [];
    for (const { key, state } of kept.toReversed()) {
      const known = readState(state);
      take(key, known);
      if (known !== undefined) states.push(known);
      await nextTick();
    }
    isLoaded = true;
    return states.reverse();
  };

  return {
    load,
    async refresh() {
      if (!isLoaded) await load();
      for (const key of changed) {
        const state = readState(await handoffs.get(key));
        changed.delete(key);
        take(key, state);
      }
      for (const oldest of Array.from(rows.keys()).slice(0, -MAX_STATES)) rows.delete(oldest);
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
        .slice(0, MAX_PENDING),
    close: () => stop?.(),
  };
}

function rowOf(state: SessionState): Row {
  const { sessionKey, previousSessionId, project, reason, updatedAt, expiresAt, summary } = state;
  const { lastTopic, nextStep } = summary;
  const row = { sessionKey, previousSessionId, project, reason, updatedAt, expiresAt, lastTopic, nextStep };
  const isWaiting = isTellable(state) && state.resumeOfferedAt === null;
  return { isTellable: isTellable(state), pending: isWaiting ? (redactValue(row) as PendingSession) : undefined };
}
