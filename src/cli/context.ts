/** What a command needs before it can start: the home, the configuration and an open agent. */
import { resolve } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { openAgent } from "../compose.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { resolveHome } from "../config/layout.ts";
import { loadConfig } from "../config/load.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { AgentHandle } from "../session/agent-handle.ts";

export interface Setup {
  home: string;
  config: HoldfastConfig;
}

export interface AgentOptions {
  agent?: string;
  store?: string;
}

export async function loadSetup(): Promise<Setup> {
  const home = resolveHome();
  const { config } = await loadConfig({ env: process.env, cwd: process.cwd(), home });
  return { home, config };
}

/** Opens the agent that the options name, runs the task and closes the agent again. */
export async function withAgent<T>(
  options: AgentOptions & { create?: boolean },
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
  try {
    return await task(agent, setup);
  } finally {
    await agent.store.close();
  }
}

/** A name that is not one must not quietly become another agent's. */
export function assertAgentId(agentId: string | undefined): void {
  if (agentId === undefined || normalizeAgentId(agentId) === agentId.trim().toLowerCase()) return;
  throw new HoldfastError("usage", "invalid-agent", `"${agentId}" is no name of an agent`, {
    hint: "Agents have names of a–z, 0–9, - and _, up to 64 characters.",
  });
}

/** Destructive commands run only when the person said so, by answer or by `--yes`. */
export async function confirm(question: string, options: { yes?: boolean }): Promise<void> {
  if (options.yes === true) return;
  if (process.stdin.isTTY && process.stderr.isTTY) {
    const { createInterface } = await import("node:readline/promises");
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal.question(`${question} [y/N] `);
    terminal.close();
    if (/^y(?:es)?$/i.test(answer.trim())) return;
    throw new HoldfastError("interrupted", "not-confirmed", "Nothing was changed");
  }
  throw new HoldfastError("usage", "confirmation-needed", `${question} This needs a confirmation`, {
    hint: "Add --yes to do it without being asked.",
  });
}
