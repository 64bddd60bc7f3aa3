/**
 * Hand-offs of Claude Code sessions by repo. Every change of a native state writes the repo's file of rendered offers
 * again, from the store and under a lock, so that the last writer has read the last change. The hook that reads it is
 * `hooks/claude-code/session-start.ts`.
 */
import { rm } from "node:fs/promises";
import { ensurePrivateFolder, writeFileDurable } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import { createRepoLocator } from "../claude/discovery/repo-locator.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { nativeIdOf } from "./find-handoff.ts";
import type { NativeOfferRequest, Offer } from "./handoff.ts";
import { isExpired, isSubstantialItself, isTellable, readState, wasOffered } from "./kept-state.ts";
import { relatedMemoryFiles } from "./memory-files.ts";
import { endedInRepo, runningIds } from "./native-sessions.ts";
import { type OfferParts, offerText } from "./offer.ts";
import { type ReadyOffer, type ReadyPlace, chooseLeft, readyFile, readyText, repoPlace } from "./ready-offers.ts";
import { renderOffer } from "./render.ts";
import type { SessionState } from "./state.ts";
import { createWorkQueue } from "./work-queue.ts";

export interface ReadyOffersWriter {
  /** Writes the file of this folder's repo, in the background. */
  refresh(cwd: string): void;
  /** Removes it at once, because it may contain what a person has cleared. */
  remove(cwd: string): Promise<void>;
  settled(): Promise<void>;
}

/** More than a starting session looks at. */
const MAX_OFFERS = 5;
const MAX_STATES = 200;

/** `folder` is `claudeLayout(home).offersFolder`. */
export function createReadyOffersWriter(agent: AgentHandle, folder: string): ReadyOffersWriter {
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
    const newest = await newestStates(agent, place.repo);
    await writeFileDurable(path, readyText(place, await Promise.all(newest.map(readyOffer))));
  });
}

/** The newest states of the repo's native sessions, and requested ones. */
async function newestStates(agent: AgentHandle, repo: string): Promise<SessionState[]> {
  const repos = createRepoLocator();
  const kept = await agent.store.handoffs.list({ limit: MAX_STATES });
  return kept
    .filter(({ key }) => nativeIdOf(agent, key) !== undefined)
    .flatMap(({ state }) => readState(state) ?? [])
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

/** The offer for a session that Holdfast starts itself. There is time to capture ended sessions and to ask git. */
export async function offerNative(
  parts: OfferParts,
  { sessionId, cwd }: NativeOfferRequest,
): Promise<Offer | undefined> {
  const { agent, claudeHome } = parts;
  const began = performance.now();
  if (claudeHome !== undefined) await captureEnded(parts, claudeHome, { sessionId, cwd });
  const running = claudeHome === undefined ? new Set<string>() : await runningIds(claudeHome);
  const sessions = (await newestStates(agent, repoPlace(createRepoLocator(), cwd)))
    .filter((state) => isTellable(state) && state.items.length > 0)
    .map((state) => ({ state, isSubstantial: isSubstantialItself(state) }));
  const state = chooseLeft(sessions, { sessionId, running })?.state;
  const now = agent.clock.now();
  if (state === undefined || (state.forced !== true && (isExpired(state, now) || wasOffered(state, now)))) {
    return undefined;
  }
  const text = await offerText(parts, state, { isSameWindow: false, workspace: cwd, began });
  return { sessionKey: state.sessionKey, sessionId, compactions: 0, state, text };
}

async function captureEnded(
  { agent, config, sources, captures }: OfferParts,
  claudeHome: string,
  { sessionId, cwd }: NativeOfferRequest,
): Promise<void> {
  const since = agent.clock.now() - config.expiresHours * 3_600_000;
  for (const target of await endedInRepo(createRepoLocator(), cwd, { claudeHome, since, except: [sessionId] })) {
    try {
      const source = await sources.of(target);
      if (source !== undefined) await captures.capture(source, "found");
    } catch (error) {
      agent.logger.warn("a Claude Code session cannot be captured", { sessionId: target.sessionId, error });
    }
  }
}
