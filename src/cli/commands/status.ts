/** `holdfast status`: agents and sessions from their stores, the gateway and its channels if one runs. */
import { arch, platform, release } from "node:os";
import { ERROR_KINDS } from "../../base/errors.ts";
import { packageVersion } from "../../base/package.ts";
import { channelLine } from "../channel-view.ts";
import { type Setup, loadSetup } from "../context.ts";
import { printJson } from "../output.ts";
import type { AgentSessions } from "../status/agent-sessions.ts";
import { printStatus } from "../status/print-status.ts";
import { type GatewayProbe, type StatusDetail, type StatusReport, gatherStatus } from "../status/status-report.ts";
import { waitingLine } from "../waiting-line.ts";

export interface StatusOptions extends StatusDetail {
  json?: boolean;
}

export async function status(options: StatusOptions): Promise<void> {
  const setup = await loadSetup();
  using _line = waitingLine("Looking");
  const report = await gatherStatus(setup, options);
  if (options.json === true) printJson(toJson(setup, report));
  else printStatus(report, options);
  if (isDegraded(report)) process.exitCode = ERROR_KINDS.degraded.exitCode;
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
