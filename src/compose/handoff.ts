/**
 * Builds the hand-off of an agent and its hooks. Loaded when an agent is opened, so that other commands start
 * faster.
 */
import { join } from "node:path";
import type { Logger } from "../base/log.ts";
import { resolveClaudeHome } from "../claude/native/layout.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type Environment, agentLayout, claudeLayout } from "../config/layout.ts";
import type { Handoff } from "../handoff/handoff.ts";
import type { SessionState } from "../handoff/state.ts";
import type { HookRunner } from "../hooks/hook.ts";
import type { LanguageModel } from "../models/language-model.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { Window } from "../store/store.ts";
import type { AgentParts } from "../turn/pipeline.ts";
import { TOO_LATE, within } from "../base/async.ts";

export interface OpenHandoffOptions {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  agent: AgentHandle;
}

/** The hand-off of a conversation so far, as text. */
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
      handoff,
      forgetDeleted: async (windows) => {
        if (handoff === undefined) await forgetDeleted(options, windows);
        else handoff.forgetDeleted(windows);
      },
      hooks,
    },
    recall: async (sessionKey) => await recall(options.agent, handoff, sessionKey),
    close: async () => {
      await closeInTime(hooks, "hooks", logger);
      await closeInTime(handoff, "the hand-off", logger);
    },
  };
}

/** Undefined if the configuration turns it off. Close it before the agent's store. */
export async function openHandoff(options: OpenHandoffOptions): Promise<Handoff | undefined> {
  const { home, config, env, agent } = options;
  if (!config.handoff.enabled) return undefined;
  const [{ createHandoff }, { createGithubReader }] = await Promise.all([
    import("../handoff/create-handoff.ts"),
    import("../project/github-status.ts"),
  ]);
  const layout = agentLayout(home, agent.agentId);
  const modelFor = await chooseModel(options);
  // Native sessions belong to no agent; the default agent keeps their hand-offs.
  const isDefault = agent.agentId === config.defaultAgent;
  return createHandoff({
    agent,
    layout: layout.handoff,
    defaultWorkspace: layout.workspace,
    config: config.handoff,
    github: createGithubReader({ env, clock: agent.clock }),
    claudeHome: isDefault ? resolveClaudeHome(env) : undefined,
    offersFolder: isDefault ? claudeLayout(home).offersFolder : undefined,
    modelFor,
  });
}

/** Works even if the configuration turns hand-off off, because earlier hand-offs still exist. */
export async function forgetDeleted(options: OpenHandoffOptions, windows: readonly Window[]): Promise<void> {
  const { config } = options;
  const handoff = await openHandoff({
    ...options,
    config: { ...config, handoff: { ...config.handoff, enabled: true } },
  });
  handoff?.forgetDeleted(windows);
  await handoff?.close();
}

/**
 * `auto` asks only a model that has seen the conversation anyway: Claude Code about its own sessions and those of an
 * agent that runs on it, else the agent's own model.
 */
async function chooseModel({
  config,
  env,
  agent,
}: OpenHandoffOptions): Promise<((state: SessionState) => LanguageModel | undefined) | undefined> {
  const spec = config.handoff.model ?? "auto";
  if (spec === "off") return undefined;
  const [{ openLanguageModel }, { claudeAsModel }, { isNativeState }] = await Promise.all([
    import("../models/language-model.ts"),
    import("../claude/ask-claude.ts"),
    import("../handoff/handoff.ts"),
  ]);
  const { providers, models } = config;
  const open = (name: string): LanguageModel =>
    openLanguageModel(name, { providers, models, env, logger: agent.logger });
  if (spec !== "auto") return () => open(spec);
  const { engine, model } = config.agents[agent.agentId] ?? {};
  return (state) => {
    if (isNativeState(state) || engine === "claude-code")
      return claudeAsModel({ command: config.claudeCode.command, env });
    return model === undefined || engine === "echo" ? undefined : open(model);
  };
}

