/** `holdfast status`: agents and their sessions from the stores, and the gateway if one runs. */
import { arch, platform, release } from "node:os";
import { closing } from "../../base/async.ts";
import { DAY_MS } from "../../base/clock.ts";
import { ERROR_KINDS, errorMessage } from "../../base/errors.ts";
import { packageVersion } from "../../base/package.ts";
import { channelLine, isRepeated, stateMark, withIdleAccounts } from "../channel-view.ts";
import type { Flags } from "../command.ts";
import { type Setup, isStoreMissing, loadSetup, withExistingAgent } from "../context.ts";
import {
  flexible,
  formatAge,
  formatTokens,
  print,
  printJson,
  printStyled,
  printTable,
  right,
  style,
  waitingLine,
} from "../output.ts";
import { printableLine } from "../../base/text.ts";
import { join } from "node:path";
import { fileExists } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import { findRunningGateway } from "../gateway-client.ts";
import { type ListedAgent, describeAgents } from "./agents.ts";
import { openAgent } from "../../compose/agent.ts";
import { toStatusRow } from "../../rpc/methods/status.ts";

export async function status(options: StatusOptions): Promise<void> {
  const setup = await loadSetup();
  using _line = waitingLine("Reading the stores");
  const report = await gatherStatus(setup, options);
  if (options.json === true) printJson(toJson(setup, report));
  else printStatus(setup, report, options);
  if (isDegraded(report)) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

function isDegraded({ agents, gateway, health }: StatusReport): boolean {
  const problems = gateway.status?.problems ?? [];
  if (agents.some(({ problem }) => problem !== undefined) || gateway.error !== undefined) return true;
  return problems.length > 0 || health?.ok === false;
}

/** OpenClaw's shape, without the parts that Holdfast lacks. */
function toJson({ config }: Setup, { agents, gateway, usage, health }: StatusReport): object {
  const recent = agents.flatMap((agent) => agent.recent).toSorted((a, b) => b.updatedAt - a.updatedAt);
  const count = agents.reduce((sum, agent) => sum + agent.count, 0);
  const model = config.agents[config.defaultAgent]?.model;
  return {
    schema: 1,
    version: packageVersion(),
    channelSummary: (gateway.status?.channels ?? []).map((row) => channelLine(row)),
    sessions: {
      paths: agents.map(({ path }) => path),
      count,
      defaults: model === undefined ? {} : { model },
      recent,
      byAgent: agents.map(({ id: agentId, path, count: sessions, recent: newest }) => {
        return { agentId, path, count: sessions, recent: newest };
      }),
    },
    os: {
      platform: platform(),
      arch: arch(),
      release: release(),
      label: `${platform()} ${release()} (${arch()})`,
    },
    gateway: gatewayJson(gateway),
    agents: {
      defaultId: config.defaultAgent,
      agents: agents.map((agent) => agentJson(agent)),
      totalSessions: count,
      messagesGivenUp: agents.reduce((sum, agent) => sum + agent.givenUp, 0),
      bootstrapPendingCount: agents.filter(({ bootstrapPending }) => bootstrapPending).length,
    },
    usage,
    health,
  };
}

function gatewayJson({ url, latencyMs, status: found, error }: GatewayProbe): object {
  return {
    mode: "local",
    url: url ?? null,
    urlSource: "local loopback",
    misconfigured: false,
    reachable: found !== undefined,
    connectLatencyMs: latencyMs ?? null,
    self: found === undefined ? null : { version: found.version, pid: found.pid, uptimeMs: found.uptimeMs },
    turns: found?.turns ?? null,
    cluster: found?.cluster,
    error: error ?? found?.problems[0] ?? null,
  };
}

function agentJson(agent: AgentSessions): object {
  const { id, engine, workspace, bootstrapPending, path, count, recent, givenUp, problem } = agent;
  const lastUpdatedAt = recent[0]?.updatedAt;
  return {
    id,
    engine,
    workspaceDir: workspace,
    bootstrapPending,
    sessionsPath: path,
    sessionsCount: count,
    messagesGivenUp: givenUp,
    lastUpdatedAt: lastUpdatedAt ?? null,
    lastActiveAgeMs: lastUpdatedAt === undefined ? null : Date.now() - lastUpdatedAt,
    problem,
  };
}

/** The gateway and its problems first, then agents, sessions and usage. */
function printStatus({ config }: Setup, report: StatusReport, options: Flags<"all">): void {
  printGateway(report);
  printCluster(report);
  printAgents(report);
  if (config.handoff.enabled) print(`Hand-off model: ${describeHandoffModel(config.handoff.model)}`);
  printGivenUp(report);
  printSessions(report, options);
  if (report.usage !== undefined) printUsage(report.usage);
}

function printGateway({ gateway: { url, status, latencyMs, error }, health, agents }: StatusReport): void {
  if (error !== undefined) printStyled(`${style("red", "✗")} Gateway at ${url}: ${printableLine(error)}`);
  else if (status === undefined) print("Gateway: not running; start it with `holdfast gateway`.");
  else {
    const { turns, uptimeMs, pid } = status;
    print(`Gateway: ${url}, up ${formatAge(uptimeMs)}, process ${pid}, reached in ${latencyMs} ms`);
    print(`Turns: ${turns.running.length} running, ${turns.queued} waiting, ${turns.counts.failed} failed`);
    for (const row of status.channels) printStyled(`${stateMark(row.status)} ${printableLine(channelLine(row))}`);
  }
  const shown = [...(status?.channels ?? []).map((row) => row.status.text), ...agents.map(({ problem }) => problem)];
  const others = (health ?? status)?.problems.filter((problem) => !shown.some((text) => isRepeated(text, [problem])));
  for (const problem of others ?? []) printStyled(`${style("red", "✗")} ${printableLine(problem)}`);
}

function printCluster({ gateway: { status } }: StatusReport): void {
  if (status?.cluster === undefined) return;
  const { nodes, oldestQueuedMs, takeOvers, problems } = status.cluster;
  const oldest =
    oldestQueuedMs === undefined ? "nothing waits" : `the oldest message waits ${formatAge(oldestQueuedMs)}`;
  print(`\nNodes (${takeOvers} take-overs in 24 hours, ${oldest}):`);
  printTable(
    [flexible("NODE"), "VERSION", right("UP"), right("SEEN"), right("TURNS"), "CONNECTED TO"],
    nodes.map(({ host, pid, version, isAlive, uptimeMs, seenMs, running, connections }) => [
      `${host} ${pid}${isAlive ? "" : " (dead)"}`,
      version,
      formatAge(uptimeMs),
      formatAge(seenMs),
      String(running),
      connections.join(", "),
    ]),
  );
  for (const problem of problems) printStyled(`${style("yellow", "!")} ${printableLine(problem)}`);
}

function printAgents({ agents }: StatusReport): void {
  print("");
  printTable(
    ["AGENT", "ENGINE", "MODEL", right("SESSIONS"), ""],
    agents.map(({ id, isDefault, engine, model, count, problem }) => [
      isDefault ? `${id} *` : id,
      engine,
      model ?? "",
      String(count),
      problem ?? "",
    ]),
  );
}

function describeHandoffModel(model = "auto"): string {
  if (model !== "auto") return printableLine(model);
  return "auto (Claude Code or the agent's own model, whichever had the conversation)";
}

function printGivenUp({ agents }: StatusReport): void {
  const givenUp = agents.reduce((sum, agent) => sum + agent.givenUp, 0);
  if (givenUp === 0) return;
  const messages = givenUp === 1 ? "1 message was" : `${givenUp} messages were`;
  printStyled(`${style("yellow", "!")} ${messages} given up; \`holdfast doctor\` shows where.`);
}

function printSessions({ agents }: StatusReport, { all }: Flags<"all">): void {
  const sessions = agents.flatMap((agent) => agent.recent).toSorted((a, b) => b.updatedAt - a.updatedAt);
  if (sessions.length === 0) return;
  print("");
  printTable(
    [flexible("SESSION"), right("AGE"), right("TOKENS"), right("FULL"), "MODEL"],
    (all === true ? sessions : sessions.slice(0, 10)).map((session) => [
      session.key,
      formatAge(session.age),
      formatTokens(session.totalTokens),
      session.percentUsed === undefined ? "" : `${session.percentUsed} %`,
      session.model ?? "",
    ]),
  );
}

function printUsage(rows: readonly UsageRow[]): void {
  print(`\nThe last ${USAGE_DAYS} days:`);
  printTable(
    ["AGENT", flexible("MODEL"), ...["ANSWERS", "INPUT", "OUTPUT", "CACHED", "USD"].map(right)],
    rows.map((row) => [
      row.agentId,
      row.model,
      String(row.answers),
      formatTokens(row.input),
      formatTokens(row.output),
      formatTokens(row.cacheRead + row.cacheWrite),
      row.costUsd === 0 ? "" : row.costUsd.toFixed(2),
    ]),
  );
}

interface StatusReport {
  agents: AgentSessions[];
  gateway: GatewayProbe;
  usage?: UsageRow[] | undefined;
  health?: ResultOf<"health"> | undefined;
}

/** Without a status when no gateway answers. */
interface GatewayProbe {
  url?: string | undefined;
  latencyMs?: number | undefined;
  status?: ResultOf<"status"> | undefined;
  /** Why a gateway that should be running does not answer. */
  error?: string | undefined;
}

interface AgentSessions extends ListedAgent {
  path: string;
  count: number;
  recent: ResultOf<"status">["sessions"]["recent"];
  /** Messages that crashed several processes and were given up; their senders know. */
  givenUp: number;
  /** The agent has not yet read BOOTSTRAP.md. */
  bootstrapPending: boolean;
  problem?: string | undefined;
}

/** `deep` includes the gateway's health; `all` means all sessions, health and usage. */
type StatusOptions = Flags<"json" | "all" | "usage" | "deep">;

const USAGE_DAYS = 30;
const RECENT = 10;

async function gatherStatus(setup: Setup, { all, usage, deep }: StatusOptions): Promise<StatusReport> {
  const described = await describeAgents(setup);
  const [agents, gateway] = await Promise.all([
    Promise.all(described.map(async (agent) => await readAgent(agent, setup, all === true ? undefined : RECENT))),
    probeGateway(setup, deep === true || all === true),
  ]);
  if (usage !== true && all !== true) return { agents, ...gateway };
  const ids = agents.filter(({ problem }) => problem === undefined).map(({ id }) => id);
  return { agents, ...gateway, usage: await readUsage(setup, ids, Date.now() - USAGE_DAYS * DAY_MS) };
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

const MAX_GIVEN_UP = 1000;

/** A damaged store is reported as the agent's problem, so that the other agents are still shown. */
async function readAgent(agent: ListedAgent, setup: Setup, limit: number | undefined): Promise<AgentSessions> {
  const bootstrapPending = await fileExists(join(agent.workspace, "BOOTSTRAP.md"));
  const none = { ...agent, path: agent.agentDir, count: 0, recent: [], givenUp: 0, bootstrapPending };
  try {
    const { store } = await openAgent({ ...setup, agentId: agent.id, create: false });
    await using _closing = closing(store);
    const { sessions, total } = await store.list({ limit });
    const now = Date.now();
    const recent = sessions.map((session) => toStatusRow(agent.id, session, now));
    const givenUp = (await store.inbox.givenUp(MAX_GIVEN_UP)).length;
    return { ...none, path: store.location, count: total, recent, givenUp };
  } catch (error) {
    if (isStoreMissing(error)) return { ...none, path: String(error.data["path"]) };
    return { ...none, problem: errorMessage(error) };
  }
}

/** Tokens and costs from the agents' transcripts, most tokens first. Unreadable lines are skipped. */
async function readUsage(setup: Setup, agentIds: readonly string[], since: number): Promise<UsageRow[]> {
  const rows = new Map<string, UsageRow>();
  for (const agentId of agentIds) {
    await withExistingAgent(setup, agentId, async ({ store: { transcripts } }) => {
      for (const name of await transcripts.list("sessions", { changedSince: since })) {
        await addTranscript(rows, agentId, await transcripts.locate(name), since);
      }
    });
  }
  return [...rows.values()].toSorted((a, b) => b.input + b.output - (a.input + a.output));
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

type UsageRow = { agentId: string; /** `provider/model`. */ model: string } & typeof NO_USAGE;

const NO_USAGE = { answers: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: 0 };

/** Transcripts of other tools may lack some numbers. */
function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
