/**
 * Captures: reads new messages and stores the resulting state. Invariants:
 * - The same transcript always gives the same state, however often and by however many processes it is captured.
 * - One capture of a session runs at a time in this process. Across processes, a state is replaced only if it is still
 *   the one that was read; otherwise the capture starts again.
 * - A background capture blocks no other one, and stores nothing if another one was faster.
 * - Nothing is stored for a session that was deleted meanwhile.
 */
import { createKeyedMutex } from "../base/async.ts";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { isRecord } from "../base/json-record.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { HandoffUpdateOptions } from "../store/store.ts";
import type { CaptureSource } from "./capture-source.ts";
import { clearedState } from "./extract.ts";
import { clearedAtOf, isTellable, readState, sealState } from "./kept-state.ts";
import { type StateParts, endOf, nextState, readFurther } from "./next-state.ts";
import type { CaptureReason, SessionState } from "./state.ts";

export interface Captures {
  /** The stored state afterwards. Undefined if there is nothing to hand over. */
  capture(source: CaptureSource, reason: CaptureReason): Promise<SessionState | undefined>;
  /** The same in the background. */
  captureBehind(source: CaptureSource, reason: CaptureReason): Promise<void>;
  /** The state of a window, without storing it. */
  derive(source: CaptureSource, reason: CaptureReason): Promise<SessionState | undefined>;
  /** The transcript lost its beginning after the capture: the stored state is valid for the rest. */
  shortened(source: CaptureSource): Promise<void>;
  /** Clears everything up to now. Without a source: the stored state. False if there was nothing. */
  clear(sessionKey: string, source: CaptureSource | undefined): Promise<boolean>;
  /** Changes the stored state, if it is valid. */
  change(sessionKey: string, mutate: (state: SessionState) => SessionState | undefined): Promise<void>;
}

export interface CaptureOptions extends StateParts {
  agent: AgentHandle;
  /** Called after a state was captured, or only changed, before the caller gets it. Must not fail. */
  onCaptured: (state: SessionState) => void;
  onChanged: (state: SessionState) => void;
}

const MAX_ATTEMPTS = 20;

export function createCaptures(given: CaptureOptions): Captures {
  const { agent, onCaptured, onChanged } = given;
  const { handoffs } = agent.store;
  const options: CaptureOptions = { ...given, toldTo: async (source) => await findTold(agent, source) };
  const mutex = createKeyedMutex();

  /** Stores the result of `advance`, until no other process interferes. Undefined from `advance` changes nothing. */
  const keep = async (
    place: StatePlace,
    advance: (kept: unknown) => Promise<SessionState | undefined>,
  ): Promise<SessionState | undefined> => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const kept = await handoffs.get(place.sessionKey);
      const next = await advance(kept);
      if (next === undefined) return readState(kept);
      const outcome = await replace(place, kept, next);
      if (outcome !== "other") return outcome === "kept" ? next : undefined;
    }
    throw tooBusy(place.sessionKey);
  };
  /** `other`: another state was stored meanwhile. `gone`: the session was deleted. */
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
      await mutex.run(source.sessionKey, async () =>
        tellable(await keep(placeOf(source), async (kept) => await nextState(options, source, reason, kept))),
      ),
    async captureBehind(source, reason) {
      const kept = await handoffs.get(source.sessionKey);
      const next = await nextState(options, source, reason, kept);
      if (next !== undefined) await replace(placeOf(source), kept, next);
    },
    async derive(source, reason) {
      const clearedAt = clearedAtOf(await handoffs.get(source.sessionKey));
      return tellable(await nextState(options, source, reason, clearedAt === undefined ? undefined : { clearedAt }));
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
          had = [before, newest].some((one) => tellable(one) !== undefined);
          return state === undefined ? undefined : cleared(state, agent.clock.now());
        });
        return had;
      }),
    change,
  };
}

function tellable(state: SessionState | undefined): SessionState | undefined {
  return state !== undefined && isTellable(state) ? state : undefined;
}

/** A session of Claude Code has no windows in the store. */
type StatePlace = Pick<CaptureSource, "sessionKey"> & HandoffUpdateOptions;

function placeOf({ kind, sessionKey, sessionId }: CaptureSource): StatePlace {
  return kind === "native" ? { sessionKey } : { sessionKey, ofWindow: sessionId };
}

const MAX_STATES = 200;

/** The state that was offered to this native session when it began. It has the key of the session that left it. */
async function findTold({ store }: AgentHandle, source: CaptureSource): Promise<SessionState | undefined> {
  if (source.kind !== "native") return undefined;
  const kept = await store.handoffs.list({ limit: MAX_STATES });
  for (const { key, state } of kept) {
    if (key === source.sessionKey || !isRecord(state)) continue;
    const told = isRecord(state["decidedFor"]) && state["decidedFor"]["sessionId"] === source.sessionId;
    if (told) return readState(state);
  }
  return undefined;
}

function cleared(state: SessionState, now: number): SessionState {
  const at = new Date(now).toISOString();
  return sealState({
    ...state,
    ...clearedState(state),
    forced: undefined,
    model: undefined,
    updatedAt: at,
    resumeAvailable: false,
    resumeOfferedAt: null,
    clearedAt: at,
  });
}

function tooBusy(sessionKey: string): HoldfastError {
  return new HoldfastError("unavailable", "handoff-busy", `The hand-off of ${sessionKey} changes all the time`, {
    hint: "Other processes are capturing the same session; try again in a moment.",
    data: { sessionKey },
  });
}
