/** The status for a person: what is wrong first, then what there is. */
import { channelLine, isTold, stateMark } from "../channel-view.ts";
import { formatAge, formatTokens, print, printStyled, printTable, style } from "../output.ts";
import { printableLine } from "../../base/printable.ts";
import { type StatusReport, USAGE_DAYS } from "./status-report.ts";
import type { UsageRow } from "./usage.ts";

export function printStatus(report: StatusReport, options: { all?: boolean }): void {
  printGateway(report);
  printAgents(report);
  printSessions(report, options);
  if (report.usage !== undefined) printUsage(report.usage);
}

function printGateway({ gateway: { url, status, latencyMs, error }, health, agents }: StatusReport): void {
  if (error !== undefined) printStyled(`${style("red", "✗")} Gateway at ${url}: ${printableLine(error)}`);
  else if (status === undefined) print("Gateway: none runs; `holdfast gateway` starts one.");
  else {
    const { turns, uptimeMs, pid } = status;
    print(`Gateway: ${url}, up ${formatAge(uptimeMs)}, process ${pid}, reached in ${latencyMs} ms`);
    print(`Turns: ${turns.running.length} running, ${turns.queued} waiting, ${turns.counts.failed} failed so far`);
    for (const row of status.channels) printStyled(`${stateMark(row.status)} ${printableLine(channelLine(row))}`);
  }
  const shown = [...(status?.channels ?? []).map((row) => row.status.text), ...agents.map(({ problem }) => problem)];
  const others = (health?.problems ?? []).filter((problem) => !shown.some((text) => isTold(text, [problem])));
  for (const problem of others) printStyled(`${style("red", "✗")} ${printableLine(problem)}`);
}

function printAgents({ agents }: StatusReport): void {
  print("");
  printTable(
    [{ title: "AGENT" }, { title: "ENGINE" }, { title: "MODEL" }, { title: "SESSIONS", align: "right" }, { title: "" }],
    agents.map(({ id, isDefault, engine, model, count, problem }) => [
      isDefault ? `${id} *` : id,
      engine,
      model ?? "",
      String(count),
      problem ?? "",
    ]),
  );
}

function printSessions({ agents }: StatusReport, { all }: { all?: boolean }): void {
  const sessions = agents.flatMap((agent) => agent.recent).toSorted((a, b) => b.updatedAt - a.updatedAt);
  if (sessions.length === 0) return;
  print("");
  printTable(
    [
      { title: "SESSION", flexible: true },
      { title: "AGE", align: "right" },
      { title: "TOKENS", align: "right" },
      { title: "FULL", align: "right" },
      { title: "MODEL" },
    ],
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
    [
      { title: "AGENT" },
      { title: "MODEL", flexible: true },
      { title: "ANSWERS", align: "right" },
      { title: "INPUT", align: "right" },
      { title: "OUTPUT", align: "right" },
      { title: "CACHED", align: "right" },
      { title: "USD", align: "right" },
    ],
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
