/** How things are. An agent whose store cannot be read, or does not answer, is reported and hides no other. */
import { errorMessage } from "../../base/errors.ts";
import { TOO_LATE, within } from "../../base/within.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import type { ResultOf } from "../contract.ts";
import type { HandlersOf } from "../handler.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { type StatusRow, toStatusRow } from "./status-row.ts";

type Health = ResultOf<"health">;
type Status = ResultOf<"status">;

const RECENT = 5;
/** Whoever asks how things are wants to hear of a store that hangs, not to hang with it. */
const STORE_PATIENCE_MS = 1000;

export const statusHandlers: HandlersOf<"health" | "status" | "channels.status"> = {
  health: async (_params, { parts }) => {
    const startedAt = performance.now();
    const ids = await parts.agents.list();
    const agents = await Promise.all(ids.map(async (agentId) => await agentHealth(parts, agentId)));
    const channels = channelRows(parts);
    const problems = [
      ...agents.flatMap(({ agentId, problem }) => (problem === undefined ? [] : [`agent ${agentId}: ${problem}`])),
      ...channels.flatMap(({ channel, accountId, status }) =>
        status.state === "failed" || status.state === "retrying" ? [`${channel} ${accountId}: ${status.text}`] : [],
      ),
      ...(parts.pipeline.status().draining ? ["the gateway is stopping"] : []),
    ];
    return {
      ok: problems.length === 0,
      ts: parts.clock.now(),
      durationMs: Math.round(performance.now() - startedAt),
      defaultAgentId: parts.config.defaultAgent,
      channels,
      agents,
      problems,
    };
  },

  status: async ({ agentId, limit }, { parts }) => {
    const ids = agentId === undefined ? await parts.agents.list() : [normalizeAgentId(agentId)];
    const now = parts.clock.now();
    const recent: StatusRow[] = [];
    const byAgent: Status["sessions"]["byAgent"] = [];
    for (const id of ids) {
      const { agent } = await parts.agents.open(id);
      const page = await agent.store.list({ limit });
      byAgent.push({ agentId: id, path: agent.store.path, count: page.total });
      for (const session of page.sessions) recent.push(toStatusRow(id, session, now));
    }
    const { rss, heapUsed } = process.memoryUsage();
    return {
      version: parts.version,
      startedAt: parts.startedAt,
      uptimeMs: now - parts.startedAt,
      pid: process.pid,
      memory: { rssBytes: rss, heapUsedBytes: heapUsed },
      turns: parts.pipeline.status(),
      channels: channelRows(parts),
      sessions: {
        paths: byAgent.map(({ path }) => path),
        count: byAgent.reduce((sum, { count }) => sum + count, 0),
        recent: recent.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, limit),
        byAgent,
      },
    };
  },

  "channels.status": async (_params, { parts }) => ({ ts: parts.clock.now(), channels: channelRows(parts) }),
};

async function agentHealth(parts: RpcParts, agentId: string): Promise<Health["agents"][number]> {
  const isDefault = agentId === parts.config.defaultAgent;
  try {
    const sessions = await within(STORE_PATIENCE_MS, sessionsOf(parts, agentId));
    if (sessions !== TOO_LATE) return { agentId, isDefault, sessions };
    return { agentId, isDefault, problem: "its store does not answer; another process may keep it locked" };
  } catch (error) {
    return { agentId, isDefault, problem: errorMessage(error) };
  }
}

async function sessionsOf(
  parts: RpcParts,
  agentId: string,
): Promise<NonNullable<Health["agents"][number]["sessions"]>> {
  const { agent } = await parts.agents.open(agentId);
  const { sessions, total } = await agent.store.list({ limit: RECENT, fields: [] });
  const now = parts.clock.now();
  const recent = sessions.map(({ key, entry: { updatedAt } }) => ({ key, updatedAt, age: now - updatedAt }));
  return { path: agent.store.path, count: total, recent };
}

function channelRows({ channels }: RpcParts): Health["channels"] {
  const built = channels.accounts().map(({ channel, agentId, status }) => ({
    channel: channel.name,
    accountId: channel.accountId,
    agentId,
    status,
  }));
  return [...built, ...channels.failures()];
}
