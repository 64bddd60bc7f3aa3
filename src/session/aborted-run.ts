/** Remembers that a person stopped the last answer, so that the next turn can say so to the agent. */
import type { Lease } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";

export async function markRunAborted(agent: AgentHandle, key: string, options: { lease?: Lease } = {}): Promise<void> {
  await agent.store.update(
    key,
    (entry) =>
      entry === undefined || entry.abortedLastRun === true
        ? undefined
        : { ...entry, abortedLastRun: true, updatedAt: agent.clock.now() },
    options,
  );
}
