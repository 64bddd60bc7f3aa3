/**
 * People write to many sessions while the gateway is killed again and again, and started again each time. Then it runs
 * undisturbed. Every acknowledged message must be in a transcript once and answered once.
 */
import { execFile } from "node:child_process";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { QueueMode } from "../../src/config/choices.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { AgentHandle } from "../../src/session/agent-handle.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { readTranscript } from "../../src/transcript/reader.ts";
import { BIN, type CliGateway, startCliGateway } from "../support/cli.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { messageText } from "../../src/transcript/messages.ts";
import { createRandom } from "../../src/selftest/operations.ts";

export interface CrashLoop {
  store: StoreKind;
  mode: QueueMode;
  sessions: number;
  /** How many messages are sent before the first kill. */
  messages: number;
  kills: number;
  /**
   * `as-it-runs`: as soon as a message runs. `random`: at some instant, while more messages come.
   * `poison`: as soon as the first message runs, as if it killed the process itself.
   */
  when: "as-it-runs" | "random" | "poison";
  /** How long a turn takes. */
  turnMs: number;
  seed: number | string;
}

export interface CrashLoopReport {
  acknowledged: number;
  /** How many there were; fewer than wanted when everything was answered meanwhile. */
  kills: number;
  /** Messages that were given up, with a notice to their sender. */
  givenUp: number;
  failures: string[];
}

const PATIENCE_MS = 120_000;
/** A poisoned message must not end before the gateway is killed. */
const POISON_MS = 600_000;

export async function runCrashLoop(loop: CrashLoop): Promise<CrashLoopReport> {
  await using folder = await temporaryFolder();
  const home = folder.join("home");
  await writeHome(home, loop);
  const random = createRandom(loop.seed, "crash-loop");
  const said: string[] = [];

  /** The message's id in the inbox; undefined when it was not acknowledged. */
  const speak: Speak = async (gateway, session, turnMs = loop.turnMs) => {
    const mark = `<s${session}n${said.length}>`;
    const params = { sessionKey: keyOf(session), message: `sleep:${turnMs}\nHello ${mark}`, idempotencyKey: mark };
    const sent = await call<{ itemId: number }>(home, gateway, "chat.send", params).catch(() => undefined);
    if (sent !== undefined) said.push(mark);
    return sent?.itemId;
  };

  let gateway = await startCliGateway(home);
  const { config } = await loadConfig({ env: process.env, cwd: home, home });
  const agent = await openAgent({ home, config });
  try {
    const poison = loop.when === "poison" ? await speak(gateway, 0, POISON_MS) : undefined;
    for (let n = said.length; n < loop.messages; n++) await speak(gateway, n % loop.sessions);
    let kills = 0;
    for (; kills < loop.kills; kills++) {
      if (loop.when === "random") await talk(gateway, random, speak, loop.sessions);
      else if (!(await untilRunning({ home, agent, gateway }, poison))) break;
      gateway.process.kill("SIGKILL");
      await gateway.ended;
      gateway = await startCliGateway(home);
    }
    const pending = await untilIdle({ home, agent, gateway });
    gateway.process.kill("SIGTERM");
    await gateway.ended;
    const checked = await check(home, said);
    const waiting = pending === 0 ? [] : [`${pending} messages still wait`];
    return { acknowledged: said.length, kills, ...checked, failures: [...waiting, ...checked.failures] };
  } finally {
    await agent.store.close();
    await gateway[Symbol.asyncDispose]();
  }
}

interface Fixture {
  home: string;
  agent: AgentHandle;
  gateway: CliGateway;
}

function keyOf(session: number): string {
  return `agent:main:loop:${session}`;
}

async function writeHome(home: string, { store, mode }: CrashLoop): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const config = {
    store: { kind: store },
    turns: { queue: { mode, debounceMs: 20, cap: 1000 } },
    gateway: { requestsPerMinute: 60_000 },
  };
  await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
}

type Speak = (gateway: CliGateway, session: number, turnMs?: number) => Promise<number | undefined>;

