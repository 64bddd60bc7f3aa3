/**
 * Captures: reads what was said since the last one and keeps the state that follows. Invariants:
 * - The same transcript gives the same state, however often and by however many processes it was captured.
 * - A kept state is built upon only if it is whole and tells about this very text. Otherwise that is logged and the
 *   state is made anew from the transcript.
 * - One capture of a session at a time in this process; against others, the state is kept only if it is still
 *   the one that was read, and else everything is done again. One that nobody waits for holds up no other and
 *   gives way: it keeps what it made only if nobody else has kept anything meanwhile.
 * - Of a session that was deleted meanwhile nothing is kept.
 * - A window in which nothing of substance was said does not push out what the one before it left.
 */
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { isRecord } from "../base/json-record.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { HandoffUpdateOptions } from "../store/store.ts";
import type { CaptureSource } from "./capture-source.ts";
import { summaryOf } from "./extract/summary.ts";
import { clearedAtOf, isTellable, readState, sealState } from "./kept-state.ts";
import { type StateParts, endOf, fits, nextState, readFurther } from "./next-state.ts";
import type { Pace } from "./pace.ts";
import type { CaptureReason, SessionState } from "./state.ts";
import { createKeyedMutex } from "../base/async.ts";

export interface Captures {
  /** The state as it is kept afterwards; undefined when there is nothing to hand over. */
  capture(source: CaptureSource, reason: CaptureReason): Promise<SessionState | undefined>;
  /** The same, for nobody who waits. */
  captureBehind(source: CaptureSource, reason: CaptureReason, pace: Pace): Promise<void>;
  /** What a window leaves, without keeping it. */
  derive(source: CaptureSource, reason: CaptureReason): Promise<SessionState | undefined>;
  /** The transcript has lost its beginning since it was captured: what is kept is true of what is left. */
  shortened(source: CaptureSource): Promise<void>;
  /** Forgets what was said up to now. Without a source: what is kept. False when there was nothing. */
  clear(sessionKey: string, source: CaptureSource | undefined): Promise<boolean>;
  /** Changes the state that is kept, if there is one that can be believed. */
  change(sessionKey: string, mutate: (state: SessionState) => SessionState | undefined): Promise<void>;
  /** A kept state, unless it tells about another text than the transcript holds now. */
  isTrue(state: SessionState, source: CaptureSource): Promise<boolean>;
}

export interface CaptureOptions extends StateParts {
  agent: AgentHandle;
  /** Called when a state was captured, or only changed, before anybody is told. Must not fail. */
  onCaptured: (state: SessionState) => void;
  onChanged: (state: SessionState) => void;
}

const MOST_ATTEMPTS = 20;