/** Undefined when hooks cannot be loaded; the agent then answers without them. */
async function openHooks(options: OpenHandoffOptions, handoff: Handoff | undefined): Promise<HookRunner | undefined> {
  const { home, config, env, agent } = options;
  const { agentId, workspace, logger, clock } = agent;
  try {
    const [{ createHookRunner }, { createSessionHandoffHook }] = await Promise.all([
      import("../hooks/create-hook-runner.ts"),
      import("../hooks/session-handoff.ts"),
    ]);
    const bundled = handoff === undefined ? [] : [createSessionHandoffHook(handoff)];
    return await createHookRunner({ config, home, workspace, agentId, env, logger, clock, bundled });
  } catch (error) {
    logger.error("hooks could not be loaded and are not called", { agentId, error });
    return undefined;
  }
}

const MAX_RECALLED = 3000;
const RECALL_MS = 2500;

/** Only of the current window, with a time limit because a person waits for the answer. */
async function recall(
  { store }: AgentHandle,
  handoff: Handoff | undefined,
  sessionKey: string,
): Promise<string | undefined> {
  const entry = await store.get(sessionKey);
  if (handoff === undefined || entry === undefined) return undefined;
  const state = await within(RECALL_MS, handoff.capture({ kind: "session", sessionKey, entry }, "found"));
  // If this window has no notes, the state belongs to an earlier window, to which other rules apply.
  if (state === TOO_LATE || state?.previousSessionId !== entry.sessionId) return undefined;
  const { renderMarkdown } = await import("../handoff/render.ts");
  return renderMarkdown(state).slice(0, MAX_RECALLED).toWellFormed();
}

const CLOSE_MS = 5000;

/** A disk that hangs must not keep the process from ending. */
async function closeInTime(part: { close(): Promise<void> } | undefined, name: string, logger: Logger): Promise<void> {
  const done = await within(CLOSE_MS, part?.close() ?? Promise.resolve()).catch((error: unknown) => error);
  if (done !== undefined) logger.warn(`${name} could not be closed`, done === TOO_LATE ? {} : { error: done });
}

export interface StartingNativeSession {
  home: string;
  config: HoldfastConfig;
  env: Environment;
  logger: Logger;
  cwd: string;
}

export interface EndedNativeSession extends StartingNativeSession {
  sessionId: string;
}

/** Captures an ended session of Claude Code that Holdfast ran. The default agent keeps the hand-off. */
export async function captureNative({ sessionId, ...session }: EndedNativeSession): Promise<void> {
  const { cwd, env } = session;
  await withDefaultHandoff(session, async (handoff) => {
    const { findProjectFolder } = await import("../claude/native/layout.ts");
    const transcriptPath = join(await findProjectFolder(resolveClaudeHome(env), cwd), `${sessionId}.jsonl`);
    await handoff.capture({ kind: "native", sessionId, transcriptPath, cwd }, "ended");
  });
}

/** The hand-off of the previous session in the repo, for a session of Claude Code that Holdfast starts. */
export async function tellNative(session: StartingNativeSession): Promise<string | undefined> {
  return await withDefaultHandoff(session, async (handoff, { ids }) => {
    const offer = await handoff.offerNative({ sessionId: ids.uuid(), cwd: session.cwd });
    if (offer !== undefined) await handoff.markOffered(offer);
    return offer?.text;
  });
}

/** Opens the default agent for one use of its hand-off. Undefined if the configuration turns it off. */
async function withDefaultHandoff<T>(
  { home, config, env, logger }: StartingNativeSession,
  use: (handoff: Handoff, agent: AgentHandle) => Promise<T>,
): Promise<T | undefined> {
  if (!config.handoff.enabled) return undefined;
  const { openAgent } = await import("./agent.ts");
  const agent = await openAgent({ home, config, logger });
  try {
    // A run does not wait for a model.
    const ownConfig = { ...config, handoff: { ...config.handoff, model: "off" } };
    const handoff = await openHandoff({ home, config: ownConfig, env, agent });
    const result = handoff === undefined ? undefined : await use(handoff, agent);
    await handoff?.close();
    return result;
  } finally {
    await agent.store.close();
  }
}
