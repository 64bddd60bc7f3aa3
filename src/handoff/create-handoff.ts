/** Builds the hand-off of an agent from its parts. */
import { isRecord } from "../base/json-record.ts";
import type { HandoffConfig } from "../config/config.ts";
import type { HandoffLayout } from "../config/layout.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import type { LanguageModel } from "../models/language-model.ts";
import type { GithubReader } from "../project/github-status.ts";
import type { GitOptions } from "../project/run-git.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { createBackground } from "./background.ts";
import { createSources } from "./capture-source.ts";
import { createCaptures } from "./capture.ts";
import { createViews } from "./files/views.ts";
import { nativeIdOf } from "./find-handoff.ts";
import { type Handoff, isNativeState } from "./handoff.ts";
import { getState, listStates, sourceOf } from "./kept-states.ts";
import { createModelLayer } from "./model-layer.ts";
import { createReadyOffersWriter, offerNative } from "./native-offers.ts";
import { createOffers } from "./offer.ts";
import { recoverDeletions, recoverSessions } from "./recover.ts";
import type { SessionState } from "./state.ts";
import { verifyItems } from "./verify.ts";

export interface HandoffOptions {
  agent: AgentHandle;
  /** `agentLayout(home, agentId).handoff`. */
  layout: HandoffLayout;
  /** `agentLayout(home, agentId).workspace`. */
  defaultWorkspace: string;
  config: HandoffConfig;
  /** Claude Code's folder, for the agent that keeps native hand-offs. Optional. */
  claudeHome?: string | undefined;
  /** The folder of rendered native hand-offs, see `ready-offers.ts`. Optional. */
  offersFolder?: string | undefined;
  /** The model that may write the lines of a hand-off. Optional. */
  modelFor?: ((state: SessionState) => LanguageModel | undefined) | undefined;
  git?: GitOptions | undefined;
  /** Default: GitHub is not asked. */
  github?: GithubReader | false | undefined;
}

export function createHandoff(options: HandoffOptions): Handoff {
  const { agent, config, offersFolder, modelFor } = options;
  const { logger } = agent;
  const views = createViews(options);
  const sources = createSources(options);
  const ready = offersFolder === undefined ? undefined : createReadyOffersWriter(agent, offersFolder);
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
  const parts = { ...options, sources, captures };
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

  const capture: Handoff["capture"] = async (target, reason) => {
    const source = await sources.of(target);
    if (source === undefined) return undefined;
    background.captured(source.sessionKey);
    const state = await captures.capture(source, reason);
    // Even without new messages: the file may be missing.
    if (source.kind === "native") ready?.refresh(source.cwd);
    return state;
  };
  const background = createBackground({
    config,
    logger,
    capture: async (sessionKey, reason) => await capture({ kind: "session", sessionKey }, reason),
    async captureBehind(sessionKey, reason) {
      const source = await sources.of({ kind: "session", sessionKey });
      if (source !== undefined) await captures.captureBehind(source, reason);
    },
  });
  const settled = async (): Promise<void> => {
    await background.settled();
    await modelLayer?.settled();
    await ready?.settled();
    await views.settled();
  };
  /** A failure of the hand-off must not prevent the actual work. */
  const attempt = async <T>(problem: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      logger.warn(problem, { error });
      return undefined;
    }
  };

  return {
    ...offers,
    capture,
    async keepThrough(sessionKey, shorten) {
      const problem = "the hand-off of a shortened transcript could not be kept";
      const target = { kind: "session", sessionKey } as const;
      const captured = await attempt(problem, async () => await capture(target, "compaction"));
      const result = await shorten();
      await attempt(problem, async () => {
        const source = captured === undefined ? undefined : await sources.of(target);
        if (source !== undefined) await captures.shortened(source);
      });
      return result;
    },
    get: async (sessionKey) => await getState(parts, sessionKey),
    list: async (choice) => await listStates(parts, choice),
    verify: async (state) => await verifyItems(state, { git: options.git, github: options.github }),
    projectOf: async (entry) => await sources.project(entry),
    async clear(sessionKey) {
      const key = canonicalSessionKey(sessionKey, agent);
      const isNative = nativeIdOf(agent, key) !== undefined;
      const kept = isNative ? await agent.store.handoffs.get(key) : undefined;
      const source = isNative
        ? await sourceOf(parts, key, kept)
        : await sources.of({ kind: "session", sessionKey: key });
      if (isRecord(kept) && typeof kept["cwd"] === "string") await ready?.remove(kept["cwd"]);
      const had = await captures.clear(key, source);
      views.forget({ sessionKey: key });
      return had;
    },
    offerNative: async (request) => await offerNative(parts, request),
    turnEnded: (turn) => background.turnEnded({ ...turn, sessionKey: canonicalSessionKey(turn.sessionKey, agent) }),
    captureOpen: async (reason, withinMs) => await background.captureOpen(reason, withinMs),
    forgetDeleted: (windows) => views.forget({ windows: windows.map(({ sessionId }) => sessionId) }),
    async recover() {
      views.check();
      await attempt("some files of deleted sessions remain", async () => await recoverDeletions(agent, views));
      const recovered = await attempt(
        "earlier sessions cannot be captured",
        async () => await recoverSessions({ ...options, capture }),
      );
      return recovered ?? 0;
    },
    settled,
    async close() {
      background.stop();
      modelLayer?.stop();
      await settled();
      offers.close();
      views.close();
    },
  };
}
