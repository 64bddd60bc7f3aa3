/** What `holdfast status` reports: agents and their sessions from the stores, and the gateway if one runs. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, systemErrorCode } from "../../base/errors.ts";
import { fileExists } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import { agentLayout } from "../../config/layout.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import { withIdleAccounts } from "../channel-view.ts";
import type { Flags } from "../command.ts";
import { type Setup, isStoreMissing } from "../context.ts";
import { findRunningGateway } from "../rpc/gateway-client.ts";
import { type ListedAgent, describeAgents } from "./agents.ts";
import { openAgent } from "../../compose/agent.ts";
import { toStatusRow } from "../../rpc/methods/status.ts";

export interface StatusReport {
  agents: AgentSessions[];
  gateway: GatewayProbe;
  usage?: UsageRow[] | undefined;
  health?: ResultOf<"health"> | undefined;
}

/** Without a status when no gateway answers. */
export interface GatewayProbe {
  url?: string | undefined;
  latencyMs?: number | undefined;
  status?: ResultOf<"status"> | undefined;
  /** Why a gateway that should be running does not answer. */
  error?: string | undefined;
}

export interface AgentSessions extends ListedAgent {
  path: string;
  count: number;
  recent: ResultOf<"status">["sessions"]["recent"];
  /** Messages that crashed several processes and were given up; their senders know. */
  givenUp: number;
  /** The agent has not yet read BOOTSTRAP.md. */
  bootstrapPending: boolean;
  /** Why the store cannot be read. */
  problem?: string | undefined;
}

export interface UsageRow {
  agentId: string;
  /** `provider/model`. */
  model: string;
  answers: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  costUsd: number;
}

/** `deep` includes the gateway's health; `all` means all sessions, health and usage. */
export type StatusDetail = Flags<"all" | "usage" | "deep">;

/** The period that usage covers. */
export const USAGE_DAYS = 30;
const DAY_MS = 86_400_000;
const RECENT = 10;

export async function gatherStatus(setup: Setup, { all, usage, deep }: StatusDetail): Promise<StatusReport> {
  const [agents, gateway] = await Promise.all([
    readAgents(setup, all === true ? undefined : RECENT),
    probeGateway(setup, deep === true || all === true),
  ]);
  if (usage !== true && all !== true) return { agents, ...gateway };
  const ids = agents.map(({ id }) => id);
  return { agents, ...gateway, usage: await readUsage(setup.home, ids, Date.now() - USAGE_DAYS * DAY_MS) };
}

async function probeGateway(setup: Setup, deep: boolean): Promise<Pick<StatusReport, "gateway" | "health">> {
  const startedAt = performance.now();
  const gateway = await findRunningGateway(setup);
  if (gateway === undefined) return { gateway: {} };
  const { url } = gateway;
  try {
    const found = await gateway.call("status", { limit: 1 });
    const latencyMs = Math.round(performance.now() - startedAt);
    const status = { ...found, channels: withIdleAccounts(found.channels, setup.config) };
    const health = deep ? await gateway.call("health", {}) : undefined;
    return { gateway: { url, latencyMs, status }, health };
  } catch (error) {
    return { gateway: { url, error: errorMessage(error) } };
  }
}

/** Limit for counting messages that were given up. */
const MAX_GIVEN_UP = 1000;

async function readAgents(setup: Setup, limit: number | undefined): Promise<AgentSessions[]> {
  return await Promise.all((await describeAgents(setup)).map(async (agent) => await readAgent(agent, setup, limit)));
}

/** A damaged store is reported as the agent's problem, so that the other agents are still shown. */
async function readAgent(agent: ListedAgent, setup: Setup, limit: number | undefined): Promise<AgentSessions> {
  const bootstrapPending = await fileExists(join(agent.workspace, "BOOTSTRAP.md"));
  const none = { ...agent, path: agent.agentDir, count: 0, recent: [], givenUp: 0, bootstrapPending };
  try {
    const { store } = await openAgent({ ...setup, agentId: agent.id, create: false });
    try {
      const { sessions, total } = await store.list({ limit });
      const now = Date.now();
      const recent = sessions.map((session) => toStatusRow(agent.id, session, now));
      const givenUp = (await store.inbox.givenUp(MAX_GIVEN_UP)).length;
      return { ...none, path: store.path, count: total, recent, givenUp };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (isStoreMissing(error)) return { ...none, path: String(error.data["path"]) };
    return { ...none, problem: errorMessage(error) };
  }
}

/** Tokens and costs from the agents' transcripts, most tokens first. Unreadable lines are skipped. */
async function readUsage(home: string, agentIds: readonly string[], since: number): Promise<UsageRow[]> {
  const rows = new Map<string, UsageRow>();
  for (const agentId of agentIds) {
    for (const path of await recentTranscripts(agentLayout(home, agentId).sessionsFolder, since)) {
      await addTranscript(rows, agentId, path, since);
    }
  }
  return [...rows.values()].toSorted((a, b) => b.input + b.output - (a.input + a.output));
}

async function recentTranscripts(folder: string, since: number): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
  const times = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0));
  return paths.filter((_, index) => (times[index] ?? 0) >= since);
}

async function addTranscript(rows: Map<string, UsageRow>, agentId: string, path: string, since: number): Promise<void> {
  const { readTranscript } = await import("../../transcript/reader.ts");
  for await (const item of readTranscript(path)) {
    if (!("entry" in item) || item.entry.type !== "message") continue;
    const { message } = item.entry;
    if (message.role !== "assistant" || message.usage === undefined || message.timestamp < since) continue;
    const { usage, provider, model = "unknown" } = message;
    const name = provider === undefined ? model : `${provider}/${model}`;
    const row = rows.get(`${agentId} ${name}`) ?? { agentId, model: name, ...NO_USAGE };
    row.answers += 1;
    row.input += amount(usage.input);
    row.output += amount(usage.output);
    row.cacheRead += amount(usage.cacheRead);
    row.cacheWrite += amount(usage.cacheWrite);
    row.costUsd += isRecord(usage.cost) ? amount(usage.cost.total) : 0;
    rows.set(`${agentId} ${name}`, row);
  }
}

const NO_USAGE = { answers: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };

/** Transcripts of other tools may lack some numbers. */
function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
