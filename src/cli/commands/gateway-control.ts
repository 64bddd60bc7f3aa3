/** `holdfast gateway status|link|start|stop|restart` and `holdfast health`: the running gateway, from outside. */
import { setTimeout as delay } from "node:timers/promises";
import { ERROR_KINDS, HoldfastError, systemErrorCode } from "../../base/errors.ts";
import { programFile } from "../../base/package.ts";
import { processState } from "../../base/processes.ts";
import { gatewayLayout } from "../../config/layout.ts";
import { requireGateway } from "../../gateway/gateway-files.ts";
import { createHttpCaller } from "../../rpc/client.ts";
import type { ResultOf } from "../../rpc/contract.ts";
import { channelLabel, channelLine, isRepeated, toChannelRecord, withIdleAccounts } from "../channel-view.ts";
import type { Flags } from "../command.ts";
import { type Setup, loadSetup } from "../context.ts";
import { formatAge, formatBytes, plural, print, printJson, printStyled, style, talk, waitingLine } from "../output.ts";
import {
  type GatewayHandle,
  SIGN_IN,
  ensureGateway,
  findRunningGateway,
  startGatewayProcess,
} from "../gateway-client.ts";
import { printableLine } from "../../base/text.ts";

export async function gatewayStatus(options: Flags<"json">): Promise<void> {
  const setup = await loadSetup();
  const gateway = await findRunningGateway(setup);
  if (gateway === undefined) {
    if (options.json === true) printJson({ schema: 1, running: false });
    else talk("The gateway is not running. Start it with `holdfast gateway start`.");
    process.exitCode = ERROR_KINDS["not-found"].exitCode;
    return;
  }
  const status = await gateway.call("status", { limit: 1 });
  const { version, startedAt, uptimeMs, pid, memory, problems, turns } = status;
  const { url } = gateway;
  const channels = withIdleAccounts(status.channels, setup.config);
  if (options.json === true) {
    return printJson({ schema: 1, running: true, url, pid, version, startedAt, uptimeMs, memory, turns, channels });
  }
  print(`The gateway runs at ${url} (version ${version}, process ${pid}, up ${formatAge(uptimeMs)}).`);
  print(`Web page: ${process.stdout.isTTY ? gateway.pageLink : SIGN_IN}`);
  print(`Turns: ${turns.running.length} running, ${turns.queued} waiting, ${turns.counts.turns} in total.`);
  print(`Memory: ${formatBytes(memory.rssBytes)}. Log: ${gatewayLayout(setup.home).logFile}`);
  for (const problem of problems) printStyled(`${style("red", "✗")} ${printableLine(problem)}`);
  for (const row of channels) print(channelLine(row));
}

/** A separate command because the link contains the token, which must not end up in logs. */
export async function gatewayLink(options: Flags<"json">): Promise<void> {
  const gateway = await findRunningGateway(await loadSetup());
  if (gateway === undefined) throw notRunning("Start it with `holdfast gateway start`.");
  const { url, pageLink: link } = gateway;
  if (options.json === true) printJson({ schema: 1, url, link });
  else print(link);
}

function notRunning(hint: string): HoldfastError {
  return new HoldfastError("not-found", "gateway-not-running", "The gateway is not running", { hint });
}

export async function startInBackground(options: Flags<"json">): Promise<void> {
  const setup = await loadSetup();
  const running = await findRunningGateway(setup);
  const { url, process: started } = running ?? (await ensureGateway(setup));
  const wasRunning = running !== undefined;
  if (options.json === true) printJson({ schema: 1, ok: true, url, pid: started.pid, wasRunning });
  else print(wasRunning ? `The gateway is already running at ${url}` : `The gateway listens at ${url}`);
}

export async function restartGateway(options: Flags<"json">): Promise<void> {
  const setup = await loadSetup();
  const previous = await findRunningGateway(setup);
  const { url, process: started } =
    previous === undefined ? await ensureGateway(setup) : await startAgain(previous, setup);
  if (options.json === true) {
    printJson({ schema: 1, ok: true, url, pid: started.pid, previousPid: previous?.process.pid ?? null });
  } else print(`The gateway listens at ${url}`);
}

async function startAgain(previous: GatewayHandle, setup: Setup): Promise<GatewayHandle> {
  await stop(previous, setup);
  return await startGatewayProcess({
    home: setup.home,
    find: async () => await findRunningGateway(setup),
    program: { file: programFile(), args: ["gateway", ...argsOf(previous)] },
  });
}

/** A gateway started with `--port 0` keeps the port that it got, so that open pages reconnect. */
function argsOf({ args = [], port }: GatewayHandle): string[] {
  return args.map((arg, index) => (args[index - 1] === "--port" && arg === "0" ? String(port) : arg));
}

export async function stopGateway(options: Flags<"json">): Promise<void> {
  const setup = await loadSetup();
  const gateway = await findRunningGateway(setup);
  if (gateway === undefined) throw notRunning("There is nothing to stop.");
  await stop(gateway, setup);
  const { pid } = gateway.process;
  if (options.json === true) printJson({ schema: 1, ok: true, pid });
  else print(`The gateway (process ${pid}) has stopped.`);
}

const POLL_MS = 50;
/** Added to the time that running turns have to finish. */
const GRACE_MS = 15_000;

/** Turns that do not finish in time are continued by the next gateway. */
async function stop({ process: identity }: GatewayHandle, { config }: Setup): Promise<void> {
  const { pid } = identity;
  terminate(pid);
  const deadline = performance.now() + config.turns.drainSeconds * 1000 + GRACE_MS;
  using _line = waitingLine("Waiting for running turns to finish");
  while (processState(identity) === "alive") {
    if (performance.now() > deadline) {
      throw new HoldfastError("timeout", "gateway-not-stopped", `The gateway (process ${pid}) does not stop`, {
        hint: `Run \`kill ${pid}\` to end it at once; no admitted message is lost.`,
        data: { pid },
      });
    }
    await delay(POLL_MS);
  }
}

function terminate(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if (systemErrorCode(error) === "ESRCH") return;
    throw new HoldfastError("forbidden", "gateway-not-yours", `You may not stop process ${pid}`, {
      hint: "It belongs to another user: stop it as that user.",
      cause: error,
    });
  }
}

type Health = ResultOf<"health">;

export async function health(options: Flags<"json">): Promise<void> {
  const gateway = await requireGateway((await loadSetup()).home);
  const report = await createHttpCaller(gateway).call("health", {});
  if (options.json === true) printJson(healthJson(report));
  else printHealth(report, gateway.url);
  if (!report.ok) process.exitCode = ERROR_KINDS.degraded.exitCode;
}

/** OpenClaw's shape where it has one. */
function healthJson({ ok, ts, durationMs, channels, defaultAgentId, agents, problems }: Health): object {
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

function printHealth({ ok, channels, agents, problems }: Health, url: string): void {
  print(ok ? `The gateway at ${url} is healthy.` : `The gateway at ${url} has problems:`);
  for (const problem of problems) printStyled(`  ${style("red", "✗")} ${printableLine(problem)}`);
  for (const row of channels.filter(({ status }) => !isRepeated(status.text, problems))) print(`  ${channelLine(row)}`);
  for (const { agentId, sessions } of agents.filter(({ problem }) => problem === undefined)) {
    print(`  Agent ${agentId}: ${plural(sessions?.count ?? 0, "session")}`);
  }
}
