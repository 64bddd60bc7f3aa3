/**
 * `holdfast sessions`: the list, in OpenClaw's JSON shape or as a table with titles and last messages; and
 * `sessions show`: one session with its windows and its lease.
 */
import { inParallel } from "../../base/async.ts";
import { resolveHome } from "../../config/layout.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { JsonPage, ListQuery } from "../../store/store.ts";
import { type Counts, type Flags, type Texts, invalidOption } from "../command.ts";
import { type AgentOptions, isStoreMissing, loadSetup, withAgent, withExistingAgent } from "../context.ts";
import {
  flexible,
  formatAge,
  formatTokens,
  printJson,
  printTable,
  right,
  talk,
  print,
  printStyled,
  style,
} from "../output.ts";
import { listAgentIds } from "../../compose/agent.ts";
import type { SessionKind } from "../../keys/session-key.ts";
import { localTime } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { redactText } from "../../base/redact.ts";
import { type AgentHandle, expectedTranscript, transcriptPath } from "../../session/agent-handle.ts";
import { findSession } from "../../session/find-session.ts";
import { deriveSessionTitle } from "../../session/title.ts";
import { WINDOW_REASONS } from "../../session/window-summary.ts";
import { findDamage } from "../../transcript/damage.ts";
import { firstUserText, lastMessagePreview } from "../../transcript/reader.ts";

type ListOptions = AgentOptions &
  Flags<"json" | "allAgents"> &
  Texts<"channel" | "search"> &
  Counts<"active" | "limit"> & { kind?: SessionKind | undefined };

interface SessionsPage extends JsonPage {
  path: string;
  /** Paths of the transcripts, for the table. */
  transcripts: ReadonlyMap<string, string>;
}

interface PageItem extends SessionEntry {
  key: string;
  kind: SessionKind;
  ageMs: number;
  /** With --all-agents only. */
  agentId?: string | undefined;
}

const TABLE_LIMIT = 50;

export async function listSessions(options: ListOptions): Promise<void> {
  const query = toQuery(options);
  const page = options.allAgents === true ? await listEverywhere(query, options) : await listOne(query, options);
  const openClaw = page.total === 0 ? await findOpenClaw() : undefined;
  if (options.json === true) printListJson(page, options);
  else await printList(page, options, openClaw);
  if (openClaw !== undefined) talk(openClaw);
}

async function findOpenClaw(): Promise<string | undefined> {
  const { describeOpenClawDatabases } = await import("../../import/openclaw.ts");
  return await describeOpenClawDatabases(resolveHome());
}

type PageQuery = Omit<ListQuery, "fields">;

function toQuery(options: ListOptions): PageQuery {
  const limit = options.limit ?? (options.json === true ? undefined : TABLE_LIMIT);
  return {
    limit,
    activeSince: options.active === undefined ? undefined : Date.now() - options.active * 60_000,
    kind: options.kind,
    channel: options.channel,
    text: options.search,
  };
}

async function listOne(query: PageQuery, options: ListOptions): Promise<SessionsPage> {
  try {
    return await withAgent(options, async (agent) => {
      const page = await agent.store.listJson(query);
      return { path: agent.store.location, transcripts: await locateAll(agent, page, options), ...page };
    });
  } catch (error) {
    // The default agent may have no store yet; a named agent or store must exist.
    if (!isStoreMissing(error) || options.agent !== undefined || options.store !== undefined) throw error;
    return { path: String(error.data["path"]), transcripts: new Map(), json: Buffer.from("[]"), count: 0, total: 0 };
  }
}

async function listEverywhere(query: PageQuery, options: ListOptions): Promise<SessionsPage> {
  if (options.store !== undefined || options.agent !== undefined) {
    throw invalidOption("--all-agents cannot be used with --agent or --store");
  }
  const setup = await loadSetup();
  const found: PageItem[] = [];
  const transcripts = new Map<string, string>();
  let total = 0;
  for (const agentId of await listAgentIds(setup.home)) {
    const page = await withExistingAgent(setup, agentId, async (agent) => {
      const listed = await agent.store.listJson(query);
      for (const [name, path] of await locateAll(agent, listed, options)) transcripts.set(name, path);
      return listed;
    });
    if (page === undefined) continue;
    total += page.total;
    for (const session of parseSessions(page)) found.push({ ...session, agentId });
  }
  const sessions = found.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, query.limit);
  const json = Buffer.from(JSON.stringify(sessions));
  return { path: "(multiple)", transcripts, json, count: sessions.length, total };
}

