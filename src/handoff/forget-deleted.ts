/**
 * What deleted sessions have left. Its state went with the session in one step; what a process did not come to, because
 * it died or was another one, is made up for here, from the manifests that deleting writes first.
 */
import { isRecord } from "../base/json-record.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { deletedWindows } from "../session/archive.ts";
import type { Views } from "./files/views.ts";

/** Looking at every archive that there ever was would take longer with every year. */
const LOOK_BACK_MS = 30 * 24 * 3_600_000;

export async function forgetDeleted(agent: AgentHandle, views: Pick<Views, "forget">): Promise<void> {
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
