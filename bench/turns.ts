/**
 * Measures a gateway: the time it adds to a turn, its throughput, and its cost while idle. The echo engine answers at
 * once, so all measured time is Holdfast's. Inbox and outbox are durable, in the `sqlite` store, as by default.
 */
import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DEFAULT_CONFIG } from "../src/config/config.ts";
import { createClaudeHome } from "../test/support/claude-home.ts";
import { startFakeAnthropic } from "../test/support/fake-anthropic/fake-anthropic.ts";
import { toolUse } from "../test/support/fake-anthropic/reply.ts";
import { startFakeTelegram } from "../test/support/fake-telegram/fake-telegram.ts";
import { taskSettings } from "../test/support/task-chat.ts";
import { type Result, median, percentile } from "./measure.ts";
import { productionMegabytes } from "./production-size.ts";
import type { TurnFigures, TurnLoad } from "./turns-gateway.ts";
import { GATEWAY_FLAGS } from "../src/cli/gateway-client.ts";

const BIN = fileURLToPath(new URL("../bin/holdfast.js", import.meta.url));
const GATEWAY = fileURLToPath(new URL("./turns-gateway.ts", import.meta.url));
const SESSIONS = 100;
const WARM_UP = 2000;
const IDLE_SECONDS = 20;
const FEW_TURNS = 20;
/** Two of a task's progress reports. */
const TASK_SECONDS = 60;

export async function measureTurns(folder: string): Promise<Result[]> {
  const node = await median(15, () => void spawnSync(process.execPath, ["-e", "0"]));
  return [
    ...(await measureLoad(join(folder, "turns"), node)),
    ...(await measureIdle(join(folder, "idle"), "echo engine", node, {}, {})),
    ...(await measureWithTelegram(join(folder, "idle-telegram"), node)),
    await measureWaitingTask(join(folder, "task")),
    limit("installed production dependencies", await productionMegabytes(), 120, "MB"),
  ];
}

/** A gateway in a process of its own, and the people who write to it. */
export async function startLoad(home: string, config: object) {
  await writeConfig(home, config);
  const env = { ...process.env, HOLDFAST_HOME: home };
  const child = fork(GATEWAY, [home], { env, execArgv: [...GATEWAY_FLAGS, "--expose-gc"] });
  const ended = once(child, "exit").then(([code, signal]) => {
    throw new Error(`The gateway under load ended with ${code ?? signal}`);
  });
  ended.catch(() => undefined);
  const hear = async (): Promise<unknown[]> => await Promise.race([once(child, "message"), ended]);
  await hear();
  return {
    run: async (load: TurnLoad): Promise<TurnFigures> => {
      child.send(load);
      return (await hear())[0] as TurnFigures;
    },
    [Symbol.asyncDispose]: async () => {
      child.disconnect();
      await ended.catch(() => undefined);
    },
  };
}

async function measureLoad(home: string, node: number): Promise<Result[]> {
  await using load = await startLoad(home, {});
  const { run } = load;
  // Warm up: a gateway runs for days, so its code is compiled and its files exist.
  const first = await run({ turns: WARM_UP, sessions: SESSIONS, pace: "all" });
  const alone = await run({ turns: 1000, sessions: SESSIONS, pace: "one" });
  const writes = await fiveWrites(home);
  const busy = await run({ turns: 10_000 - WARM_UP - 1000, sessions: SESSIONS, pace: "all" });
  const steady = await run({ turns: 2000, sessions: SESSIONS, pace: { perSecond: 200 } });

  const p50 = percentile(alone.times, 50);
  return [
    ratio("one turn at a time, p50", p50, "5 × write + fdatasync", writes, 3),
    ratio("one turn at a time, p99", percentile(alone.times, 99), "p50", p50, 3),
    ratio(
      `CPU of a turn over ${SESSIONS} sessions, all threads`,
      busy.cpu / busy.times.length,
      "node -e 0",
      node,
      0.05,
    ),
    shown("turns a second", busy.times.length / busy.seconds, "one at a time", 1000 / p50, "turns/s"),
    limit("event loop delay meanwhile, p99", busy.loopDelay, 50),
    shown("a turn at 200 turns/s, p50", percentile(steady.times, 50), "alone", percentile(alone.times, 50)),
    shown("a turn at 200 turns/s, p99", percentile(steady.times, 99), "alone", percentile(alone.times, 99)),
    {
      work: "RSS after 10,000 turns",
      ours: busy.rss,
      peer: `after ${WARM_UP.toLocaleString("en")}`,
      theirs: first.rss,
      bar: { ratio: "ours/theirs", atMost: 1.25 },
      unit: "MB",
    },
    shown("heap after 10,000 turns", busy.heap, `after ${WARM_UP.toLocaleString("en")}`, first.heap, "MB"),
  ];
}

/** The yardstick for a turn. A turn itself waits for the disk four times. */
async function fiveWrites(home: string): Promise<number> {
  const file = await open(join(home, "bare.log"), "a");
  const line = Buffer.alloc(1024, "x");
  const ms = await median(200, async () => {
    for (let write = 0; write < 5; write++) {
      await file.write(line);
      await file.datasync();
    }
  });
  await file.close();
  return ms;
}

