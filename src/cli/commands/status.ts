/** `holdfast status`: agents, sessions, channels and the gateway at a glance. */
import { arch, platform, release } from "node:os";
import { ERROR_KINDS } from "../../base/errors.ts";
import { packageVersion } from "../../base/package.ts";
import { channelLine, isRepeated, stateMark } from "../channel-view.ts";
import { type Setup, loadSetup } from "../context.ts";
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
import {
  type AgentSessions,
  type GatewayProbe,
  type StatusDetail,
  type StatusReport,
  USAGE_DAYS,
  type UsageRow,
  gatherStatus,
} from "./status-report.ts";
import { printableLine } from "../../base/text.ts";

export interface StatusOptions extends StatusDetail {
  json?: boolean | undefined;
}

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
function printStatus({ config }: Setup, report: StatusReport, options: { all?: boolean | undefined }): void {
  printGateway(report);
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

function printSessions({ agents }: StatusReport, { all }: { all?: boolean | undefined }): void {
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
