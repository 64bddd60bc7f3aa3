/**
 * Starts a gateway that outlives the command. It is a process of its own, in no terminal, with its log in
 * Holdfast's home; the token, which it prints on stdout, goes nowhere. Two commands that start one at the
 * same time end up at the same: the second gateway sees the first and ends.
 */
import { closeSync, openSync, renameSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { nodeChildProcess } from "../../base/builtin.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { ensurePrivateFolder } from "../../base/files.ts";
import { programFile } from "../../base/package.ts";
import { gatewayLayout } from "../../config/layout.ts";
import { talk } from "../output.ts";
import { waitingLine } from "../waiting-line.ts";

export interface StartOptions<Found> {
  home: string;
  /** Undefined until the gateway answers. */
  find: () => Promise<Found | undefined>;
  /** What to start instead of `holdfast gateway`. */
  program?: { file: string; args: readonly string[] };
  patienceMs?: number;
}

const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = 50;

export async function startGatewayProcess<Found>(options: StartOptions<Found>): Promise<Found> {
  const { home, find, patienceMs = PATIENCE_MS } = options;
  const { logFile } = gatewayLayout(home);
  await ensurePrivateFolder(home);
  const child = spawnDetached(home, logFile, options.program ?? { file: programFile(), args: ["gateway"] });
  const startedAt = performance.now();
  const waited = (): number => performance.now() - startedAt;
  using _line = waitingLine("Waiting for the gateway to start");
  while (waited() < patienceMs) {
    // Asked before looking: where two commands start one, the gateway of the other is found even then.
    const hasEnded = child.ended();
    const found = await find();
    if (found !== undefined) {
      if (!hasEnded) talk(`Started the gateway in the background (${logFile}); \`holdfast gateway stop\` ends it.`);
      return found;
    }
    if (hasEnded) throw await couldNotStart(logFile, `it ended with ${child.describe()}`);
    await delay(LOOK_AGAIN_MS);
  }
  throw await couldNotStart(logFile, `it does not answer after ${Math.round(patienceMs / 1000)} seconds`);
}

interface BackgroundProcess {
  ended(): boolean;
  describe(): string;
}

function spawnDetached(
  home: string,
  logFile: string,
  { file, args }: { file: string; args: readonly string[] },
): BackgroundProcess {
  const log = openLog(logFile);
  try {
    let failure: string | undefined;
    // Not in the working folder: its project file is not everybody's, and nobody wants it kept busy.
    const child = nodeChildProcess().spawn(process.execPath, [...GATEWAY_FLAGS, file, ...args], {
      cwd: home,
      detached: true,
      stdio: ["ignore", "ignore", log],
    });
    child.on("error", (error) => (failure = error.message));
    child.unref();
    return {
      ended: () => failure !== undefined || child.exitCode !== null || child.signalCode !== null,
      describe: () => failure ?? (child.signalCode === null ? `exit code ${child.exitCode}` : child.signalCode),
    };
  } finally {
    closeSync(log);
  }
}

/**
 * V8 trades memory for speed that a gateway has no use for: under load the space for young objects grows to
 * 128 MB, that for old ones to four times what lives in it, and neither is given back. With this much less a turn
 * costs the same. It cannot be set once a process runs, so `npm start` says it too.
 */
export const GATEWAY_FLAGS: readonly string[] = ["--max-semi-space-size=8", "--heap-growing-percent=100"];

const LARGE_LOG = 10_000_000;

/** The log of before is kept once. */
function openLog(path: string): number {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LARGE_LOG) renameSync(path, `${path}.1`);
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw fileError(error, "write", path);
  }
}

const SHOWN_LINES = 10;

async function couldNotStart(logFile: string, why: string): Promise<HoldfastError> {
  const log = await readFile(logFile, "utf8").catch(() => "");
  const lines = log.trimEnd().split("\n").slice(-SHOWN_LINES);
  const said = log.trim() === "" ? "" : `. The end of its log:\n${lines.map((line) => `    ${line}`).join("\n")}`;
  return new HoldfastError("unavailable", "gateway-not-started", `The gateway could not be started: ${why}${said}`, {
    hint: "`holdfast gateway` runs it here and shows what is wrong; `--local` does without it.",
    data: { logFile },
  });
}
