/** `holdfast gateway`: runs the gateway in this terminal until it is stopped. */
import { constants } from "node:os";
import { ERROR_KINDS } from "../../base/errors.ts";
import { ensurePrivateFolder } from "../../base/files.ts";
import { createLogger } from "../../base/log.ts";
import type { ChannelStatus } from "../../channels/channel.ts";
import { gatewayLayout } from "../../config/layout.ts";
import { channelLine } from "../channel-view.ts";
import { type Flags, type Texts, invalidOption } from "../command.ts";
import { type Setup, loadSetup } from "../context.ts";
import { print, printJson, talk } from "../output.ts";
import { SIGN_IN, findRunningGateway } from "../gateway-client.ts";
import { type ListedAgent, describeAgents } from "./agents.ts";
import { createLogWriter } from "./gateway-log.ts";
import type { OpenedGateway } from "../../compose/turns.ts";

type GatewayOptions = Flags<"json" | "noChannels"> & Texts<"port">;

const EXIT_AFTER_MS = 2000;

export async function runGateway(options: GatewayOptions): Promise<void> {
  const { origins, ...setup } = await loadSetup();
  const port = options.port === undefined ? undefined : parsePort(options.port);
  await refuseSecond(setup);
  const agents = await describeAgents(setup);
  try {
    // Other programs may rely on a port that was chosen on purpose, so only the default one is replaced.
    const orFreePort = port === undefined && !origins.has("gateway.port");
    await serve(setup, { ...options, port, orFreePort, agents, args: toArgs(options) });
  } finally {
    // A connection that a library left open must not keep the process alive.
    setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
  }
}

function parsePort(raw: string): number {
  const port = Number(raw);
  if (/^\d{1,5}$/.test(raw) && port <= 65_535) return port;
  throw invalidOption(`--port must be a number from 0 to 65535, not "${raw}"`, "0 picks a free port.");
}

/** A second gateway could run on another port, but no command would find it. */
async function refuseSecond(setup: Setup): Promise<void> {
  const running = await findRunningGateway(setup);
  if (running === undefined) return;
  const { alreadyRunning } = await import("../../gateway/start-gateway.ts");
  throw alreadyRunning(running);
}

function toArgs({ port, noChannels }: GatewayOptions): string[] {
  return [...(port === undefined ? [] : ["--port", port]), ...(noChannels === true ? ["--no-channels"] : [])];
}

interface ServeOptions extends Pick<GatewayOptions, "noChannels" | "json"> {
  port: number | undefined;
  orFreePort: boolean;
  args: readonly string[];
  agents: readonly ListedAgent[];
}

async function serve(setup: Setup, options: ServeOptions): Promise<void> {
  const { openGateway } = await import("../../compose/turns.ts");
  const channels = createChannelReporter();
  await ensurePrivateFolder(setup.home);
  const write = createLogWriter(gatewayLayout(setup.home).logFile);
  const gateway = await openGateway({
    ...setup,
    port: options.port,
    orFreePort: options.orFreePort,
    onlyOne: true,
    onHomeGone: exitWithoutHome,
    args: options.args,
    logger: createLogger({ level: setup.config.log.level, write }),
    channels: options.noChannels !== true,
    onChannelStatus: channels.report,
  });
  // Handlers first: a program may stop the gateway as soon as it reads the announcement.
  const stopped = untilStopped(setup.config.turns.drainSeconds, async () => {
    channels.silence();
    await gateway.close();
  });
  announce(gateway, options);
  await stopped;
}

/** Exits at once: closing would write into the deleted folder and create it again. */
function exitWithoutHome(reason: string): void {
  talk(`${reason}. The gateway exits.`);
  process.exit(ERROR_KINDS["not-found"].exitCode);
}

type Announced = Pick<OpenedGateway, "url" | "port" | "takenPort" | "tokenLink">;

function announce({ url, port, takenPort, tokenLink }: Announced, options: ServeOptions): void {
  if (takenPort !== undefined) talk(`Port ${takenPort} is in use by another program; using ${port}.`);
  const agents = options.agents.map(({ id, engine, model }) => ({ id, engine, model }));
  if (options.json === true) {
    printJson({ schema: 1, listening: true, url, pid: process.pid, agents });
    return;
  }
  print(`Holdfast listens at ${url}`);
  print(`Web page: ${process.stdout.isTTY ? tokenLink : SIGN_IN}`);
  for (const { id, engine, model } of agents) {
    if (engine === "echo") talk(`Agent ${id}: no model is configured, the echo engine answers.`);
    else talk(`Agent ${id}: ${engine}${model === undefined ? "" : `, ${model}`}`);
  }
  if (options.noChannels === true) talk("Channels are off.");
  talk("Press Ctrl-C to stop.");
}

/** Prints each change of state once. A login code is drawn if stderr is a terminal. */
function createChannelReporter() {
  const reported = new Map<string, string>();
  let isSilent = false;
  return {
    report: (channel: string, accountId: string, status: ChannelStatus): void => {
      const line = channelLine({ channel, accountId, status });
      const name = `${channel} ${accountId}`;
      const shown = `${line} ${status.loginCode ?? ""}`;
      if (isSilent || channel === "web" || reported.get(name) === shown) return;
      reported.set(name, shown);
      talk(line);
      if (status.loginCode === undefined) return;
      if (process.stderr.isTTY) void drawCode(status.loginCode);
      else talk("  Run `holdfast channels login` in a terminal to see the code.");
    },
    /** Prints nothing more: while the gateway stops, its channels stop too. */
    silence: (): void => {
      isSilent = true;
    },
  };
}

async function drawCode(code: string): Promise<void> {
  const { renderQrCode } = await import("../channel-view.ts");
  process.stderr.write(`${await renderQrCode(code)}\n`);
}

/** The first signal lets running turns finish; the second one exits at once. Nothing admitted is lost. */
async function untilStopped(drainSeconds: number, close: () => Promise<void>): Promise<void> {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<void>();
  let isStopping = false;
  const onSignal = (signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void => {
    if (isStopping) process.exit(128 + constants.signals[signal]);
    isStopping = true;
    talk(`Stopping. Running turns have ${drainSeconds} seconds to finish; Ctrl-C again exits at once.`);
    close().then(resolve, reject);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => onSignal(signal));
  await stopped;
  talk("Stopped.");
}
