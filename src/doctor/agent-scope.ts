import type { Clock } from "../base/clock.ts";
import type { AgentLayout } from "../config/layout.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { StoreRepair } from "../store/store-repair.ts";

/** One agent as the checks see it, also when its store cannot be opened. */
export interface AgentScope {
  agentId: string;
  mainKey: string;
  layout: AgentLayout;
  repair: StoreRepair;
  /** Opens the store, which must be sound and there. The caller closes it. */
  open(): Promise<AgentHandle>;
  clock: Clock;
  /** Read every line of every transcript. */
  deep: boolean;
}
