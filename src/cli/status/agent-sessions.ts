/** The sessions of each agent, read from the stores themselves: true whether a gateway runs or not. */
import { join } from "node:path";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { fileExists } from "../../base/files.ts";
import { openAgent } from "../../compose.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import { toStatusRow } from "../../rpc/methods/status-row.ts";
import { type ListedAgent, describeAgents } from "../commands/agents.ts";
import type { Setup } from "../context.ts";

export type StatusRow = ResultOf<"status">["sessions"]["recent"][number];

export interface AgentSessions extends ListedAgent {
  path: string;
  count: number;
  recent: StatusRow[];
  /** The agent has not yet read the file that says who it is to be. */
  bootstrapPending: boolean;
  /** Why the store cannot be read. */
  problem?: string;
}

/** One agent whose store is damaged hides no other. */
export async function readAgents(setup: Setup, limit: number | undefined): Promise<AgentSessions[]> {
  return await Promise.all((await describeAgents(setup)).map(async (agent) => await readAgent(agent, setup, limit)));
}

async function readAgent(agent: ListedAgent, setup: Setup, limit: number | undefined): Promise<AgentSessions> {
  const bootstrapPending = await fileExists(join(agent.workspace, "BOOTSTRAP.md"));
  const none = { ...agent, path: agent.agentDir, count: 0, recent: [], bootstrapPending };
  try {
    const { store } = await openAgent({ ...setup, agentId: agent.id, create: false });
    try {
      const { sessions, total } = await store.list(limit === undefined ? {} : { limit });
      const now = Date.now();
      const recent = sessions.map((session) => toStatusRow(agent.id, session, now));
      return { ...none, path: store.path, count: total, recent };
    } finally {
      await store.close();
    }
  } catch (error) {
    const isNew = error instanceof HoldfastError && error.code === "store-not-found";
    return isNew ? { ...none, path: String(error.data["path"]) } : { ...none, problem: errorMessage(error) };
  }
}
