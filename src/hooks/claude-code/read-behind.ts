/**
 * What sessions left that were not captured, or not completely: the end of their transcripts is read on top of the
 * stored states, only for this answer. A later capture reads everything.
 */
import { systemClock } from "../../base/clock.ts";
import { isRecord } from "../../base/json-record.ts";
import { nativeSessionKey } from "../../handoff/handoff.ts";
import { isSubstantialItself } from "../../handoff/inherit.ts";
import { isTellable, readState } from "../../handoff/kept-state.ts";
import type { NativeTarget } from "../../handoff/native-sessions.ts";
import { nextState } from "../../handoff/next-state.ts";
import { projectOfFolder } from "../../handoff/project.ts";
import { type ReadyOffer, repoPlace } from "../../handoff/ready-offers.ts";
import type { SessionState } from "../../handoff/state.ts";
import type { KeptHandoff } from "../../store/store.ts";
import { type StartPlace, isCurrent } from "./start-place.ts";

const LIMITS = { bytes: 256 * 1024, messages: 8 };

/** The sessions of the repo that have something to tell. */
export async function readBehind(place: StartPlace): Promise<ReadyOffer[]> {
  const kept = await place.readKept();
  const states = new Map(statesHere(place, kept).map((state) => [state.previousSessionId, state]));
  for (const target of place.targets) {
    const { sessionId } = target;
    const known = states.get(sessionId);
    if (!isCurrent(known, target)) {
      const read = await readEnd(place, target, kept, known ?? Array.from(states.values())[0]);
      if (read !== undefined) states.set(sessionId, read);
    }
    const state = states.get(sessionId);
    if (state !== undefined && isTellable(state) && isSubstantialItself(state)) break;
  }
  return Array.from(states.values())
    .filter((state) => isTellable(state) && state.items.length > 0)
    .map((state) => ({ state, isSubstantial: isSubstantialItself(state) }));
}

/** Checks the folder first, because validating a state takes time. */
function statesHere({ repos, repo }: StartPlace, kept: readonly KeptHandoff[]): SessionState[] {
  return kept.flatMap(({ state }) => {
    const cwd = isRecord(state) ? state["cwd"] : undefined;
    return typeof cwd === "string" && repoPlace(repos, cwd) === repo ? (readState(state) ?? []) : [];
  });
}

/** Undefined: nothing new. `known` is any state of the repo. */
async function readEnd(
  { agentId, config, logger, repo, isNew }: StartPlace,
  { sessionId, transcriptPath: path, cwd }: NativeTarget,
  kept: readonly KeptHandoff[],
  known: SessionState | undefined,
): Promise<SessionState | undefined> {
  const parts = { agent: { agentId, clock: systemClock, logger }, config, limits: LIMITS };
  const sessionKey = nativeSessionKey(agentId, sessionId);
  // Without git. The later capture uses the name of the remote.
  const project = known?.project ?? projectOfFolder(repo);
  const source = { kind: "native", sessionKey, sessionId, path, file: path, cwd, project } as const;
  // Unvalidated: even an invalid state says what the person wanted forgotten.
  const own = kept.find(({ key }) => key === sessionKey)?.state;
  return await nextState(parts, source, isNew ? "found" : "compaction", own);
}
