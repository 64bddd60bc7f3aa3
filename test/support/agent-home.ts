/** An agent in a temporary folder: `await using fixture = await createAgentHome("sqlite")`. */
import { silentLogger } from "../../src/base/log.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import type { AgentHandle } from "../../src/session/agent-handle.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { temporaryFolder } from "./temp-folder.ts";
import { type TestClock, createTestClock } from "./time.ts";

export const STORE_KINDS: readonly StoreKind[] = ["sqlite", "json"];

export interface AgentHome extends AsyncDisposable {
  agent: AgentHandle;
  clock: TestClock;
  home: string;
  config: HoldfastConfig;
  /** A second handle on the same files, like another process. */
  another(agentId?: string): Promise<AgentHandle>;
}

export async function createAgentHome(kind: StoreKind = "sqlite"): Promise<AgentHome> {
  const folder = await temporaryFolder();
  const clock = createTestClock();
  const config = { ...DEFAULT_CONFIG, store: { kind, view: true } };
  const opened: AgentHandle[] = [];
  const open = async (agentId?: string): Promise<AgentHandle> => {
    const agent = await openAgent({ home: folder.path, config, agentId, clock, logger: silentLogger });
    opened.push(agent);
    return agent;
  };
  return {
    agent: await open(),
    clock,
    home: folder.path,
    config,
    another: open,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map(async ({ store }) => await store.close()));
      await folder[Symbol.asyncDispose]();
    },
  };
}
