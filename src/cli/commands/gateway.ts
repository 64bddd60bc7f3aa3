/** `holdfast gateway`: the gateway in this terminal, until it is told to stop. */
import { constants } from "node:os";
import { HoldfastError } from "../../base/errors.ts";
import { createLogger } from "../../base/log.ts";
import type { ChannelStatus } from "../../channels/channel.ts";
import { channelLine } from "../channel-view.ts";
import { type Setup, loadSetup } from "../context.ts";
import { print, printJson, talk } from "../output.ts";
import { SIGN_IN, findRunningGateway } from "../rpc/gateway-client.ts";
import { type ListedAgent, describeAgents } from "./agents.ts";

export interface GatewayOptions {
  port?: string;
  noChannels?: boolean;
  json?: boolean;
}

export async function runGateway(options: GatewayOptions): Promise<void> {
  const setup = await loadSetup();
  const port = options.port === undefined ? setup.config.gateway.port : parsePort(options.port);
  await refuseSecond(setup);
  const agents = await describeAgents(setup);
  try {
    await serve(setup, { ...options, port, agents });
  } finally {
    // A connection that somebody's library forgot must not keep what has stopped, or could not start.
    setTimeout(() => process.exit(), FORGOTTEN_MS).unref();
  }
}

const FORGOTTEN_MS = 2000;

interface Serving extends Pick<GatewayOptions, "noChannels" | "json"> {
  port: number;
  agents: readonly ListedAgent[];
}

async function serve(setup: Setup, options: Serving): Promise<void> {
  const { openGateway } = await import("../../compose-gateway.ts");
  const teller = createChannelTeller();
  const gateway = await openGateway({
    ...setup,
    port: options.port,
    onlyOne: true,
    logger: createLogger({ level: setup.config.log.level }),
    channels: options.noChannels !== true,
    onChannelStatus: teller.tell,
  });
  // Before anybody is told that it listens: they may stop it at once.
  const stopped = untilStopped(setup.config.turns.drainSeconds, async () => {
    teller.silence();
    await gateway.close();
  });
  announce(gateway, options);
  await stopped;
}

/** On another port it would run, but no command would find it. */
async function refuseSecond(setup: Setup): Promise<void> {
  const running = await findRunningGateway(setup);
  if (running === undefined) return;
  const { alreadyRunning } = await import("../../gateway/start-gateway.ts");
  throw alreadyRunning(running);
}

function parsePort(raw: string): number {
  const port = Number(raw);
  if (/^\d{1,5}$/.test(raw) && port <= 65_535) return port;
  throw new HoldfastError("usage", "invalid-option", `--port takes a number from 0 to 65535, not "${raw}"`, {
    hint: "0 takes any port that is free.",
  });
}

function announce({ url, tokenLink }: { url: string; tokenLink: string }, options: Serving): void {
  const agents = options.agents.map(({ id, engine, model }) => ({ id, engine, model }));
  if (options.json === true) {
    printJson({ schema: 1, listening: true, url, pid: process.pid, agents });
    return;
  }
  print(`Holdfast listens at ${url}`);
  print(`The page: ${process.stdout.isTTY ? tokenLink : SIGN_IN}`);
  for (const { id, engine, model } of agents) {
    if (engine === "echo") talk(`Agent ${id}: no model is configured, the echo engine answers.`);
    else talk(`Agent ${id}: ${engine}${model === undefined ? "" : `, ${model}`}`);
  }
  if (options.noChannels === true) talk("Channels stay off.");
  talk("Ctrl-C stops it.");
}

interface ChannelTeller {
  readonly tell: (channel: string, accountId: string, status: ChannelStatus) => void;
  /** Channels that are stopped with the gateway are no news. */
  readonly silence: () => void;
}

/** Each state once; a code that is to be scanned is drawn where a person can scan it. */
function createChannelTeller(): ChannelTeller {
  const told = new Map<string, string>();
  let isSilent = false;
  return {
    tell: (channel, accountId, status) => {
      const line = channelLine({ channel, accountId, status });
      const name = `${channel} ${accountId}`;
      const shown = `${line} ${status.loginCode ?? ""}`;
      // The page is there as long as the gateway is.
      if (isSilent || channel === "web" || told.get(name) === shown) return;
      told.set(name, shown);
      talk(line);
      if (status.loginCode === undefined) return;
      if (process.stderr.isTTY) void showCode(status.loginCode);
      else talk("  `holdfast channels login` shows the code in a terminal.");
    },
    silence: () => {
      isSilent = true;
    },
  };
}

async function showCode(code: string): Promise<void> {
  const { paintQrCode } = await import("../qr/paint-qr-code.ts");
  process.stderr.write(`${paintQrCode(code)}\n`);
}

/** The first signal lets running turns end; the second one does not wait for them. Nothing admitted is lost. */
async function untilStopped(drainSeconds: number, close: () => Promise<void>): Promise<void> {
  const { promise: stopped, resolve, reject } = Promise.withResolvers<void>();
  let isStopping = false;
  const onSignal = (signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void => {
    if (isStopping) process.exit(128 + constants.signals[signal]);
    isStopping = true;
    talk(`Stopping; running turns get ${drainSeconds} seconds. The same again ends it at once.`);
    close().then(resolve, reject);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => onSignal(signal));
  await stopped;
  talk("Stopped.");
}
