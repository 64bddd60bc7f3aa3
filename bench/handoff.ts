/**
 * The cost of the hand-off: a first capture, a capture of new messages, and the hooks that Claude Code waits for, as
 * whole processes. The conversations consist of the labelled messages, so that there is something to note in them.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { projectFolderName } from "../src/claude/native/layout.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../src/config/config.ts";
import { agentsFolder, claudeLayout } from "../src/config/layout.ts";
import type { Handoff } from "../src/handoff/handoff.ts";
import { type AgentHandle, transcriptPath } from "../src/session/agent-handle.ts";
import { openWindow } from "../src/session/window.ts";
import type { SessionEntry } from "../src/store/session-entry.ts";
import type { DraftEntry } from "../src/transcript/entries.ts";
import { openTranscriptLog } from "../src/transcript/log.ts";
import { createTestRepo } from "../test/support/git-repo.ts";
import { type Result, percentile } from "./measure.ts";
import { createRandom } from "./random.ts";
import { openHandoff } from "../src/compose/handoff.ts";
import { openAgent } from "../src/compose/agent.ts";

const BIN = fileURLToPath(new URL("../bin/holdfast.js", import.meta.url));
const MESSAGES = new URL("../test/fixtures/handoff/messages.jsonl", import.meta.url);
const WINDOW = 200;
const CAPTURES = 60;
/** Rounds before the measurement, so that the code is compiled, as in a running gateway. */
const WARM_UP = 20;
const HOOK_ROUNDS = 20;
const REPO_COMMITS = 20;

export async function measureHandoff(folder: string): Promise<Result[]> {
  const home = join(folder, "handoff-home");
  const env = { ...process.env, HOLDFAST_HOME: home, CLAUDE_CONFIG_DIR: join(folder, "handoff-claude") };
  const config: HoldfastConfig = { ...DEFAULT_CONFIG, log: { level: "silent" } };
  const agent = await openAgent({ home, config });
  const handoff = await openHandoff({ home, config, env, agent });
  if (handoff === undefined) throw new Error("the hand-off is turned off");
  try {
    return [...(await measureCaptures(agent, handoff)), ...(await measureHooks(folder))];
  } finally {
    await handoff.close();
    await agent.store.close();
  }
}

/** Each window is another one, read for the first time; then a turn is added and captured. */
async function measureCaptures(agent: AgentHandle, handoff: Handoff): Promise<Result[]> {
  const texts = labelledTexts();
  const whole: number[] = [];
  const further: number[] = [];
  const used: number[] = [];
  let longest = 0;
  for (let round = 0; round < CAPTURES; round++) {
    const sessionKey = `agent:${agent.agentId}:telegram:dm:${round}`;
    const entry = await openSession(agent, sessionKey);
    await append(agent, entry, texts, round * WINDOW, WINDOW);
    const target = { kind: "session", sessionKey } as const;
    const before = process.cpuUsage();
    const first = await timed(async () => await handoff.capture(target, "asked"));
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1000);
    await append(agent, entry, texts, round * WINDOW + WINDOW, 2);
    const second = await timed(async () => await handoff.capture(target, "messages"));
    whole.push(first);
    further.push(second);
    // The offer of the next window.
    const next = { ...entry, compactionCount: 1 };
    longest = Math.max(longest, (await handoff.offer({ sessionKey, entry: next }))?.text.length ?? 0);
    await handoff.settled();
  }
  const warm = whole.slice(WARM_UP);
  return [
    limit(`capture of ${WINDOW} messages, p50`, percentile(warm, 50), 50),
    limit(`capture of ${WINDOW} messages, p95`, percentile(warm, 95), 50),
    limit("the same, CPU of all threads, p50", percentile(used.slice(WARM_UP), 50), 50),
    {
      work: "capture of one more turn, p50",
      ours: percentile(further.slice(WARM_UP), 50),
      peer: `of all ${WINDOW} messages`,
      theirs: percentile(warm, 50),
      bar: { ratio: "ours/theirs", atMost: 0.5 },
    },
    limit("longest text for an engine", longest, 9000, "characters"),
  ];
}

