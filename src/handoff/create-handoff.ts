/** Puts the parts of an agent's hand-off together. */
import { isRecord } from "../base/json-record.ts";
import type { HandoffConfig } from "../config/config.ts";
import type { HandoffLayout } from "../config/layout.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { GithubReader } from "../project/github-status.ts";
import type { GitOptions } from "../project/run-git.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { createBackground } from "./background.ts";
import { createCaptures } from "./capture.ts";
import { createSources } from "./capture-source.ts";
import { createDecisions } from "./decisions.ts";
import { createViews } from "./files/views.ts";
import { recoverDeletions } from "./forget-deleted.ts";
import type { Handoff } from "./handoff.ts";
import { createHandoffChanges } from "./handoff-changes.ts";
import { getState, isNativeKey, listStates, sourceOf } from "./kept-states.ts";
import { offerNative } from "./native-offer.ts";
import { createOffers } from "./offer.ts";
import { recoverSessions } from "./recover.ts";
import { createModelLayer } from "./model-layer.ts";
import { verifyItems } from "./verify.ts";
import type { LanguageModel } from "../models/language-model.ts";
import { isNativeState } from "./handoff-view.ts";
import type { SessionState } from "./state.ts";
import { createReadyOffersWriter } from "./write-ready-offers.ts";

export interface HandoffOptions {
  agent: AgentHandle;
  /** Where the files go: `agentLayout(home, agentId).handoff`. */
  layout: HandoffLayout;
  /** `agentLayout(home, agentId).workspace`: it tells nothing about what is worked on. */
  defaultWorkspace: string;
  config: HandoffConfig;
  /** Claude Code's folder, for the agent that keeps the states of native sessions. Left out: none are looked for. */
  claudeHome?: string | undefined;
  /** Where native sessions' hand-offs are kept rendered, see `ready-offers.ts`. Optional. */
  offersFolder?: string | undefined;
  /** The model that may write the lines of a session's hand-off. Optional: no model is asked. */
  modelFor?: ((state: SessionState) => LanguageModel | undefined) | undefined;
  git?: GitOptions | undefined;
  /** Left out or false: GitHub is not asked. */
  github?: GithubReader | false | undefined;
}

export function createHandoff(options: HandoffOptions): Handoff {
  const { agent, config, claudeHome, offersFolder, modelFor } = options;
  const { logger } = agent;
  const changes = createHandoffChanges(agent.store);
  const views = createViews({ ...options, changes });
  const sources = createSources(options);
  const ready = offersFolder === undefined ? undefined : createReadyOffersWriter({ agent, folder: offersFolder });
  const refreshReady = (state: SessionState): void => {
    if (isNativeState(state) && state.cwd !== undefined) ready?.refresh(state.cwd);
  };
  const captures = createCaptures({
    agent,
    config,
    onCaptured(state) {
      views.update(state);
      refreshReady(state);
      modelLayer?.captured(state);
    },
    onChanged(state) {
      views.refresh();
      refreshReady(state);
    },
  });
  const parts = { ...options, sources, captures, decisions: createDecisions(changes) };
  const modelLayer =
    modelFor === undefined
      ? undefined
      : createModelLayer({
          modelFor,
          timeoutSeconds: config.modelTimeoutSeconds,
          logger,
          captures,
          sourceOf: async (state) => await sourceOf(parts, state.sessionKey, state),
        });
  const offers = createOffers(parts);
  const keyOf = createKeyReader(agent);

  const capture: Handoff["capture"] = async (target, reason) => {
    const source = await sources.of(target);
    if (source === undefined) return undefined;
    background.captured(source.sessionKey);
    const state = await captures.capture(source, reason);
    // Even if nothing new was said: the file may be missing.
    if (source.kind === "native") ready?.refresh(source.cwd);
    return state;
  };
  const background = createBackground({
    config,
    logger,
    capture: async (sessionKey, reason) => await capture({ kind: "session", sessionKey }, reason),
    async captureBehind(sessionKey, reason, pace) {
      const source = await sources.of({ kind: "session", sessionKey });
      if (source !== undefined) await captures.captureBehind(source, reason, pace);
    },
  });
  const settled = async (): Promise<void> => {
    await background.settled();
    await modelLayer?.settled();
    await ready?.settled();
    await views.settled();
  };

  const keepThrough: Handoff["keepThrough"] = async (sessionKey, shorten) => {
    const target = { kind: "session", sessionKey } as const;
    const captured = await capture(target, "compaction").catch(notKept);
    const result = await shorten();
    const source = captured === undefined ? undefined : await sources.of(target).catch(notKept);
    if (source !== undefined) await captures.shortened(source).catch(notKept);
    return result;
  };
  const notKept = (error: unknown): undefined => {
    logger.warn("what a session leaves could not be kept while its transcript was shortened", { error });
    return undefined;
  };

  return {
    capture,
    keepThrough,
    get: async (sessionKey) => await getState(parts, sessionKey),
    list: async (choice = {}) => await listStates(parts, choice),
    verify: async (state) => await verifyItems(state, { git: options.git, github: options.github }),
    projectOf: async (entry) => await sources.project(entry),
    async clear(sessionKey) {
      const key = keyOf(sessionKey);
      const isNative = isNativeKey(parts, key);
      const kept = isNative ? await agent.store.handoffs.get(key) : undefined;
      const source = isNative
        ? await sourceOf(parts, key, kept)
        : await sources.of({ kind: "session", sessionKey: key });
      if (isRecord(kept) && typeof kept["cwd"] === "string") await ready?.remove(kept["cwd"]);
      const had = await captures.clear(key, source);
      views.forget({ sessionKey: key });
      return had;
    },
    mayOffer: (request) => offers.mayOffer(request),
    offer: async (request) => await offers.offer(request),
    offerAhead: async (request) => await offers.offerAhead(request),
    offerNative: async (request) => await offerNative(parts, request),
    markOffered: async (offer) => await offers.markOffered(offer),
    resume: async (sessionKey, name) => await offers.resume(sessionKey, name),
    turnEnded: (turn) => background.turnEnded({ ...turn, sessionKey: keyOf(turn.sessionKey) }),
    captureOpen: async (reason, withinMs) => await background.captureOpen(reason, withinMs),
    forgetDeleted: (windows) => views.forget({ windows: windows.map(({ sessionId }) => sessionId) }),
    async recover() {
      views.check();
      await recoverDeletions(agent, views).catch((error: unknown) => {
        logger.warn("what deleted sessions left is still there in part", { error });
      });
      try {
        return await recoverSessions({ agent, config, claudeHome, capture });
      } catch (error) {
        logger.warn("what sessions left cannot be captured after the fact", { error });
        return 0;
      }
    },
    settled,
    async close() {
      background.stop();
      modelLayer?.stop();
      await settled();
      changes.close();
    },
  };
}

const KNOWN_KEYS = 1_000;

/** Asked at the end of every turn. */
function createKeyReader(agent: AgentHandle): (sessionKey: string) => string {
  const known = new Map<string, string>();
  return (sessionKey) => {
    let key = known.get(sessionKey);
    if (key !== undefined) return key;
    key = canonicalSessionKey(sessionKey, agent);
    if (known.size >= KNOWN_KEYS) known.clear();
    known.set(sessionKey, key);
    return key;
  };
}
