/**
 * Finds the gateway of this home by its runtime file, calls it, and starts it in the background where a command needs
 * one. If two commands start a gateway at the same time, the second sees the first and is ended. With `--local`,
 * `chat` and `agent` answer in this process instead.
 */
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { nodeChildProcess } from "../base/builtin.ts";
import { HoldfastError, fileError } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { type LogLevel, type Logger, createLogger } from "../base/log.ts";
import { programFile } from "../base/package.ts";
import { gatewayLayout } from "../config/layout.ts";
import {
  type GatewayAccess,
  type RunningGateway,
  connectToGateway,
  findGatewayAccess,
} from "../gateway/gateway-files.ts";
import { type RpcCaller, createHttpCaller } from "../rpc/client.ts";
import type { ParamsOf, ResultOf } from "../rpc/contract.ts";
import type { RpcEvent } from "../rpc/protocol.ts";
import type { Flags } from "./command.ts";
import { appendToLog, rotateLog } from "./commands/gateway-log.ts";
import type { Setup } from "./context.ts";
import { talk, waitingLine } from "./output.ts";

export interface GatewayHandle extends RpcCaller, GatewayAccess {
  /** Opens the page and signs in. The token follows `#`, so it stays in the browser and reaches no log. */
  pageLink: string;
}

/** Printed instead of the link where output may be logged: the link gives full access. */
export const SIGN_IN = "`holdfast gateway link` prints the link that signs you in";

export async function findRunningGateway({ home }: Pick<Setup, "home">): Promise<GatewayHandle | undefined> {
  const access = await findGatewayAccess(home);
  if (access === undefined) return undefined;
  const { url, token } = access;
  return { ...access, ...createHttpCaller(access), pageLink: `${url}/#token=${token}` };
}

/** Starts one in the background if none runs. */
export async function ensureGateway(setup: Setup): Promise<GatewayHandle> {
  const found = await findRunningGateway(setup);
  if (found !== undefined) return found;
  const started = await startGatewayProcess({ home: setup.home, find: async () => await findRunningGateway(setup) });
  const { port: wanted } = setup.config.gateway;
  if (wanted !== 0 && started.port !== wanted) {
    talk(`Port ${wanted} is in use by another program; the gateway uses ${started.port}.`);
  }
  return started;
}

export interface StartOptions<Found extends Pick<RunningGateway, "process">> {
  home: string;
  /** Undefined until the gateway answers. */
  find: () => Promise<Found | undefined>;
  /** The program to start. Default: `holdfast gateway`. */
  program?: { file: string; args: readonly string[] } | undefined;
  /** Default: 20 s. */
  patienceMs?: number | undefined;
}

const PATIENCE_MS = 20_000;
const POLL_MS = 50;

/** The gateway outlives the command. Its stdout, which shows the token, is discarded. */
export async function startGatewayProcess<Found extends Pick<RunningGateway, "process">>(
  options: StartOptions<Found>,
): Promise<Found> {
  const { home, find, program = { file: programFile(), args: ["gateway"] }, patienceMs = PATIENCE_MS } = options;
  const { logFile } = gatewayLayout(home);
  await ensurePrivateFolder(home);
  const child = spawnDetached(home, logFile, program);
  const deadline = performance.now() + patienceMs;
  using _line = waitingLine("Waiting for the gateway to start");
  while (performance.now() < deadline) {
    // Checked before `find`: ours may have ended because another command's gateway runs, which `find` then returns.
    const hasEnded = child.hasEnded();
    const found = await find();
    if (found !== undefined) {
      if (found.process.pid !== child.pid) await child.end();
      else talk(`Started the gateway in the background (log: ${logFile}). Stop it with \`holdfast gateway stop\`.`);
      return found;
    }
    if (hasEnded) throw await couldNotStart(logFile, `it ended with ${child.outcome()}`);
    await delay(POLL_MS);
  }
  throw await couldNotStart(logFile, `it does not answer after ${Math.round(patienceMs / 1000)} seconds`);
}

function spawnDetached(home: string, logFile: string, { file, args }: { file: string; args: readonly string[] }) {
  const log = openLog(logFile);
  try {
    let failure: string | undefined;
    // Not in the current folder: its project settings apply only there, and the gateway would keep it busy.
    const child = nodeChildProcess().spawn(process.execPath, [...GATEWAY_FLAGS, file, ...args], {
      cwd: home,
      detached: true,
      stdio: ["ignore", "ignore", log],
    });
    child.on("error", (error) => (failure = error.message));
    const ended = once(child, "exit").catch(() => undefined);
    child.unref();
    return {
      pid: child.pid,
      /** For a surplus process: it would otherwise become the gateway if the other one stopped now. */
      end: async () => {
        if (!child.kill()) return;
        child.ref();
        await ended;
      },
      hasEnded: () => failure !== undefined || child.exitCode !== null || child.signalCode !== null,
      outcome: () => failure ?? (child.signalCode === null ? `exit code ${child.exitCode}` : child.signalCode),
    };
  } finally {
    closeSync(log);
  }
}

