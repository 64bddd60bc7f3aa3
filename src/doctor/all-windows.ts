import type { AgentHandle } from "../session/agent-handle.ts";
import type { Window } from "../store/store.ts";

/** Every window of every session of the agent: every session id begins with nothing. */
export async function allWindows({ store }: AgentHandle): Promise<Window[]> {
  return await store.findWindows("", Number.MAX_SAFE_INTEGER);
}
