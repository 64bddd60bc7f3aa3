/** What every `handoff` command starts with: the agent, what its sessions have left, and Claude Code's sessions. */
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { openHandoff } from "../../compose-handoff.ts";
import { openAgent } from "../../compose.ts";
import type { HandoffPlace } from "../../handoff/find-handoff.ts";
import { type Setup, assertAgentId, loadSetup } from "../context.ts";
import { waitingLine } from "../waiting-line.ts";

export interface HandoffOptions {
  json?: boolean;
  agent?: string;
  session?: string;
}

export interface OpenedHandoff extends HandoffPlace, Setup {
  /** Captures what was said since the last time, after the fact: nobody may have captured it. */
  catchUp(): Promise<void>;
}

/** Opens it, runs the task and closes it again. What is kept can be seen and cleared also where it is turned off. */
export async function withHandoff(
  options: HandoffOptions,
  { writes }: { writes: boolean },
  task: (opened: OpenedHandoff) => Promise<void>,
): Promise<void> {
  assertAgentId(options.agent);
  const { home, config } = await loadSetup();
  const isOn = config.handoff.enabled;
  if (writes && !isOn) throw turnedOff();
  const env = process.env;
  // An agent that is named must be there; the default one begins with what Claude Code's sessions left.
  const agent = await openAgent({ home, config, agentId: options.agent, create: options.agent === undefined });
  try {
    const handoff = await openHandoff({
      home,
      config: { ...config, handoff: { ...config.handoff, enabled: true } },
      env,
      agent,
    });
    if (handoff === undefined) throw turnedOff();
    const catchUp = async (): Promise<void> => {
      if (!isOn) return;
      using _line = waitingLine("Reading what was said since the last time");
      await handoff.recover();
    };
    const claude = openClaude({ home, config }, agent.agentId);
    try {
      await task({ home, config, agent, handoff, findNative: claude.findNative, catchUp });
    } finally {
      claude.close();
      await handoff.close();
    }
  } finally {
    await agent.store.close();
  }
}

function openClaude(setup: Setup, agentId: string): Pick<HandoffPlace, "findNative"> & { close(): void } {
  if (agentId !== setup.config.defaultAgent) return { close: () => undefined };
  let side: { close(): void } | undefined;
  return {
    findNative: async (idOrPrefix) => {
      const { openClaudeSide } = await import("../../compose-claude.ts");
      const opened = openClaudeSide({ ...setup, logger: silentLogger });
      side = opened;
      using _line = waitingLine("Reading Claude Code's sessions");
      return await opened.find(idOrPrefix);
    },
    close: () => side?.close(),
  };
}

function turnedOff(): HoldfastError {
  return new HoldfastError("conflict", "handoff-off", "Nothing is handed over: handoff.enabled is false", {
    hint: "`holdfast config set handoff.enabled true` turns it on.",
  });
}