async function call<T>(home: string, { announced }: CliGateway, method: string, params: object): Promise<T> {
  const token = (await readFile(join(home, "gateway.token"), "utf8")).trim();
  const response = await fetch(`${announced.url}/rpc/${method}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(params),
  });
  const answer = (await response.json()) as { ok: boolean; payload: T };
  if (!answer.ok) throw new Error(`${method}: ${JSON.stringify(answer)}`);
  return answer.payload;
}

async function talk(
  gateway: CliGateway,
  random: ReturnType<typeof createRandom>,
  speak: Speak,
  sessions: number,
): Promise<void> {
  const until = Date.now() + random.whole(50, 900);
  while (Date.now() < until) {
    await Promise.all(Array.from({ length: 3 }, async () => await speak(gateway, random.whole(0, sessions - 1))));
  }
}

/** False when nothing waits any more. */
async function untilRunning({ home, agent, gateway }: Fixture, wanted: number | undefined): Promise<boolean> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const { turns } = await call<Turns>(home, gateway, "status", { limit: 1 });
    if (turns.running.some(({ itemId }) => wanted === undefined || itemId === wanted)) return true;
    const pending = await agent.store.inbox.pending();
    if (!pending.some(({ id }) => wanted === undefined || id === wanted)) return false;
    await delay(5);
  }
  return false;
}

interface Turns {
  turns: { running: { itemId: number }[] };
}

/** How many messages still wait after a while. */
async function untilIdle({ agent }: Fixture): Promise<number> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { length } = await agent.store.inbox.pending();
    if (length === 0 || Date.now() > deadline) return length;
    await delay(50);
  }
}

async function check(home: string, said: readonly string[]): Promise<Pick<CrashLoopReport, "givenUp" | "failures">> {
  const failures: string[] = [];
  const written = new Map<string, number>();
  const answered = new Map<string, number>();
  let givenUp = 0;
  const sessions = join(home, "agents/main/sessions");
  for (const name of (await readdir(sessions)).filter((file) => file.endsWith(".jsonl"))) {
    let asked: string[] = [];
    for await (const item of readTranscript(join(sessions, name))) {
      if (item.kind !== "entry" || item.entry.type !== "message") continue;
      const { message } = item.entry;
      const marks = [...messageText(message).matchAll(/<s\d+n\d+>/g)].map(([mark]) => mark);
      if (message.role === "user") {
        for (const mark of marks) count(written, mark);
        asked = marks;
      } else if (message.role === "assistant") {
        const isGivenUp =
          message.stopReason === "error" && message.errorMessage?.includes("the process ended") === true;
        if (isGivenUp) givenUp += asked.length;
        for (const mark of isGivenUp ? asked : marks) count(answered, mark);
      }
    }
  }
  for (const mark of said) {
    if (written.get(mark) !== 1) failures.push(`${mark} is in ${written.get(mark) ?? 0} transcripts`);
    if (answered.get(mark) !== 1) failures.push(`${mark} was answered ${answered.get(mark) ?? 0} times`);
  }
  const report = await doctor(home);
  const expected = givenUp === 0 ? "" : `${givenUp} message${givenUp === 1 ? " was" : "s were"} given up`;
  if (report.join("\n") !== expected) failures.push(`doctor says: ${report.join("; ") || "nothing"}`);
  return { givenUp, failures };
}

function count(counts: Map<string, number>, mark: string): void {
  counts.set(mark, (counts.get(mark) ?? 0) + 1);
}

/** Doctor's findings without ages. Partial files of killed processes are harmless. */
async function doctor(home: string): Promise<string[]> {
  const env = { ...process.env, HOLDFAST_HOME: home };
  const run = promisify(execFile)(process.execPath, [BIN, "doctor", "--json"], { env, cwd: home });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const { findings } = JSON.parse(stdout) as { findings: { check: string; severity: string; message: string }[] };
  return findings
    .filter(({ check: name, severity }) => severity !== "info" && name !== "leftovers")
    .map(({ message }) => message.replace(/, the newest .*/, ""));
}