async function locateAll(agent: AgentHandle, page: JsonPage, { json }: ListOptions): Promise<Map<string, string>> {
  const paths = new Map<string, string>();
  if (json === true) return paths;
  for (const session of parseSessions(page)) paths.set(session.sessionId, await transcriptPath(agent, session));
  return paths;
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
  // The JSON of the store is written as it is: parsing ten thousand sessions would be slow.
  process.stdout.write(`${JSON.stringify(envelope).slice(0, -1)},"sessions":`);
  process.stdout.write(page.json);
  process.stdout.write("}\n");
}

async function printList(page: SessionsPage, options: ListOptions, openClaw: string | undefined): Promise<void> {
  const { count, total } = page;
  if (count === 0) {
    if (total > 0) talk("No session matches.");
    else if (openClaw === undefined) talk("No sessions. Start one with `holdfast chat`.");
    return;
  }
  const rows = await inParallel(parseSessions(page), async (session) => {
    const { title, last } = await describeSession(session, page.transcripts.get(session.sessionId) ?? "");
    const cells = [session.key, formatAge(session.ageMs), formatTokens(session.totalTokens), title, last];
    return options.allAgents === true ? [session.agentId ?? "", ...cells] : cells;
  });
  printTable(
    [
      ...(options.allAgents === true ? ["AGENT"] : []),
      flexible("SESSION"),
      right("AGE"),
      right("TOKENS"),
      flexible("TITLE"),
      flexible("LAST MESSAGE"),
    ],
    rows,
  );
  if (total > count) talk(`${total - count} more; --limit ${total} shows all.`);
}

export async function showSession(reference: string, options: AgentOptions & Flags<"json">): Promise<void> {
  const details = await withAgent(options, async (agent) => await readDetails(agent, reference));
  if (options.json === true) printJson(details);
  else printDetails(details);
}

async function readDetails(agent: AgentHandle, reference: string) {
  const { agentId, store } = agent;
  const { key, entry } = await findSession(agent, reference);
  const [windows, lease] = await Promise.all([store.windows(key), store.leases.current(key)]);
  return { key, agentId, path: store.location, entry, windows, lease };
}

/** Large fields, shown only as sizes. */
const LARGE = new Set(["skillsSnapshot", "systemPromptReport"]);

function printDetails({ key, entry, windows, lease }: Awaited<ReturnType<typeof readDetails>>): void {
  printStyled(style("bold", key));
  for (const [field, value] of Object.entries(entry)) {
    print(`  ${field.padEnd(22)} ${describeValue(field, value)}`);
  }
  if (lease !== undefined) {
    print(`  written by             process ${lease.process.pid} on ${lease.process.host}, epoch ${lease.epoch}`);
  }
  printStyled("");
  printTable(
    ["WINDOW", "OPENED", "HOW", "CLOSED", "TRANSCRIPT"],
    windows.map((window) => [
      window.sessionId.slice(0, 8),
      localTime(window.openedAt),
      WINDOW_REASONS[window.reason],
      window.closedAt === undefined ? "open" : localTime(window.closedAt),
      window.archive === undefined ? (window.transcript ?? "") : `archive/${window.archive}`,
    ]),
  );
}

function describeValue(field: string, value: unknown): string {
  if (LARGE.has(field)) return `(${JSON.stringify(value).length} characters)`;
  if (typeof value === "number" && field.endsWith("At")) {
    return `${localTime(value)} (${formatAge(Date.now() - value)})`;
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

const UNREADABLE = "(damaged; see `holdfast doctor`)";

/** Title and last message, from the two ends of the transcript. Empty if there are no messages. */
async function describeSession(entry: SessionEntry, path: string): Promise<{ title: string; last: string }> {
  try {
    const [first, last] = await Promise.all([
      entry.label === undefined ? firstUserText(path) : undefined,
      lastMessagePreview(path),
    ]);
    const isLost = last === undefined && (await findDamage(path, expectedTranscript(entry))) !== undefined;
    return { title: redactText(titleOf(entry, first)), last: isLost ? UNREADABLE : redactText(last ?? "") };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    return { title: redactText(titleOf(entry, undefined)), last: UNREADABLE };
  }
}

function titleOf(entry: SessionEntry, first: string | undefined): string {
  // Without the session id: it would become the title of a session without messages.
  const { sessionId: _, ...named } = entry;
  return named.label ?? deriveSessionTitle(named, first) ?? "-";
}
