/**
 * What sessions left that were not captured, or not completely: the end of their transcripts is read on top of the
 * stored states, only for this answer, and its sentences are not judged. A later capture reads and judges everything.
 */
import { isRecord } from "../../base/json-record.ts";
import { nativeSessionKey } from "../../handoff/handoff.ts";
import { isSubstantialItself, isTellable, readState } from "../../handoff/kept-state.ts";
import type { NativeTarget } from "../../handoff/native-sessions.ts";
import { projectOfFolder } from "../../handoff/project.ts";
import { type ReadyOffer, repoPlace } from "../../handoff/ready-offers.ts";
import type { SessionState } from "../../handoff/state.ts";
import { readUnjudged } from "../../handoff/unjudged.ts";
import type { KeptHandoff } from "../../store/store.ts";
import { type StartPlace, isCurrent } from "./start-place.ts";

/** Beside the last request: usually its answer. */
const QUOTES = 1;
/** In a process that continues, the person expects the session to know what was just said. */
const QUOTES_AT_ONCE = 8;

/** The sessions of the repo that have something to tell. */
export async function readBehind(place: StartPlace): Promise<ReadyOffer[]> {
  const kept = await place.readKept();
  const states = new Map(statesHere(place, kept).map((state) => [state.previousSessionId, state]));
  const unjudged = new Set<SessionState>();
  for (const target of place.targets) {
    const { sessionId } = target;
    const known = states.get(sessionId);
    if (!isCurrent(known, target)) {
      const read = await readEnd(place, target, kept, known ?? Array.from(states.values())[0]);
      if (read !== undefined) states.set(sessionId, read);
      if (read !== undefined) unjudged.add(read);
    }
    const state = states.get(sessionId);
    if (state !== undefined && isTellable(state) && isSubstantialItself(state)) break;
  }
  return Array.from(states.values())
    .filter((state) => isTellable(state) && state.items.length > 0)
    .map((state) => ({ state, isSubstantial: isSubstantialItself(state), isUnjudged: unjudged.has(state) }));
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
  { agentId, config, repo, isNew, isAtOnce }: StartPlace,
  { sessionId, transcriptPath: path, cwd }: NativeTarget,
  kept: readonly KeptHandoff[],
  known: SessionState | undefined,
): Promise<SessionState | undefined> {
  const sessionKey = nativeSessionKey(agentId, sessionId);
  // Without git. The later capture uses the name of the remote.
  const project = known?.project ?? projectOfFolder(repo);
  const reason = isNew ? "found" : "compaction";
  const own = kept.find(({ key }) => key === sessionKey)?.state;
  const quotes = isAtOnce ? QUOTES_AT_ONCE : QUOTES;
  return await readUnjudged({ agentId, config, sessionKey, sessionId, path, cwd, project, reason, quotes }, own);
}