async function measureWithTelegram(home: string, node: number): Promise<Result[]> {
  await using telegram = await startFakeTelegram();
  const account = { apiRoot: telegram.url, allowFrom: ["*"] };
  const config = { channels: { telegram: { default: account } } };
  return await measureIdle(home, "Telegram", node, config, { TELEGRAM_BOT_TOKEN: telegram.token });
}

/** The real program, as a person starts it. */
async function measureIdle(
  home: string,
  name: string,
  node: number,
  config: object,
  env: Record<string, string>,
): Promise<Result[]> {
  await writeConfig(home, config);
  const starts: number[] = [];
  for (let run = 0; run < 5; run++) {
    const { child, ms } = await startGateway(home, env);
    starts.push(ms);
    await stop(child);
  }
  const { child, url } = await startGateway(home, env);
  await delay(10_000);
  const before = await processFigures(child);
  await delay(IDLE_SECONDS * 1000);
  const after = await processFigures(child);
  await answerFewTurns(home, url);
  const { rss } = await processFigures(child);
  await stop(child);
  return [
    ratio(`gateway (${name}): start to listening`, percentile(starts, 50), "node -e 0", node, 8),
    limit(`gateway (${name}): idle RSS`, after.rss, 110, "MB"),
    limit(`gateway (${name}): RSS between messages, after ${FEW_TURNS} turns`, rss, 150, "MB"),
    limit(`gateway (${name}): CPU while idle`, (100 * (after.cpu - before.cpu)) / IDLE_SECONDS, 0.5, "%"),
  ];
}

/** Claude Code waits for a person's answer, with the real `claude` and a fake API. */
async function measureWaitingTask(home: string): Promise<Result> {
  await using telegram = await startFakeTelegram();
  await using api = await startFakeAnthropic();
  await using claude = await createClaudeHome(api);
  api.script(toolUse("Bash", { command: "touch one" }));
  const account = { apiRoot: telegram.url, allowFrom: ["*"] };
  const claudeCode = taskSettings(DEFAULT_CONFIG, claude);
  await writeConfig(home, { channels: { telegram: { default: account } }, claudeCode });
  const { child } = await startGateway(home, { ...claude.env, TELEGRAM_BOT_TOKEN: telegram.token });
  const usage = async (): Promise<number> => {
    await delay(10_000);
    const before = await processFigures(child);
    await delay(TASK_SECONDS * 1000);
    return (100 * ((await processFigures(child)).cpu - before.cpu)) / TASK_SECONDS;
  };
  const idle = await usage();
  telegram.say("/cc run in repo: Create a file");
  await telegram.waitFor(({ params }) => /asks to use Bash/.test(String(params["text"])));
  const waiting = await usage();
  await stop(child);
  return limit(`gateway: CPU while a task waits (idle: ${idle.toFixed(2)} %)`, waiting, 1, "%");
}

interface StartedGateway {
  child: ChildProcess;
  url: string;
  ms: number;
}

async function startGateway(home: string, env: Record<string, string>): Promise<StartedGateway> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [BIN, "gateway", "--port", "0", "--json"], {
    env: { ...process.env, HOLDFAST_HOME: home, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output] = (await once(child.stdout, "data")) as [Buffer];
  const ms = performance.now() - startedAt;
  const { url } = JSON.parse(output.toString()) as { url: string };
  return { child, url, ms };
}

async function answerFewTurns(home: string, url: string): Promise<void> {
  const token = (await readFile(join(home, "gateway.token"), "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  for (let turn = 0; turn < FEW_TURNS; turn++) {
    const body = JSON.stringify({ message: `message ${turn}`, idempotencyKey: `turn-${turn}` });
    const { ok, status } = await fetch(`${url}/rpc/agent`, { method: "POST", headers, body });
    if (!ok) throw new Error(`The gateway answered a turn with ${status}`);
  }
  await delay(3000);
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** RSS in MB and CPU in seconds, from /proc. Only Linux has these figures. */
async function processFigures({ pid }: ChildProcess): Promise<{ rss: number; cpu: number }> {
  try {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return { rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024, cpu: ((user ?? 0) + (system ?? 0)) / TICKS };
  } catch {
    return { rss: Number.NaN, cpu: Number.NaN };
  }
}

/** Clock ticks of /proc per second. */
const TICKS = 100;

async function writeConfig(home: string, config: object): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
}

function limit(work: string, ours: number, atMost: number, unit = "ms"): Result {
  return { work, ours, peer: "limit", theirs: atMost, bar: { ratio: "ours/theirs", atMost: 1 }, unit };
}

function ratio(work: string, ours: number, peer: string, theirs: number, atMost: number): Result {
  return { work, ours, peer, theirs, bar: { ratio: "ours/theirs", atMost } };
}

function shown(work: string, ours: number, peer: string, theirs: number, unit = "ms"): Result {
  return { work, ours, peer, theirs, unit };
}
