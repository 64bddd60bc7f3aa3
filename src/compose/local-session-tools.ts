/** Tools over sessions in a process without a gateway. They read; whatever starts a turn or a task needs the gateway. */
import type { Logger } from "../base/log.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { SessionToolCall } from "../mcp/bridge-parts.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { describeProject } from "./agent-pool.ts";

interface LocalToolsOptions {
  agent: AgentHandle;
  claude: ClaudeSide;
  config: HoldfastConfig;
  logger: Logger;
  /** Why there is no gateway. */
  refusal: unknown;
}

export async function callSessionToolHere(
  { agent, claude, config, logger, refusal }: LocalToolsOptions,
  { sessionKey, idempotencyKey, tool, input }: SessionToolCall,
): Promise<{ text: string; isError: boolean }> {
  const [{ createSessionDesk }, { createSessionTools }, { runTool }, { createAttachedFiles }] = await Promise.all([
    import("../turn/session-desk.ts"),
    import("../engine/tools/session-tools.ts"),
    import("../engine/tools/agent-tool.ts"),
    import("../engine/tools/confined-files.ts"),
  ]);
  const refuse = async (): Promise<never> => await Promise.reject(refusal);
  const desk = createSessionDesk({
    agent,
    config,
    admit: refuse,
    canSpawn: true,
    describeProject: describeProject(agent, claude),
  });
  const tools = new Map(createSessionTools({ desk, spawnTask: refuse }).map((one) => [one.name, one]));
  const { signal } = new AbortController();
  const use = { sessionKey, callId: `mcp:${idempotencyKey}`, signal, attached: createAttachedFiles([]) };
  return await runTool(tools, { name: tool, input }, { ...use, logger });
}