export function createCaptures(given: CaptureOptions): Captures {
  const { agent, onCaptured, onChanged } = given;
  const { handoffs } = agent.store;
  const options: CaptureOptions = { ...given, toldTo: async (source) => await findTold(agent, source) };
  const mutex = createKeyedMutex();

  /** `advance` answers with the state to keep, or undefined to leave what is there. */
  const keep = async (
    place: StatePlace,
    advance: (kept: unknown) => Promise<SessionState | undefined>,
  ): Promise<SessionState | undefined> => {
    const { sessionKey } = place;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const kept = await handoffs.get(sessionKey);
      const next = await advance(kept);
      if (next === undefined) return readState(kept);
      const outcome = await replace(place, kept, next);
      if (outcome !== "other") return outcome === "kept" ? next : undefined;
    }
    throw tooBusy(sessionKey);
  };
  /** `other`: it is another one by now. `gone`: the session is. */
  const replace = async (
    { sessionKey, ...choice }: StatePlace,
    kept: unknown,
    next: SessionState,
  ): Promise<"kept" | "other" | "gone"> => {
    const before = JSON.stringify(kept);
    let outcome: "kept" | "other" | undefined;
    const putInPlace = (current: unknown): unknown => {
      outcome = JSON.stringify(current) === before ? "kept" : "other";
      return outcome === "kept" ? next : undefined;
    };
    await handoffs.update(sessionKey, putInPlace, choice);
    if (outcome !== "kept") return outcome ?? "gone";
    faultPoint("handoff.kept");
    onCaptured(next);
    return outcome;
  };

  const change: Captures["change"] = async (sessionKey, mutate) => {
    let changed: SessionState | undefined;
    await handoffs.update(sessionKey, (kept) => {
      const state = readState(kept);
      const next = state === undefined ? undefined : mutate(state);
      changed = next === undefined ? undefined : sealState(next);
      return changed;
    });
    if (changed !== undefined) onChanged(changed);
  };

  return {
    capture: async (source, reason) =>
      await mutex.run(source.sessionKey, async () => {
        const state = await keep(placeOf(source), async (kept) => await nextState(options, source, reason, kept));
        return state !== undefined && isTellable(state) ? state : undefined;
      }),
    async captureBehind(source, reason, pace) {
      const { sessionKey } = source;
      const kept = await handoffs.get(sessionKey);
      const next = await nextState({ ...options, pace }, source, reason, kept);
      if (next === undefined) return;
      await pace.rest();
      await replace(placeOf(source), kept, next);
    },
    async derive(source, reason) {
      const known = clearedAtOf(await handoffs.get(source.sessionKey));
      const state = await nextState(options, source, reason, known === undefined ? undefined : { clearedAt: known });
      return state !== undefined && isTellable(state) ? state : undefined;
    },
    shortened: async (source) =>
      await mutex.run(source.sessionKey, async () => {
        const place = await endOf(source);
        if (place === undefined) return;
        await change(source.sessionKey, (state) => {
          return state.previousSessionId === source.sessionId ? { ...state, ...place } : undefined;
        });
      }),
    clear: async (sessionKey, source) =>
      await mutex.run(sessionKey, async () => {
        let had = false;
        await keep(source === undefined ? { sessionKey } : placeOf(source), async (kept) => {
          const before = readState(kept);
          const newest = source === undefined ? undefined : await readFurther(options, source, "asked", kept);
          const state = newest ?? before;
          had = [before, newest].some((one) => one !== undefined && isTellable(one));
          return state === undefined ? undefined : await forgotten(state, agent.clock.now());
        });
        return had;
      }),
    change,
    isTrue: async (state, source) => await fits(state, source),
  };
}

/** Where a state is kept. A session of Claude Code has no windows here. */
type StatePlace = Pick<CaptureSource, "sessionKey"> & HandoffUpdateOptions;

function placeOf({ kind, sessionKey, sessionId }: CaptureSource): StatePlace {
  return kind === "native" ? { sessionKey } : { sessionKey, ofWindow: sessionId };
}

const MOST_STATES = 200;

/** Sessions of Claude Code have a key each: what one was told as it began is kept with the one that left it. */
async function findTold({ store }: AgentHandle, source: CaptureSource): Promise<SessionState | undefined> {
  if (source.kind !== "native") return undefined;
  const kept = await store.handoffs.list({ limit: MOST_STATES });
  for (const { key, state } of kept) {
    if (key === source.sessionKey || !isRecord(state)) continue;
    const told = isRecord(state["decidedFor"]) && state["decidedFor"]["sessionId"] === source.sessionId;
    if (told) return readState(state);
  }
  return undefined;
}

async function forgotten(state: SessionState, now: number): Promise<SessionState> {
  const { clearedState } = await import("./extract/extract.ts");
  const { forced: _, model: _words, ...rest } = state;
  return sealState({
    ...rest,
    ...clearedState(state),
    items: [],
    patterns: [],
    summary: summaryOf([]),
    updatedAt: new Date(now).toISOString(),
    resumeAvailable: false,
    resumeOfferedAt: null,
    clearedAt: new Date(now).toISOString(),
  });
}

function tooBusy(sessionKey: string): HoldfastError {
  return new HoldfastError("unavailable", "handoff-busy", `The hand-off of ${sessionKey} changes all the time`, {
    hint: "Other processes are capturing the same session; try again in a moment.",
    data: { sessionKey },
  });
}
