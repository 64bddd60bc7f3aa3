/** What most commands start with: the home, the configuration and an open agent. */
import { resolve } from "node:path";
import { closing } from "../base/async.ts";
import { HoldfastError, undefinedOn, hasCode } from "../base/errors.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { resolveHome } from "../config/layout.ts";
import { loadConfig } from "../config/load.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { listAgentIds, openAgent } from "../compose/agent.ts";
import type { Flags, Texts } from "./command.ts";

export interface Setup {
  home: string;
  config: HoldfastConfig;
}

export type AgentOptions = Texts<"agent" | "store">;

/** Also where the settings come from: see `loadConfig`. */
export async function loadSetup() {
  const home = resolveHome();
  return { home, ...(await loadConfig({ env: process.env, cwd: process.cwd(), home })) };
}

/** The default agent, all configured agents and all that have a folder. */
export async function knownAgentIds({ home, config }: Setup): Promise<string[]> {
  const ids = [config.defaultAgent, ...Object.keys(config.agents), ...(await listAgentIds(home))];
  return [...new Set(ids.map((id) => normalizeAgentId(id)))].toSorted();
}

export async function withAgent<T>(
  options: AgentOptions & Flags<"create">,
  task: (agent: AgentHandle, setup: Setup) => Promise<T>,
): Promise<T> {
  const setup = await loadSetup();
  assertAgentId(options.agent);
  const agent = await openAgent({
    ...setup,
    agentId: options.agent,
    storePath: options.store === undefined ? undefined : resolve(options.store),
    create: options.create ?? false,
  });
  await using _closing = closing(agent.store);
  return await task(agent, setup);
}

/** Runs the task on an agent of the setup; undefined if the agent has no store yet. */
export async function withExistingAgent<T>(
  setup: Setup,
  agentId: string,
  task: (agent: AgentHandle) => Promise<T>,
): Promise<T | undefined> {
  const agent = await undefinedOn(openAgent({ ...setup, agentId, create: false }), STORE_MISSING);
  if (agent === undefined) return undefined;
  await using _closing = closing(agent.store);
  return await task(agent);
}

/** The code of the error for an agent that has no store yet. */
export const STORE_MISSING = "store-not-found";

export function isStoreMissing(error: unknown): error is HoldfastError {
  return hasCode(error, STORE_MISSING);
}

/** Refuses ids that normalizing would silently turn into another agent's id. */
export function assertAgentId(agentId: string | undefined): void {
  if (agentId === undefined || normalizeAgentId(agentId) === agentId.trim().toLowerCase()) return;
  throw new HoldfastError("usage", "invalid-agent", `"${agentId}" is not a valid agent id`, {
    hint: "Agent ids consist of a–z, 0–9, - and _, up to 64 characters.",
  });
}

export async function confirm(question: string, options: Flags<"yes">): Promise<void> {
  if (options.yes === true) return;
  if (process.stdin.isTTY && process.stderr.isTTY) {
    const { createInterface } = await import("node:readline/promises");
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal.question(`${question} [y/N] `);
    terminal.close();
    if (/^y(?:es)?$/i.test(answer.trim())) return;
    throw new HoldfastError("interrupted", "not-confirmed", "Nothing was changed");
  }
  throw new HoldfastError("usage", "confirmation-needed", `${question} Confirmation needed`, {
    hint: "Add --yes to confirm.",
  });
}
