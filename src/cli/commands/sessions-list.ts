/** `holdfast sessions`: the list, in OpenClaw's JSON shape or as a table. */
import { HoldfastError } from "../../base/errors.ts";
import { listAgentIds, openAgent } from "../../compose.ts";
import type { SessionKind } from "../../keys/session-kind.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { JsonPage, ListQuery } from "../../store/store.ts";
import { type AgentOptions, type Setup, loadSetup, withAgent } from "../context.ts";
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

interface SessionsPage extends JsonPage {
  path: string;
}

/** An element of a page's JSON. */
interface PageItem extends SessionEntry {
  key: string;
  kind: SessionKind;
  ageMs: number;
  /** With --all-agents only. */
  agentId?: string;
}

const KINDS: readonly SessionKind[] = ["direct", "group", "global", "unknown"];
const TABLE_LIMIT = 50;

export async function listSessions(options: ListOptions): Promise<void> {
  const query = toQuery(options);
  const page = options.allAgents === true ? await listEverywhere(query, options) : await listOne(query, options);
  if (options.json === true) printListJson(page, options);
  else printList(page, options);
}

type PageQuery = Omit<ListQuery, "fields">;

function toQuery(options: ListOptions): PageQuery {
  const limit = options.limit ?? (options.json === true ? undefined : TABLE_LIMIT);
  return {
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

async function listOne(query: PageQuery, options: ListOptions): Promise<SessionsPage> {
  try {
    return await withAgent(options, async ({ store }) => ({ path: store.path, ...(await store.listJson(query)) }));
  } catch (error) {
    // Nobody has said anything yet. An agent or a store that was named must be there, though.
    if (!isStoreMissing(error) || options.agent !== undefined || options.store !== undefined) throw error;
    return { path: String(error.data["path"]), json: Buffer.from("[]"), count: 0, total: 0 };
  }
}

function isStoreMissing(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.code === "store-not-found";
}

async function listEverywhere(query: PageQuery, options: ListOptions): Promise<SessionsPage> {
  if (options.store !== undefined || options.agent !== undefined) {
    throw new HoldfastError("usage", "invalid-option", "--all-agents cannot be used with --agent or --store");
  }
  const setup = await loadSetup();
  const found: PageItem[] = [];
  let total = 0;
  for (const agentId of await listAgentIds(setup.home)) {
    const page = await listAgent(agentId, query, setup);
    if (page === undefined) continue;
    total += page.total;
    for (const session of parseSessions(page)) found.push({ ...session, agentId });
  }
  const sessions = found.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, query.limit);
  return { path: "(multiple)", json: Buffer.from(JSON.stringify(sessions)), count: sessions.length, total };
}

/** Undefined when the agent has a folder, but nobody has spoken to it yet. */
async function listAgent(agentId: string, query: PageQuery, setup: Setup): Promise<JsonPage | undefined> {
  try {
    const { store } = await openAgent({ ...setup, agentId, create: false });
    try {
      return await store.listJson(query);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isStoreMissing(error)) return undefined;
    throw error;
  }
}

function parseSessions({ json }: JsonPage): PageItem[] {
  return JSON.parse(Buffer.from(json).toString()) as PageItem[];
}

function printListJson(page: SessionsPage, options: ListOptions): void {
  const { path, count, total } = page;
  const envelope = { path, count, total, activeMinutes: options.active ?? null };
  if (process.stdout.isTTY) {
    printJson({ ...envelope, sessions: parseSessions(page) });
    return;
  }
  // Ten thousand sessions are not parsed just to be written again.
  process.stdout.write(`${JSON.stringify(envelope).slice(0, -1)},"sessions":`);
  process.stdout.write(page.json);
  process.stdout.write("}\n");
}

function printList(page: SessionsPage, options: ListOptions): void {
  const { count, total } = page;
  if (count === 0) {
    talk(total === 0 ? "No sessions. Start one with `holdfast chat`." : "No session fits.");
    return;
  }
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
    parseSessions(page).map((session) => [
      ...(withAgentColumn ? [session.agentId ?? ""] : []),
      session.key,
      session.kind,
      formatAge(session.ageMs),
      formatTokens(session.totalTokens),
      session.model ?? "",
      session.label ?? session.displayName ?? session.subject ?? "",
      session.sessionId.slice(0, 8),
    ]),
  );
  if (total > count) talk(`${total - count} more; --limit ${total} shows all.`);
}
