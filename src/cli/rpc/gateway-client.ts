/**
 * Finds the gateway of this home by its runtime file, calls it over HTTP, and starts it in the background where a
 * command needs one. If two commands start a gateway at the same time, the second gateway sees the first and ends.
 */
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { nodeChildProcess } from "../../base/builtin.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { ensurePrivateFolder } from "../../base/files.ts";
import { programFile } from "../../base/package.ts";
import { gatewayLayout } from "../../config/layout.ts";
import { type GatewayAccess, requireGateway as requireAccess } from "../../gateway/connect-to-gateway.ts";
import { type RpcCaller, createHttpCaller } from "../../rpc/client.ts";
import { rotateLog } from "../commands/gateway-log.ts";
import type { Setup } from "../context.ts";
import { talk, waitingLine } from "../output.ts";

export interface GatewayHandle extends RpcCaller, GatewayAccess {
  /** Opens the page and signs in. The token follows `#`, so it stays in the browser and reaches no log. */
  pageLink: string;
}

/** Printed instead of the link where output may be logged: the link gives full access. */
export const SIGN_IN = "`holdfast gateway link` prints the link that signs you in";

/** Throws `gateway-not-running` when there is none. */
export async function requireGateway({ home }: Pick<Setup, "home">): Promise<GatewayHandle> {
  const access = await requireAccess(home);
  const { url, token } = access;
  return { ...access, ...createHttpCaller({ url, token }), pageLink: `${url}/#token=${token}` };
}

export async function findRunningGateway(setup: Pick<Setup, "home">): Promise<GatewayHandle | undefined> {
  try {
    return await requireGateway(setup);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "gateway-not-running") return undefined;
    throw error;
  }
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

export interface StartOptions<Found> {
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
export async function startGatewayProcess<Found>(options: StartOptions<Found>): Promise<Found> {
  const { home, find, program = { file: programFile(), args: ["gateway"] }, patienceMs = PATIENCE_MS } = options;
  const { logFile } = gatewayLayout(home);
  await ensurePrivateFolder(home);
  const child = spawnDetached(home, logFile, program);
  const deadline = performance.now() + patienceMs;
  using _line = waitingLine("Waiting for the gateway to start");
  while (performance.now() < deadline) {
    // Checked before `find`: if another command's gateway made ours end, `find` sees that one.
    const hasEnded = child.hasEnded();
    const found = await find();
    if (found !== undefined) {
      if (!hasEnded)
        talk(`Started the gateway in the background (log: ${logFile}). Stop it with \`holdfast gateway stop\`.`);
      return found;
    }
    if (hasEnded) throw await couldNotStart(logFile, `it ended with ${child.outcome()}`);
    await delay(POLL_MS);
  }
  throw await couldNotStart(logFile, `it does not answer after ${Math.round(patienceMs / 1000)} seconds`);
}

interface BackgroundProcess {
  hasEnded(): boolean;
  outcome(): string;
}

function spawnDetached(
  home: string,
  logFile: string,
  { file, args }: { file: string; args: readonly string[] },
): BackgroundProcess {
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
    child.unref();
    return {
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
