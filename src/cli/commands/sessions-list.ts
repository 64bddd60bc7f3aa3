/** `holdfast sessions`: the list, in OpenClaw's JSON shape or as a table. */
import type { SessionKind } from "../../keys/session-kind.ts";
import { HoldfastError } from "../../base/errors.ts";
import { listAgentIds, openAgent } from "../../compose.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { SUMMARY_FIELDS } from "../../store/entry-facets.ts";
import type { ListQuery, ListedSession } from "../../store/store.ts";
import { type AgentOptions, loadSetup, withAgent } from "../context.ts";
import { formatAge, formatTokens, printJson, printTable, talk } from "../output.ts";

export interface ListOptions extends AgentOptions {
  json?: boolean;
  allAgents?: boolean;
  active?: number;
  kind?: string;
  channel?: string;
  search?: string;
  limit?: number;
}

interface Listing {
  path: string;
  total: number;
  sessions: (ListedSession & { agentId: string })[];
}

const KINDS: readonly SessionKind[] = ["direct", "group", "global", "unknown"];
const TABLE_LIMIT = 50;

export async function listSessions(options: ListOptions): Promise<void> {
  const query = toQuery(options);
  const listing = options.allAgents === true ? await listEverywhere(query, options) : await listOne(query, options);
  if (options.json === true) {
    printJson(toJson(listing, options));
  } else {
    printList(listing, options);
  }
}

function toQuery(options: ListOptions): ListQuery {
  const limit = options.limit ?? (options.json === true ? undefined : TABLE_LIMIT);
  return {
    fields: SUMMARY_FIELDS,
    ...(limit === undefined ? {} : { limit }),
    ...(options.active === undefined ? {} : { activeSince: Date.now() - options.active * 60_000 }),
    ...(options.kind === undefined ? {} : { kind: parseKind(options.kind) }),
    ...(options.channel === undefined ? {} : { channel: options.channel }),
    ...(options.search === undefined ? {} : { text: options.search }),
  };
}

function parseKind(raw: string): SessionKind {
  const kind = KINDS.find((known) => known === raw);
  if (kind !== undefined) return kind;
  throw new HoldfastError("usage", "invalid-option", `--kind takes ${KINDS.join(", ")}, not "${raw}"`);
}

async function listOne(query: ListQuery, options: ListOptions): Promise<Listing> {
  return await withAgent(options, async (agent) => await listAgent(agent, query));
}

async function listEverywhere(query: ListQuery, options: ListOptions): Promise<Listing> {
  if (options.store !== undefined || options.agent !== undefined) {
    throw new HoldfastError("usage", "invalid-option", "--all-agents cannot be used with --agent or --store");
  }
  const setup = await loadSetup();
  const listings: Listing[] = [];
  for (const agentId of await listAgentIds(setup.home)) {
    const agent = await openAgent({ ...setup, agentId, create: false });
    try {
      listings.push(await listAgent(agent, query));
    } finally {
      await agent.store.close();
    }
  }
  return {
    path: "(multiple)",
    total: listings.reduce((sum, { total }) => sum + total, 0),
    sessions: listings
      .flatMap(({ sessions }) => sessions)
      .toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt)
      .slice(0, query.limit),
  };
}

async function listAgent({ agentId, store }: AgentHandle, query: ListQuery): Promise<Listing> {
  const { sessions, total } = await store.list(query);
  return { path: store.path, total, sessions: sessions.map((session) => ({ agentId, ...session })) };
}

function toJson({ path, total, sessions }: Listing, options: ListOptions): unknown {
  const now = Date.now();
  return {
    path,
    count: sessions.length,
    total,
    activeMinutes: options.active ?? null,
    sessions: sessions.map(({ agentId, key, kind, entry: { updatedAt, ...entry } }) => ({
      key,
      kind,
      ...(options.allAgents === true ? { agentId } : {}),
      updatedAt,
      ageMs: Math.max(0, now - updatedAt),
      ...entry,
    })),
  };
}

function printList({ total, sessions }: Listing, options: ListOptions): void {
  if (sessions.length === 0) {
    talk(total === 0 ? "No sessions. Start one with `holdfast chat`." : "No session fits.");
    return;
  }
  const now = Date.now();
  const withAgentColumn = options.allAgents === true;
  printTable(
    [
      ...(withAgentColumn ? [{ title: "AGENT" }] : []),
      { title: "SESSION", flexible: true },
      { title: "KIND" },
      { title: "AGE", align: "right" },
      { title: "TOKENS", align: "right" },
      { title: "MODEL" },
      { title: "NAME" },
      { title: "WINDOW" },
    ],
    sessions.map(({ agentId, key, kind, entry }) => [
      ...(withAgentColumn ? [agentId] : []),
      key,
      kind,
      formatAge(now - entry.updatedAt),
      formatTokens(entry.totalTokens),
      entry.model ?? "",
      entry.label ?? entry.displayName ?? entry.subject ?? "",
      entry.sessionId.slice(0, 8),
    ]),
  );
  if (total > sessions.length) talk(`${total - sessions.length} more; --limit ${total} shows all.`);
}
