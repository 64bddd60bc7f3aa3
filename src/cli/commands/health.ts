/** `holdfast health`: what the gateway says of itself, in OpenClaw's JSON shape where that has one. */
import { ERROR_KINDS } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import { loadSetup } from "../context.ts";
import { print, printJson, printStyled, style } from "../output.ts";
import { requireGateway } from "../rpc/gateway-client.ts";
import { channelLabel, channelLine, isTold, toChannelRecord } from "../channel-view.ts";

type Health = ResultOf<"health">;

export async function health(options: { json?: boolean }): Promise<void> {
  const gateway = await requireGateway(await loadSetup());
  const report = await gateway.call("health", {});
  if (options.json === true) printJson(toJson(report));
  else printReport(report, gateway.url);
  if (!report.ok) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

function toJson({ ok, ts, durationMs, channels, defaultAgentId, agents, problems }: Health): object {
  const order = [...new Set(channels.map(({ channel }) => channel))];
  return {
    schema: 1,
    ok,
    ts,
    durationMs,
    channels: toChannelRecord(channels),
    channelOrder: order,
    channelLabels: Object.fromEntries(order.map((name) => [name, channelLabel(name)])),
    defaultAgentId,
    agents,
    sessions: agents.find(({ isDefault }) => isDefault)?.sessions,
    problems,
  };
}

function printReport({ ok, channels, agents, problems }: Health, url: string): void {
  print(ok ? `The gateway at ${url} is well.` : `The gateway at ${url} has problems:`);
  for (const problem of problems) printStyled(`  ${style("red", "✗")} ${printableLine(problem)}`);
  for (const row of channels.filter(({ status }) => !isTold(status.text, problems))) print(`  ${channelLine(row)}`);
  for (const { agentId, sessions } of agents.filter(({ problem }) => problem === undefined)) {
    const count = sessions?.count ?? 0;
    print(`  Agent ${agentId}: ${count} ${count === 1 ? "session" : "sessions"}`);
  }
}
