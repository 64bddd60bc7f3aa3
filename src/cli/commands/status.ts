/** `holdfast status`: agents and sessions from their stores, the gateway and its channels if one runs. */
import { arch, platform, release } from "node:os";
import { ERROR_KINDS, errorMessage } from "../../base/errors.ts";
import { packageVersion } from "../../base/package.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import { channelLine } from "../channel-view.ts";
import { type Setup, loadSetup } from "../context.ts";
import { withIdleAccounts } from "../idle-accounts.ts";
import { printJson } from "../output.ts";
import { findRunningGateway } from "../rpc/gateway-client.ts";
import { type AgentSessions, readAgents } from "../status/agent-sessions.ts";
import { USAGE_DAYS, printStatus } from "../status/print-status.ts";
import type { UsageRow } from "../status/usage.ts";
import { waitingLine } from "../waiting-line.ts";

export interface StatusOptions {
  json?: boolean;
  all?: boolean;
  usage?: boolean;
  deep?: boolean;
}

export interface StatusReport {
  agents: AgentSessions[];
  gateway: GatewayProbe;
  usage?: UsageRow[];
  health?: ResultOf<"health">;
}

/** What asking the gateway gave; without a status when none answers. */
export interface GatewayProbe {
  url?: string;
  latencyMs?: number;
  status?: ResultOf<"status">;
  /** Why one that should be there does not answer. */
  error?: string;
}

const RECENT = 10;

export async function status(options: StatusOptions): Promise<void> {
  const setup = await loadSetup();
  using _line = waitingLine("Looking");
  const report = await collect(setup, options);
  if (options.json === true) printJson(toJson(setup, report));
  else printStatus(report, options);
  if (isDegraded(report)) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

async function collect(setup: Setup, options: StatusOptions): Promise<StatusReport> {
  const [agents, gateway] = await Promise.all([
    readAgents(setup, options.all === true ? undefined : RECENT),
    probeGateway(setup, options.deep === true || options.all === true),
  ]);
  const ids = agents.map(({ id }) => id);
  if (options.usage !== true && options.all !== true) return { agents, ...gateway };
  const { readUsage } = await import("../status/usage.ts");
  return { agents, ...gateway, usage: await readUsage(setup.home, ids, Date.now() - USAGE_DAYS * DAY_MS) };
}

const DAY_MS = 86_400_000;

async function probeGateway(setup: Setup, deep: boolean): Promise<Pick<StatusReport, "gateway" | "health">> {
  const startedAt = performance.now();
  const gateway = await findRunningGateway(setup);
  if (gateway === undefined) return { gateway: {} };
  try {
    const found = await gateway.call("status", { limit: 1 });
    const latencyMs = Math.round(performance.now() - startedAt);
    const status = { ...found, channels: withIdleAccounts(found.channels, setup.config) };
    const health = deep ? await gateway.call("health", {}) : undefined;
    return { gateway: { url: gateway.url, latencyMs, status }, ...(health === undefined ? {} : { health }) };
  } catch (error) {
    return { gateway: { url: gateway.url, error: errorMessage(error) } };
  }
}

function isDegraded({ agents, gateway, health }: StatusReport): boolean {
  return agents.some(({ problem }) => problem !== undefined) || gateway.error !== undefined || health?.ok === false;
}

/** OpenClaw's shape, without the parts that Holdfast does not have. */
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
      byAgent: agents.map((agent) => ({
        agentId: agent.id,
        path: agent.path,
        count: agent.count,
        recent: agent.recent,
      })),
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
      bootstrapPendingCount: agents.filter(({ bootstrapPending }) => bootstrapPending).length,
    },
    ...(usage === undefined ? {} : { usage }),
    ...(health === undefined ? {} : { health }),
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
    error: error ?? null,
  };
}

function agentJson({ id, engine, workspace, bootstrapPending, path, count, recent, problem }: AgentSessions): object {
  const lastUpdatedAt = recent[0]?.updatedAt;
  return {
    id,
    engine,
    workspaceDir: workspace,
    bootstrapPending,
    sessionsPath: path,
    sessionsCount: count,
    lastUpdatedAt: lastUpdatedAt ?? null,
    lastActiveAgeMs: lastUpdatedAt === undefined ? null : Date.now() - lastUpdatedAt,
    ...(problem === undefined ? {} : { problem }),
  };
}
