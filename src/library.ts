/**
 * The lifecycle functions as the package exports them. Inside Holdfast they always get an agent;
 * a caller outside may leave it out and then means the default store: the agent that the session
 * key or `agentId` names, under `$HOLDFAST_HOME`, or the `sessions.json` at `storePath`.
 */
import { resolve } from "node:path";
import { type OpenAgentOptions, openAgent } from "./compose.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "./config/config.ts";
import { resolveHome } from "./config/layout.ts";
import { loadConfig } from "./config/load.ts";
import { resolveAgentIdFromSessionKey } from "./keys/session-key.ts";
import type { AgentHandle } from "./session/agent-handle.ts";
import * as delivery from "./session/delivery.ts";
import * as fork from "./session/fork.ts";
import * as init from "./session/init.ts";
import * as mirror from "./session/mirror.ts";
import * as modelHint from "./session/model-hint.ts";
import * as usage from "./session/usage.ts";

export interface AgentChoice {
  /** An agent from `openHoldfastAgent`. Left out: chosen by the members below. */
  agent?: AgentHandle;
  agentId?: string;
  sessionKey?: string;
  /** A `sessions.json` of OpenClaw, used in place. */
  storePath?: string;
}

export type OpenHoldfastAgentOptions = Partial<Omit<OpenAgentOptions, "config">> & { config?: HoldfastConfig };

/** Opens an agent's store and folders, configured as the command line would. Close its `store` when done. */
export async function openHoldfastAgent(options: OpenHoldfastAgentOptions = {}): Promise<AgentHandle> {
  const home = options.home ?? resolveHome();
  const config = options.config ?? (await loadConfig({ env: process.env, cwd: process.cwd(), home })).config;
  return await openAgent({ ...options, home, config });
}

export const recordSessionMetaFromInbound = withDefaultAgent(delivery.recordSessionMetaFromInbound);
export const updateLastRoute = withDefaultAgent(delivery.updateLastRoute);
export const forkSessionFromParent = withDefaultAgent(fork.forkSessionFromParent);
export const applyResetModelOverride = withDefaultAgent(modelHint.applyResetModelOverride);
export const persistSessionUsageUpdate = withDefaultAgent(usage.persistSessionUsageUpdate);
export const incrementCompactionCount = withDefaultAgent(usage.incrementCompactionCount);
export const appendAssistantMessageToSessionTranscript = withDefaultAgent(
  mirror.appendAssistantMessageToSessionTranscript,
);

export type InitSessionStateParams = Omit<init.InitSessionParams, "agent" | "cfg"> &
  AgentChoice & {
    /** Only what differs from the defaults. */
    cfg?: { session?: Partial<HoldfastConfig["session"]> };
  };

export async function initSessionState(params: InitSessionStateParams): Promise<init.SessionInitResult> {
  const sessionKey = params.sessionKey ?? params.ctx.SessionKey;
  const agent = await chooseAgent(sessionKey === undefined ? params : { ...params, sessionKey });
  const cfg = { session: { ...DEFAULT_CONFIG.session, ...params.cfg?.session } };
  return await init.initSessionState({ ...params, agent, cfg });
}

/** Closes the stores that were opened because a call named no agent. */
export async function closeDefaultAgents(): Promise<void> {
  const agents = [...opened.values()];
  opened.clear();
  await Promise.all(agents.map(async (agent) => await (await agent).store.close()));
}

const opened = new Map<string, Promise<AgentHandle>>();

async function chooseAgent(choice: AgentChoice): Promise<AgentHandle> {
  if (choice.agent !== undefined) return choice.agent;
  const agentId = choice.agentId ?? resolveAgentIdFromSessionKey(choice.sessionKey);
  const storePath = choice.storePath === undefined ? undefined : resolve(choice.storePath);
  const home = resolveHome();
  const name = JSON.stringify([home, agentId, storePath]);
  const known = opened.get(name);
  if (known !== undefined) return await known;
  const agent = openHoldfastAgent({ home, agentId, storePath });
  opened.set(name, agent);
  agent.catch(() => opened.delete(name));
  return await agent;
}

function withDefaultAgent<Params extends { agent: AgentHandle }, Result>(
  verb: (params: Params) => Promise<Result>,
): (params: Omit<Params, "agent"> & AgentChoice) => Promise<Result> {
  return async (params) => await verb({ ...params, agent: await chooseAgent(params) } as Params);
}