async function openSession(agent: AgentHandle, key: string): Promise<SessionEntry> {
  const entry = await openWindow(agent, { key, previous: undefined, reason: "initial", complete: withProject });
  if (entry === undefined) throw new Error(`${key} is there already`);
  return entry;
}

function withProject(entry: SessionEntry): SessionEntry {
  return { ...entry, project: "bench" };
}

async function append(
  agent: AgentHandle,
  entry: SessionEntry,
  texts: readonly Said[],
  start: number,
  count: number,
): Promise<void> {
  await using log = await openTranscriptLog({ path: await transcriptPath(agent, entry), clock: agent.clock });
  const said = Array.from({ length: count }, (_, index) => texts[(start + index) % texts.length]);
  await log.append(said.flatMap((one) => (one === undefined ? [] : [draftOf(one)])));
}

interface Said {
  role: "user" | "assistant";
  text: string;
}

function draftOf({ role, text }: Said): DraftEntry {
  return { type: "message", message: { role, content: text, timestamp: Date.now() } };
}

/** Mixed: in the file, messages of one author and length stand together. */
function labelledTexts(): Said[] {
  const random = createRandom(5);
  const lines = readFileSync(MESSAGES, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  const said = lines.map((line): Said & { place: number } => {
    const { role, text } = JSON.parse(line) as Partial<Said>;
    return { role: role === "assistant" ? "assistant" : "user", text: text ?? "", place: random.next() };
  });
  return said.sort((one, other) => one.place - other.place);
}

interface HookPlace {
  env: NodeJS.ProcessEnv;
  home: string;
  claudeHome: string;
  cwd: string;
}

const ENDED = "aaaaaaaa-0000-4000-8000-000000000001";
const FRESH = "aaaaaaaa-0000-4000-8000-000000000002";

interface HookState {
  event: "SessionStart" | "Stop";
  state: string;
  sessionId: string;
  tells: boolean;
  /** Number of earlier messages that nothing has captured. */
  said?: number | undefined;
}

/** In the order in which one leads to the next: the first start has everything captured, the second tells it. */
const HOOK_STATES: readonly HookState[] = [
  { event: "SessionStart", state: "nothing captured", sessionId: FRESH, tells: true },
  { event: "SessionStart", state: "something to tell", sessionId: FRESH, tells: true },
  { event: "SessionStart", state: "told before", sessionId: FRESH, tells: false },
  { event: "SessionStart", state: "words since", sessionId: FRESH, tells: true, said: 2 },
  { event: "Stop", state: "a turn ended", sessionId: ENDED, tells: false },
];

/** Whole processes, alternating with bare ones, so that both see the same neighbours. */
async function measureHooks(folder: string): Promise<Result[]> {
  const place = prepareHooks(folder);
  const times = HOOK_STATES.map((): number[] => []);
  const bare: number[] = [];
  let injected = 0;
  for (let round = 0; round <= HOOK_ROUNDS; round++) {
    forgetCaptures(place);
    for (const [index, { event, state, sessionId, tells, said = 0 }] of HOOK_STATES.entries()) {
      appendNative(place, ENDED, longestTexts(said));
      const { took, answer } = runHook(place, event, sessionId);
      if ((answer !== "") !== tells) throw new Error(`holdfast hook ${event} (${state}) answered "${answer}"`);
      injected = Math.max(injected, answer.length);
      await settled(place.home);
      // The first round warms the disk's cache.
      if (round > 0) times[index]?.push(took);
      if (round > 0) bare.push(runBare(place));
    }
  }
  const results = HOOK_STATES.flatMap(({ event, state }, index): Result[] => {
    const work = `holdfast hook ${event}, ${state}`;
    const own = times[index] ?? [];
    return [
      {
        work: `${work}, whole process, p95`,
        ours: percentile(own, 95),
        peer: "node -e 0",
        theirs: percentile(bare, 50),
        bar: { ratio: "ours/theirs", atMost: 3.5 },
      },
      { work: `${work}, p50`, ours: percentile(own, 50), peer: "node -e 0", theirs: percentile(bare, 50) },
    ];
  });
  return [...results, limit("what a session of Claude Code is told", injected, 9000, "characters")];
}

function prepareHooks(folder: string): HookPlace {
  const home = join(folder, "hooks-home");
  const claudeHome = join(folder, "hooks-claude");
  const cwd = join(folder, "hooks-work");
  mkdirSync(claudeLayout(home).hooksFolder, { recursive: true });
  makeRepo(cwd);
  const texts = labelledTexts().slice(0, WINDOW - LONG_WORDS);
  appendNative({ claudeHome, cwd }, ENDED, [...texts, ...longestTexts(LONG_WORDS)]);
  return { env: { ...process.env, HOLDFAST_HOME: home, CLAUDE_CONFIG_DIR: claudeHome }, home, claudeHome, cwd };
}

/** A repo to verify the lines against. */
function makeRepo(path: string): void {
  const repo = createTestRepo(path);
  for (let index = 0; index < REPO_COMMITS; index++) repo.commit(`change ${index}`, `src/part-${index % 10}.ts`);
  repo.write("src/part-0.ts", "changed since\n");
}

function forgetCaptures({ home }: HookPlace): void {
  const { hookRequestsFolder, offersFolder } = claudeLayout(home);
  for (const path of [agentsFolder(home), hookRequestsFolder, offersFolder]) {
    rmSync(path, { recursive: true, force: true });
  }
}

function runBare({ env }: HookPlace): number {
  const began = performance.now();
  spawnSync(process.execPath, ["-e", "0"], { env });
  return performance.now() - began;
}

function runHook(place: HookPlace, event: string, sessionId: string): { took: number; answer: string } {
  const { env, claudeHome, cwd } = place;
  const input = JSON.stringify({
    session_id: sessionId,
    cwd,
    transcript_path: nativePath(claudeHome, cwd, sessionId),
    hook_event_name: event,
    source: "startup",
  });
  const began = performance.now();
  const { status, stdout } = spawnSync(process.execPath, [BIN, "hook", event], { env, input });
  const took = performance.now() - began;
  if (status !== 0) throw new Error(`holdfast hook ${event} failed`);
  return { took, answer: String(stdout) };
}

/** Waits for the background processes of hooks. */
async function settled(home: string): Promise<void> {
  for (let round = 0; round < 200; round++) {
    const names = await readdir(claudeLayout(home).hookRequestsFolder).catch(() => []);
    if (names.every((name) => name.endsWith(".done")) && !isAnyRunning(home)) return;
    await delay(100);
  }
}

function isAnyRunning(home: string): boolean {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`HOLDFAST_HOME=${home}\0`);
    } catch {
      return false;
    }
  });
}

