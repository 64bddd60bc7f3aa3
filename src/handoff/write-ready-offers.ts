/**
 * Keeps the files of `ready-offers.ts` up to date. Every change of a native session's state writes the file of its
 * repo again, from the store and under a lock, so that the last writer has read the last change.
 */
import { rm } from "node:fs/promises";
import { ensurePrivateFolder, writeFileDurable } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import { type RepoLocator, createRepoLocator } from "../claude/discovery/repo-locator.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { nativeSessionKey } from "./handoff.ts";
import { isSubstantialItself } from "./inherit.ts";
import { isTellable, readState } from "./kept-state.ts";
import { relatedMemoryFiles } from "./memory-files.ts";
import { type ReadyOffer, type ReadyPlace, readyFile, readyText, repoPlace } from "./ready-offers.ts";
import { renderOffer } from "./render.ts";
import type { SessionState } from "./state.ts";
import { createWorkQueue } from "./work-queue.ts";

export interface ReadyOffersWriter {
  /** Writes the file of this folder's repo, in the background. */
  refresh(cwd: string): void;
  /** Removes it now: it may hold what a person wants forgotten. */
  remove(cwd: string): Promise<void>;
  settled(): Promise<void>;
}

export interface ReadyOffersOptions {
  agent: AgentHandle;
  /** `claudeLayout(home).offersFolder`. */
  folder: string;
}

/** More than a starting session looks at. */
const MAX_OFFERS = 5;
const MAX_STATES = 200;

export function createReadyOffersWriter({ agent, folder }: ReadyOffersOptions): ReadyOffersWriter {
  const placeOf = (cwd: string): ReadyPlace => {
    return { folder, agentId: agent.agentId, repo: repoPlace(createRepoLocator(), cwd) };
  };
  const queue = createWorkQueue<ReadyPlace>({
    work: async (_repo, place) => await writeOffers(agent, place),
    onError: (repo, error) => agent.logger.warn("cannot prepare the hand-off of a repo", { repo, error }),
  });
  return {
    refresh(cwd) {
      const place = placeOf(cwd);
      queue.put(place.repo, place);
    },
    remove: async (cwd) => await rm(readyFile(placeOf(cwd)), { force: true }),
    settled: async () => await queue.settled(),
  };
}

async function writeOffers(agent: AgentHandle, place: ReadyPlace): Promise<void> {
  const path = readyFile(place);
  await ensurePrivateFolder(place.folder);
  await withFileLock(`${path}.lock`, {}, async () => {
    const states = await nativeStates(agent);
    const repos = createRepoLocator();
    const offers = await Promise.all(newestIn(states, place, repos).map(readyOffer));
    await writeFileDurable(path, readyText(place, offers));
  });
}

/** All valid states of native sessions in the store. */
export async function nativeStates({ agentId, mainKey, store }: AgentHandle): Promise<SessionState[]> {
  const prefix = canonicalSessionKey(nativeSessionKey(agentId, ""), { agentId, mainKey });
  const kept = await store.handoffs.list({ limit: MAX_STATES });
  return kept.filter(({ key }) => key.startsWith(`${prefix}:`)).flatMap(({ state }) => readState(state) ?? []);
}

/** The newest of the repo, and those that a person asked for. */
function newestIn(states: readonly SessionState[], { repo }: ReadyPlace, repos: RepoLocator): SessionState[] {
  return states
    .filter(({ cwd }) => cwd !== undefined && repoPlace(repos, cwd) === repo)
    .sort((a, b) => Date.parse(b.lastMessageAt) - Date.parse(a.lastMessageAt))
    .filter(({ forced }, index) => index < MAX_OFFERS || forced === true);
}

async function readyOffer(state: SessionState): Promise<ReadyOffer> {
  const offer = { state: { ...state, patterns: [] }, isSubstantial: isSubstantialItself(state) };
  if (!isTellable(state) || state.items.length === 0) return offer;
  const parts = { state, remarks: new Map(), memoryFiles: await relatedMemoryFiles(state.cwd ?? "", state) };
  const next = renderOffer({ ...parts, isSameWindow: false });
  const behind = renderOffer({ ...parts, isSameWindow: false, isBehind: true });
  const same = renderOffer({ ...parts, isSameWindow: true });
  return { ...offer, text: { next, behind, same } };
}