/**
 * V8 trades memory for speed that a gateway does not need: under load the young generation grows to 128 MB and the
 * old one to four times its live size, and neither shrinks. With these limits a turn costs the same. They cannot be
 * set in a running process, so `npm start` sets them too.
 */
export const GATEWAY_FLAGS: readonly string[] = ["--max-semi-space-size=8", "--heap-growing-percent=100"];

function openLog(path: string): number {
  try {
    rotateLog(path);
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw fileError(error, "write", path);
  }
}

const SHOWN_LINES = 10;

async function couldNotStart(logFile: string, why: string): Promise<HoldfastError> {
  const log = (await readFile(logFile, "utf8").catch(() => "")).trimEnd();
  const lines = log.split("\n").slice(-SHOWN_LINES);
  const end = log === "" ? "" : `. The end of its log:\n${lines.map((line) => `    ${line}`).join("\n")}`;
  return new HoldfastError("unavailable", "gateway-not-started", `The gateway could not be started: ${why}${end}`, {
    hint: "`holdfast gateway` runs it in this terminal and shows the problem; `--local` works without it.",
    data: { logFile },
  });
}

type EventChoice = ParamsOf<"events.subscribe">;

export interface LiveCaller extends RpcCaller {
  /** Reports the events that `events.subscribe` would send with these parameters. One listener at a time. */
  watch(choice: EventChoice, listener: (event: RpcEvent) => void): Promise<void>;
  /** Rejects when the gateway is gone; never resolves. */
  readonly lost: Promise<never>;
  close(): Promise<void>;
}

export async function openCaller(setup: Setup, options: Flags<"local">): Promise<LiveCaller> {
  return options.local === true ? await openLocalCaller(setup) : await connect(setup);
}

async function connect(setup: Setup): Promise<LiveCaller> {
  await ensureGateway(setup);
  const client = await connectToGateway(setup);
  const lost = client.closed.then(({ reason }): never => {
    throw gatewayGone(reason);
  });
  lost.catch(() => undefined);
  let unsubscribe: (() => void) | undefined;
  return {
    call: async (method, params, options) => await client.call(method, params, options),
    watch: async (choice, listener) => {
      unsubscribe?.();
      unsubscribe = client.onEvent(listener);
      await client.call("events.subscribe", choice);
    },
    lost,
    close: async () => {
      client.close();
      await client.closed;
    },
  };
}

function gatewayGone(reason: string): HoldfastError {
  const why = reason === "" ? "" : `: ${reason}`;
  return new HoldfastError("unavailable", "gateway-gone", `Lost the connection to the gateway${why}`, {
    hint: "Your message is kept and answered when the gateway is back; `holdfast history` shows the answer.",
  });
}

/** A turn that is still running on close is handed to the gateway after this time. */
const DRAIN_SECONDS = 1;

/** Runs turns in this process, without a gateway and without channels. */
export async function openLocalCaller({ home, config }: Setup): Promise<LiveCaller> {
  const logger = await localLogger(home, config.log.level);
  const [{ openTurns }, { createDispatcher }] = await Promise.all([
    import("../compose/turns.ts"),
    import("../rpc/dispatch.ts"),
  ]);
  const local = { ...config, turns: { ...config.turns, drainSeconds: DRAIN_SECONDS } };
  const turns = await openTurns({ home, config: local, logger, channels: false });
  const dispatcher = createDispatcher(turns);
  const leaving = new AbortController();
  let unsubscribe: (() => void) | undefined;

  return {
    call: async (method, params) =>
      (await dispatcher.call(method, params, { permission: "admin", signal: leaving.signal })) as ResultOf<
        typeof method
      >,
    watch: async ({ sessionKeys, events }, listener) => {
      unsubscribe?.();
      unsubscribe = turns.pipeline.events.subscribe((event) => {
        const isOfSession =
          sessionKeys === undefined || ("sessionKey" in event && sessionKeys.includes(event.sessionKey));
        if (isOfSession && events?.includes(event.type) !== false) listener(event);
      });
      await Promise.resolve();
    },
    lost: new Promise<never>(() => undefined),
    close: async () => {
      leaving.abort();
      unsubscribe?.();
      await turns.close();
    },
  };
}

/** On a terminal, log lines would disturb the conversation, so they go to the gateway's log file. */
async function localLogger(home: string, level: LogLevel): Promise<Logger> {
  if (!process.stderr.isTTY) return createLogger({ level });
  const { logFile } = gatewayLayout(home);
  await ensurePrivateFolder(home);
  return createLogger({ level, write: (line) => appendToLog(logFile, line) });
}