function nativePath(claudeHome: string, cwd: string, sessionId: string): string {
  return join(claudeHome, "projects", projectFolderName(cwd), `${sessionId}.jsonl`);
}

/** At the end of the transcript, where a hook looks, there is as much to read as there can be. */
const LONG_WORDS = 8;

function longestTexts(count: number): Said[] {
  return labelledTexts()
    .sort((one, other) => other.text.length - one.text.length)
    .slice(0, count);
}

function appendNative(
  { claudeHome, cwd }: Pick<HookPlace, "claudeHome" | "cwd">,
  sessionId: string,
  texts: readonly Said[],
): void {
  const path = nativePath(claudeHome, cwd, sessionId);
  mkdirSync(dirname(path), { recursive: true });
  const began = Date.now() - texts.length;
  for (const [index, { role, text }] of texts.entries()) {
    const line = {
      type: role,
      uuid: randomUUID(),
      timestamp: new Date(began + index).toISOString(),
      sessionId,
      cwd,
      entrypoint: "cli",
      gitBranch: "main",
      isSidechain: false,
      message: { role, content: role === "user" ? text : [{ type: "text", text }] },
    };
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  }
}

async function timed(task: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await task();
  return performance.now() - began;
}

function limit(work: string, ours: number, most: number, unit?: string): Result {
  const bar = { ratio: "ours/theirs", atMost: 1 } as const;
  return { work, ours, peer: "limit", theirs: most, bar, unit };
}
