/**
 * What the hand-off costs: a capture, one that only reads what is new, and the hooks that Claude Code waits for,
 * as whole processes. The conversations are made of the labelled messages, so that there is something to note in them.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { projectFolderName } from "../src/claude/native/layout.ts";
import { openHandoff } from "../src/compose-handoff.ts";
import { openAgent } from "../src/compose.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../src/config/config.ts";
import { claudeLayout } from "../src/config/layout.ts";
import type { Handoff } from "../src/handoff/handoff.ts";
import { type AgentHandle, transcriptPath } from "../src/session/agent-handle.ts";
import { openWindow } from "../src/session/window.ts";
import type { SessionEntry } from "../src/store/session-entry.ts";
import type { DraftEntry } from "../src/transcript/entries.ts";
import { openTranscriptLog } from "../src/transcript/log.ts";
import { type Result, percentile } from "./measure.ts";

const BIN = fileURLToPath(new URL("../bin/holdfast.js", import.meta.url));
const MESSAGES = new URL("../test/fixtures/handoff/messages.jsonl", import.meta.url);
const WINDOW = 200;
const CAPTURES = 30;
const HOOKS = 40;

export async function measureHandoff(folder: string): Promise<Result[]> {
  const home = join(folder, "handoff-home");
  const claudeHome = join(folder, "handoff-claude");
  const cwd = join(folder, "handoff-work");
  mkdirSync(cwd, { recursive: true });
  const env = { ...process.env, HOLDFAST_HOME: home, CLAUDE_CONFIG_DIR: claudeHome };
  const config: HoldfastConfig = { ...DEFAULT_CONFIG, log: { level: "silent" } };
  const agent = await openAgent({ home, config });
  const handoff = await openHandoff({ home, config, env, agent });
  if (handoff === undefined) throw new Error("the hand-off is turned off");
  try {
    const captures = await measureCaptures(agent, handoff);
    const hooks = measureHooks({ env, claudeHome, cwd });
    await settled(claudeLayout(home).hookRequestsFolder);
    return [...captures, ...hooks];
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
    // As the window after is told.
    const next = { ...entry, compactionCount: 1 };
    longest = Math.max(longest, (await handoff.offer({ sessionKey, entry: next }))?.text.length ?? 0);
    await handoff.settled();
  }
  // The first ones are slow: what is measured is a gateway that runs.
  const warm = whole.slice(5);
  return [
    limit(`capture of ${WINDOW} messages, p50`, percentile(warm, 50), 50),
    limit(`capture of ${WINDOW} messages, p95`, percentile(warm, 95), 50),
    limit("the same, CPU of all threads, p50", percentile(used.slice(5), 50), 50),
    {
      work: "capture of one more turn, p50",
      ours: percentile(further.slice(5), 50),
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
  await using log = await openTranscriptLog({ path: transcriptPath(agent, entry), clock: agent.clock });
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

function labelledTexts(): Said[] {
  const lines = readFileSync(MESSAGES, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  return lines.map((line) => {
    const { role, text } = JSON.parse(line) as Partial<Said>;
    return { role: role === "assistant" ? "assistant" : "user", text: text ?? "" };
  });
}

interface HookPlace {
  env: NodeJS.ProcessEnv;
  claudeHome: string;
  cwd: string;
}

/** Whole processes, alternating with bare ones, so that both see the same neighbours. */
function measureHooks({ env, claudeHome, cwd }: HookPlace): Result[] {
  const ended = "aaaaaaaa-0000-4000-8000-000000000001";
  const fresh = "aaaaaaaa-0000-4000-8000-000000000002";
  writeNative(claudeHome, cwd, ended);
  const run = (event: string, sessionId: string): string => {
    const input = JSON.stringify({
      session_id: sessionId,
      cwd,
      transcript_path: nativePath(claudeHome, cwd, sessionId),
      hook_event_name: event,
      source: "startup",
    });
    const { status, stdout } = spawnSync(process.execPath, [BIN, "hook", event], { env, input });
    if (status !== 0) throw new Error(`holdfast hook ${event} failed`);
    return String(stdout);
  };
  const bare = (): void => void spawnSync(process.execPath, ["-e", "0"], { env });
  const results: Result[] = [];
  let injected = 0;
  for (const [event, sessionId] of [
    ["SessionStart", fresh],
    ["Stop", ended],
  ] as const) {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < HOOKS; round++) {
      const began = performance.now();
      const answer = run(event, sessionId);
      ours.push(performance.now() - began);
      const beganBare = performance.now();
      bare();
      theirs.push(performance.now() - beganBare);
      if (event === "SessionStart") injected = Math.max(injected, answer.length);
    }
    results.push(limit(`holdfast hook ${event}, whole process, p95`, percentile(ours, 95), 150), {
      work: `holdfast hook ${event}, p50`,
      ours: percentile(ours, 50),
      peer: "node -e 0",
      theirs: percentile(theirs, 50),
    });
  }
  return [...results, limit("what a session of Claude Code is told", injected, 9000, "characters")];
}

/** Hooks leave captures to processes of their own; those are over when nothing waits and nobody holds a lock. */
async function settled(folder: string): Promise<void> {
  for (let round = 0; round < 200; round++) {
    const names = await readdir(folder).catch(() => []);
    if (names.every((name) => name.endsWith(".done"))) return;
    await delay(100);
  }
}

function nativePath(claudeHome: string, cwd: string, sessionId: string): string {
  return join(claudeHome, "projects", projectFolderName(cwd), `${sessionId}.jsonl`);
}

function writeNative(claudeHome: string, cwd: string, sessionId: string): void {
  const path = nativePath(claudeHome, cwd, sessionId);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  const began = Date.now() - WINDOW * 1000;
  for (const [index, { role, text }] of labelledTexts().slice(0, WINDOW).entries()) {
    const uuid = `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
    const line = {
      type: role,
      uuid,
      timestamp: new Date(began + index * 1000).toISOString(),
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
  return { work, ours, peer: "limit", theirs: most, bar, ...(unit === undefined ? {} : { unit }) };
}
