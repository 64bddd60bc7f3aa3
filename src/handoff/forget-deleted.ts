/**
 * What deleted sessions have left. Whoever deletes one takes its state along and has the files forget it; what a process
 * did not come to because it died is made up for here, from the manifests that deleting writes first.
 */
import { isRecord } from "../base/json-record.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { deletedWindows } from "../session/archive.ts";
import type { Views } from "./files/views.ts";

/** Looking at every archive that there ever was would take longer with every year. */
const LOOK_BACK_MS = 30 * 24 * 3_600_000;

/** Reads every manifest of that time: for the start of a process. */
export async function recoverDeletions(agent: AgentHandle, views: Pick<Views, "forget">): Promise<void> {
  const windows = await deletedWindows(agent, agent.clock.now() - LOOK_BACK_MS);
  if (windows.size === 0) return;
  const { handoffs } = agent.store;
  for (const key of new Set(windows.values())) {
    const state = await handoffs.get(key);
    const window = isRecord(state) ? state["previousSessionId"] : undefined;
    if (typeof window === "string" && windows.has(window)) await handoffs.delete(key);
  }
  views.forget({ windows: windows.keys() });
}
