/** `health`, `status` and `channels.status`. An agent whose store fails is reported and does not hide the others. */
import { normalizeAgentId } from "../../keys/names.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { ListedSession } from "../../store/store.ts";
import { checkHealth } from "../check-health.ts";
import type { ResultOf } from "../contract.ts";
import type { statusMethods, searchMethods } from "../contract/status.ts";
import type { RpcParts, HandlersOf } from "../rpc-parts.ts";

type Health = ResultOf<"health">;
type Status = ResultOf<"status">;

export const statusHandlers: HandlersOf<keyof typeof statusMethods> = {
  health: async (_params, { parts, recentFailures }) => {
    const startedAt = performance.now();
    const { agents, problems: found } = await checkHealth(parts, recentFailures?.() ?? []);
    const channels = channelRows(parts);
    const problems = [
      ...found.map(({ text }) => text),
      ...channels.flatMap(({ channel, accountId, status }) =>
        status.state === "failed" || status.state === "retrying" ? [`${channel} ${accountId}: ${status.text}`] : [],
      ),
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

  status: async ({ agentId, limit }, { parts, recentFailures }) => {
    const ids = agentId === undefined ? await parts.agents.list() : [normalizeAgentId(agentId)];
    const now = parts.clock.now();
    const recent: StatusRow[] = [];
    const byAgent: Status["sessions"]["byAgent"] = [];
    let queued = 0;
    for (const id of ids) {
      const { agent } = await parts.agents.open(id);
      const page = await agent.store.list({ limit });
      byAgent.push({ agentId: id, path: agent.store.location, count: page.total });
      for (const session of page.sessions) recent.push(toStatusRow(id, session, now));
      queued += await countWaiting(agent);
    }
    const { problems } = await checkHealth(parts, recentFailures?.() ?? []);
    const cluster = await parts.agents.opened()[0]?.agent.store.cluster?.describe();
    const { rss, heapUsed } = process.memoryUsage();
    return {
      version: parts.version,
      startedAt: parts.startedAt,
      uptimeMs: now - parts.startedAt,
      pid: process.pid,
      memory: { rssBytes: rss, heapUsedBytes: heapUsed },
      problems: problems.map(({ text }) => text),
      turns: { ...parts.pipeline.status(), queued },
      channels: channelRows(parts),
      cluster,
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

/**
 * Messages that wait for a turn, from the store: after a restart they wait before this process has looked at them.
 * One that a dead process left running waits too.
 */
async function countWaiting({ store }: AgentHandle): Promise<number> {
  const waits = (await store.inbox.pending()).map(
    async ({ state, key }) => state === "queued" || (await store.leases.current(key)) === undefined,
  );
  return (await Promise.all(waits)).filter(Boolean).length;
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

export type StatusRow = ResultOf<"status">["sessions"]["recent"][number];

const SHOWN_FIELDS = [
  "thinkingLevel",
  "systemSent",
  "abortedLastRun",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "model",
  "contextTokens",
] as const satisfies readonly (keyof SessionEntry)[];

/** A session in `status`, over RPC and on the command line. */
export function toStatusRow(agentId: string, { key, kind, entry }: ListedSession, now: number): StatusRow {
  return {
    agentId,
    key,
    kind,
    sessionId: entry.sessionId,
    updatedAt: entry.updatedAt,
    age: now - entry.updatedAt,
    ...pickPresent(entry, SHOWN_FIELDS),
    ...contextUse(entry),
    flags: flagsOf(entry),
  };
}

export function pickPresent<K extends keyof SessionEntry>(entry: SessionEntry, fields: readonly K[]) {
  const present = fields.flatMap((field) => (entry[field] == null ? [] : [[field, entry[field]]]));
  return Object.fromEntries(present) as Pick<SessionEntry, K>;
}

function contextUse({ totalTokens, contextTokens }: SessionEntry): Pick<StatusRow, "remainingTokens" | "percentUsed"> {
  if (totalTokens === undefined || !contextTokens) return {};
  return {
    remainingTokens: Math.max(0, contextTokens - totalTokens),
    percentUsed: Math.min(999, Math.round((totalTokens / contextTokens) * 100)),
  };
}

/** Settings that differ from the default, in OpenClaw's notation. */
function flagsOf(entry: SessionEntry): string[] {
  return [
    ...(entry.thinkingLevel === undefined ? [] : [`think:${entry.thinkingLevel}`]),
    ...(entry.verboseLevel === undefined ? [] : [`verbose:${entry.verboseLevel}`]),
    ...(entry.sendPolicy === undefined ? [] : [`send:${entry.sendPolicy}`]),
    ...(entry.systemSent === true ? ["system"] : []),
    ...(entry.abortedLastRun === true ? ["aborted"] : []),
    `id:${entry.sessionId}`,
  ];
}

export const searchHandlers: HandlersOf<keyof typeof searchMethods> = {
  "search.query": async (query, { parts }) => await parts.search.query(query),
  "search.status": async (_, { parts }) => await parts.search.status(),
};
