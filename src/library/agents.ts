/**
 * Opens agents for other programs, and lets OpenClaw's lifecycle functions be called without one. They then use
 * the agent that the session key or `agentId` names, under `$HOLDFAST_HOME`, or the `sessions.json` at `storePath`.
 */
import { resolve } from "node:path";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../config/config.ts";
import { resolveHome } from "../config/layout.ts";
import { loadConfig } from "../config/load.ts";
import { resolveAgentIdFromSessionKey } from "../keys/session-key.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import * as updates from "../session/entry-updates.ts";
import * as init from "../session/init.ts";
import { applyResetModelOverride as applyModelOverride } from "../session/model-choice.ts";
import { appendAssistantMessageToSessionTranscript as appendAssistantMessage } from "../session/transcript-changes.ts";
import { forkSessionFromParent as forkFromParent } from "../session/window.ts";
import { lazyMap } from "../base/async.ts";
import { type OpenAgentOptions, openAgent } from "../compose/agent.ts";

export interface AgentChoice {
  /** From `openHoldfastAgent`. Default: chosen by the other members. */
  agent?: AgentHandle | undefined;
  agentId?: string | undefined;
  sessionKey?: string | undefined;
  /** An OpenClaw `sessions.json`, used in place. */
  storePath?: string | undefined;
}

export type OpenHoldfastAgentOptions = Partial<Omit<OpenAgentOptions, "config">> & {
  config?: HoldfastConfig | undefined;
};

/** Opens an agent's store with the command line's configuration. Close its `store` when done. */
export async function openHoldfastAgent(options: OpenHoldfastAgentOptions = {}): Promise<AgentHandle> {
  const home = options.home ?? resolveHome();
  const config = options.config ?? (await loadConfig({ env: process.env, cwd: process.cwd(), home })).config;
  return await openAgent({ ...options, home, config });
}

export const recordSessionMetaFromInbound = withDefaultAgent(updates.recordSessionMetaFromInbound);
export const updateLastRoute = withDefaultAgent(updates.updateLastRoute);
export const forkSessionFromParent = withDefaultAgent(forkFromParent);
export const applyResetModelOverride = withDefaultAgent(applyModelOverride);
export const persistSessionUsageUpdate = withDefaultAgent(updates.persistSessionUsageUpdate);
export const incrementCompactionCount = withDefaultAgent(updates.incrementCompactionCount);
export const appendAssistantMessageToSessionTranscript = withDefaultAgent(appendAssistantMessage);

export type InitSessionStateParams = Omit<init.InitSessionParams, "agent" | "cfg"> &
  AgentChoice & {
    cfg?: { session?: Partial<HoldfastConfig["session"]> | undefined } | undefined;
  };

export async function initSessionState(params: InitSessionStateParams): Promise<init.SessionInitResult> {
  const sessionKey = params.sessionKey ?? params.ctx.SessionKey;
  const agent = await chooseAgent({ ...params, sessionKey });
  const cfg = { session: { ...DEFAULT_CONFIG.session, ...params.cfg?.session } };
  return await init.initSessionState({ ...params, agent, cfg });
}

/** Closes the stores that calls without an agent have opened. */
export async function closeDefaultAgents(): Promise<void> {
  const agents = opened.made();
  opened.clear();
  await Promise.all((await agents).map(async ({ store }) => await store.close()));
}

const opened = lazyMap<string, AgentHandle>();

async function chooseAgent(choice: AgentChoice): Promise<AgentHandle> {
  if (choice.agent !== undefined) return choice.agent;
  const agentId = choice.agentId ?? resolveAgentIdFromSessionKey(choice.sessionKey);
  const storePath = choice.storePath === undefined ? undefined : resolve(choice.storePath);
  const home = resolveHome();
  const name = JSON.stringify([home, agentId, storePath]);
  return await opened.get(name, async () => await openHoldfastAgent({ home, agentId, storePath }));
}

function withDefaultAgent<Params extends { agent: AgentHandle }, Result>(
  verb: (params: Params) => Promise<Result>,
): (params: Omit<Params, "agent"> & AgentChoice) => Promise<Result> {
  return async (params) => await verb({ ...params, agent: await chooseAgent(params) } as Params);
}
