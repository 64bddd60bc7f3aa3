/**
 * Builds what carries an agent from one conversation to the next: its hand-off, and the hooks that are
 * called when something happens. Loaded when an agent is opened, so that other commands do not pay for it.
 */
import { join } from "node:path";
import type { Logger } from "./base/log.ts";
import { TOO_LATE, within } from "./base/within.ts";
import { resolveClaudeHome } from "./claude/native/layout.ts";
import type { HoldfastConfig } from "./config/config.ts";
import { type Environment, agentLayout } from "./config/layout.ts";
import type { Handoff } from "./handoff/handoff.ts";
import type { HookRunner } from "./hooks/hook.ts";
import type { LanguageModel } from "./models/language-model.ts";
import type { AgentHandle } from "./session/agent-handle.ts";
import type { Window } from "./store/store.ts";
import type { AgentParts } from "./turn/turn.ts";

export interface OpenHandoffOptions {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  agent: AgentHandle;
}

/** What a conversation left so far, as text. */
export type Recall = (sessionKey: string) => Promise<string | undefined>;

export interface Continuity {
  parts: Pick<AgentParts, "handoff" | "forgetDeleted" | "hooks">;
  recall: Recall;
  close(): Promise<void>;
}

export async function openContinuity(options: OpenHandoffOptions): Promise<Continuity> {
  const { logger } = options.agent;
  const handoff = await openHandoff(options);
  const hooks = await openHooks(options, handoff);
  return {
    parts: {
      ...(handoff === undefined ? {} : { handoff }),
      forgetDeleted: async (windows) => {
        if (handoff === undefined) await forgetDeleted(options, windows);
        else handoff.forgetDeleted(windows);
      },
      ...(hooks === undefined ? {} : { hooks }),
    },
    recall: async (sessionKey) => await recall(options.agent, handoff, sessionKey),
    close: async () => {
      await closed(hooks, "hooks", logger);
      await closed(handoff, "the hand-off", logger);
    },
  };
}

/** Undefined where the configuration turns it off. Close it before the agent's store. */
export async function openHandoff(options: OpenHandoffOptions): Promise<Handoff | undefined> {
  const { home, config, env, agent } = options;
  if (!config.handoff.enabled) return undefined;
  const [{ createHandoff }, { createGithubReader }] = await Promise.all([
    import("./handoff/create-handoff.ts"),
    import("./project/github-status.ts"),
  ]);
  const layout = agentLayout(home, agent.agentId);
  const model = await openModel(options);
  return createHandoff({
    agent,
    layout: layout.handoff,
    defaultWorkspace: layout.workspace,
    config: config.handoff,
    github: createGithubReader({ env, clock: agent.clock }),
    // Native sessions belong to no agent; the default one keeps what they leave.
    ...(agent.agentId === config.defaultAgent ? { claudeHome: resolveClaudeHome(env) } : {}),
    ...(model === undefined ? {} : { model }),
  });
}

/** Also where the configuration turns it off: what was kept before that is still there. */
export async function forgetDeleted(options: OpenHandoffOptions, windows: readonly Window[]): Promise<void> {
  const { config } = options;
  const handoff = await openHandoff({
    ...options,
    config: { ...config, handoff: { ...config.handoff, enabled: true } },
  });
  handoff?.forgetDeleted(windows);
  await handoff?.close();
}

async function openModel({ config, env, agent }: OpenHandoffOptions): Promise<(() => LanguageModel) | undefined> {
  const spec = config.handoff.model;
  if (spec === undefined) return undefined;
  const { openLanguageModel } = await import("./models/open-language-model.ts");
  const { providers, models } = config;
  return () => openLanguageModel(spec, { providers, models, env, logger: agent.logger });
}

/** Undefined when they cannot be looked for: an agent answers without them. */
async function openHooks(options: OpenHandoffOptions, handoff: Handoff | undefined): Promise<HookRunner | undefined> {
  const { home, config, env, agent } = options;
  const { agentId, workspace, logger, clock } = agent;
  try {
    const [{ createHookRunner }, { createSessionHandoffHook }] = await Promise.all([
      import("./hooks/create-hook-runner.ts"),
      import("./hooks/session-handoff.ts"),
    ]);
    const bundled = handoff === undefined ? [] : [createSessionHandoffHook(handoff)];
    return await createHookRunner({ config, home, workspace, agentId, env, logger, clock, bundled });
  } catch (error) {
    logger.error("no hooks are called: they could not be looked for", { agentId, error });
    return undefined;
  }
}

const MOST_RECALLED = 3000;

const RECALL_MS = 2500;

/** Of this very window; somebody waits for an answer. */
async function recall(
  { store }: AgentHandle,
  handoff: Handoff | undefined,
  sessionKey: string,
): Promise<string | undefined> {
  const entry = await store.get(sessionKey);
  if (handoff === undefined || entry === undefined) return undefined;
  const state = await within(RECALL_MS, handoff.capture({ kind: "session", sessionKey, entry }, "found"));
  // What an earlier window left is kept where this one has nothing; that is offered, or not, by other rules.
  if (state === TOO_LATE || state?.previousSessionId !== entry.sessionId) return undefined;
  const { renderMarkdown } = await import("./handoff/render.ts");
  return renderMarkdown(state).slice(0, MOST_RECALLED).toWellFormed();
}

const CLOSE_MS = 5000;

/** A disk that hangs must not keep the process from its end. */
async function closed(part: { close(): Promise<void> } | undefined, name: string, logger: Logger): Promise<void> {
  const done = await within(CLOSE_MS, part?.close() ?? Promise.resolve()).catch((error: unknown) => error);
  if (done !== undefined) logger.warn(`${name} did not end well`, done === TOO_LATE ? {} : { error: done });
}

export interface EndedNativeSession {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  logger: Logger;
  sessionId: string;
  cwd: string;
}

/** A session of Claude Code that Holdfast ran has ended: what it leaves is kept by the default agent. */
export async function captureNative({ sessionId, cwd, ...options }: EndedNativeSession): Promise<void> {
  const { config, home, env, logger } = options;
  if (!config.handoff.enabled) return;
  const [{ openAgent }, { findProjectFolder }] = await Promise.all([
    import("./compose.ts"),
    import("./claude/native/layout.ts"),
  ]);
  const transcriptPath = join(await findProjectFolder(resolveClaudeHome(env), cwd), `${sessionId}.jsonl`);
  const agent = await openAgent({ home, config, logger });
  try {
    const handoff = await openHandoff({ home, config, env, agent });
    await handoff?.capture({ kind: "native", sessionId, transcriptPath, cwd }, "ended");
    await handoff?.close();
  } finally {
    await agent.store.close();
  }
}

export type StartingNativeSession = Omit<EndedNativeSession, "sessionId">;

/** What a session of Claude Code that Holdfast is about to start should know of the one before it in the repo. */
export async function tellNative({ cwd, ...options }: StartingNativeSession): Promise<string | undefined> {
  const { config, home, env, logger } = options;
  if (!config.handoff.enabled) return undefined;
  const { openAgent } = await import("./compose.ts");
  const agent = await openAgent({ home, config, logger });
  try {
    const handoff = await openHandoff({ home, config, env, agent });
    const offer = await handoff?.offerNative({ sessionId: agent.ids.uuid(), cwd, source: "startup" });
    if (offer !== undefined) await handoff?.markOffered(offer);
    await handoff?.close();
    return offer?.text;
  } finally {
    await agent.store.close();
  }
}
