/**
 * People write numbered messages while the gateway is killed again and again, at a named step or at a
 * random instant. Afterwards all messages are compared with the transcripts and with the replies that
 * the people got.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { mkdir, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Message } from "grammy/types";
import { FAULT_POINTS, type FaultPoint } from "../../src/base/faults.ts";
import { loadConfig } from "../../src/config/load.ts";
import { transcriptPath } from "../../src/session/agent-handle.ts";
import { readTranscript } from "../../src/transcript/reader.ts";
import { type FakeTelegram, startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { message } from "../support/fake-telegram/updates.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { messageText, isFlushEntry } from "../../src/transcript/messages.ts";
import { createRandom } from "../../src/selftest/operations.ts";

export interface GatewayChildTask {
  home: string;
  /** Default: it runs until it is stopped. */
  dieAt?: { point: FaultPoint; after: number };
}

/** Every named step of a turn, in order. */
export const TURN_STEPS: readonly FaultPoint[] = FAULT_POINTS.filter((point) =>
  /^(?:inbox|turn|delivery)\./.test(point),
);

export interface GatewayRounds {
  /** Each kills the gateway once; `random` at some instant. */
  kills: readonly (FaultPoint | "random")[];
  seed: number | string;
}

export interface GatewayReport {
  messages: number;
  kills: number;
  /** Replies that a person got twice, because their delivery was unknown. */
  duplicates: number;
  /** Attempts beyond the first, from the outbox: the upper limit of `duplicates`. */
  repeatedAttempts: number;
  /** Updates that Telegram brought twice. */
  repeatedUpdates: number;
  failures: string[];
}

const CHATS = [1001, 1002, 1003] as const;
const PATIENCE_MS = 60_000;
/** People wait for answers: on a busy machine they would otherwise write many more messages per kill. */
const MAX_UNANSWERED = 20;
/** For the echo engine: the next message of the chat finds a window that has to be flushed and compacted. */
const NEARLY_FULL = "tokens:190000\n";
const FULL_STEPS: ReadonlySet<string> = new Set(["turn.flushed", "turn.shortening", "turn.shortened"]);

export async function runGatewayRounds({ kills, seed }: GatewayRounds): Promise<GatewayReport> {
  await using folder = await temporaryFolder();
  await using telegram = await startFakeTelegram();
  const home = folder.join("home");
  await writeHome(home, telegram);
  const random = createRandom(seed, "gateway");
  const said = new Map<number, string[]>(CHATS.map((chat) => [chat, []]));
  let repeatedUpdates = 0;
  let unanswered: Message | undefined;

  const speak = (script = ""): void => {
    const chat = random.pick(CHATS);
    const lines = said.get(chat) ?? [];
    const text = `m ${chat}.${lines.length + 1}`;
    lines.push(text);
    const delivered = message({ text: script + text, from: { id: chat, is_bot: false, first_name: `P${chat}` } });
    telegram.deliver(delivered);
    // Telegram may bring anything twice, also after other messages.
    if (unanswered !== undefined && random.chance(0.3)) {
      telegram.deliver(unanswered);
      repeatedUpdates += 1;
    }
    unanswered = delivered;
  };

  /** An undisturbed gateway answers every message. */
  const settle = async (): Promise<string[]> => {
    const { child, ended } = await startGatewayChild({ home }, telegram);
    const missing = await untilAnswered(telegram, [...said.values()].flat());
    child.kill("SIGTERM");
    await ended;
    return missing;
  };

  const failures: string[] = [];
  for (const [index, kill] of kills.entries()) {
    const dieAt = kill === "random" ? undefined : { point: kill, after: random.whole(1, 3) };
    const { child, ended } = await startGatewayChild({ home, ...(dieAt === undefined ? {} : { dieAt }) }, telegram);
    const deadline = Date.now() + PATIENCE_MS;
    if (dieAt === undefined) setTimeout(() => child.kill("SIGKILL"), random.whole(50, 450));
    while (child.exitCode === null && child.signalCode === null) {
      if (Date.now() > deadline) {
        failures.push(`${kill} was not reached`);
        child.kill("SIGKILL");
        break;
      }
      if (unansweredOf(telegram, [...said.values()].flat()).length < MAX_UNANSWERED) {
        speak(FULL_STEPS.has(kill) ? NEARLY_FULL : "");
      }
      await delay(random.whole(0, 60));
    }
    await ended;
    // Everything is answered between the kills too, not only after the last one.
    if (index % 8 === 7) failures.push(...(await settle()));
  }
  failures.push(...(await settle()));
  const checked = await check(home, telegram, said);
  return {
    messages: [...said.values()].flat().length,
    kills: kills.length,
    repeatedUpdates,
    ...checked,
    failures: [...failures, ...checked.failures],
  };
}

async function writeHome(home: string, telegram: FakeTelegram): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const account = { apiRoot: telegram.url, allowFrom: ["*"] };
  await writeFile(
    join(home, "config.json"),
    JSON.stringify({
      channels: { telegram: { default: account } },
      turns: { queue: { cap: 1000 } },
      // A few exchanges are too long for it.
      models: { "holdfast/echo": { contextWindow: 1024 } },
    }),
    { mode: 0o600 },
  );
}

const CHILD = fileURLToPath(new URL("./gateway-child.ts", import.meta.url));

/** Resolves when its channel is connected, or when it died before. */
export async function startGatewayChild(
  task: GatewayChildTask,
  telegram: FakeTelegram,
  env: Record<string, string> = {},
): Promise<{ child: ChildProcess; ended: Promise<unknown> }> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TELEGRAM_BOT_TOKEN: telegram.token, ...env },
  });
  const ended = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), ended]);
  return { child, ended };
}

async function untilAnswered(telegram: FakeTelegram, expected: readonly string[]): Promise<string[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const missing = unansweredOf(telegram, expected);
    if (missing.length === 0) return [];
    if (Date.now() > deadline) return [`never answered: ${missing.join(", ")}`];
    await delay(50);
  }
}

function unansweredOf(telegram: FakeTelegram, texts: readonly string[]): string[] {
  const got = new Set(replies(telegram).map(({ text }) => text));
  return texts.filter((text) => !got.has(text));
}

/** Replies, by the message that they answer. */
function replies(telegram: FakeTelegram): { chat: number; text: string }[] {
  return telegram.sent
    .filter(({ result }) => result !== undefined)
    .flatMap(({ params }) => {
      const text = /m \d+\.\d+$/.exec(String(params["text"]))?.[0];
      return text === undefined ? [] : [{ chat: Number(params["chat_id"]), text }];
    });
}

type Checked = Pick<GatewayReport, "duplicates" | "repeatedAttempts" | "failures">;

async function check(
  home: string,
  telegram: FakeTelegram,
  said: ReadonlyMap<number, readonly string[]>,
): Promise<Checked> {
  const { config } = await loadConfig({ env: process.env, cwd: home, home });
  const agent = await openAgent({ home, config });
  const checked: Checked = { duplicates: 0, repeatedAttempts: 0, failures: [] };
  try {
    for (const [chat, texts] of said) {
      const got = replies(telegram)
        .filter((reply) => reply.chat === chat)
        .map(({ text }) => text);
      const first = [...new Set(got)];
      checked.duplicates += got.length - first.length;
      if (first.join() !== texts.join())
        checked.failures.push(`chat ${chat} was answered in the order ${first.join()}`);
      const entry = await agent.store.get(`agent:main:telegram:dm:${chat}`);
      if (entry === undefined) {
        if (texts.length > 0) checked.failures.push(`chat ${chat} has no session`);
        continue;
      }
      const lines: string[] = [];
      for await (const item of readTranscript(await transcriptPath(agent, entry))) {
        if (item.kind !== "entry" || item.entry.type !== "message" || isFlushEntry(item.entry)) continue;
        const { message: spoken } = item.entry;
        lines.push(`${spoken.role} ${/m \d+\.\d+$/.exec(messageText(spoken))?.[0] ?? "?"}`);
      }
      const should = texts.flatMap((text) => [`user ${text}`, `assistant ${text}`]);
      if (lines.join() !== should.join()) checked.failures.push(`chat ${chat} has the transcript ${lines.join()}`);
    }
    const pending = await agent.store.inbox.pending();
    if (pending.length > 0) checked.failures.push(`${pending.length} messages still wait`);
    for (let id = 1; ; id++) {
      const item = await agent.store.outbox.get(id);
      if (item === undefined) break;
      if (item.state !== "delivered") checked.failures.push(`reply ${id} is ${item.state}`);
      checked.repeatedAttempts += item.attempts - 1;
    }
    if (checked.duplicates > checked.repeatedAttempts) {
      checked.failures.push(`${checked.duplicates} duplicates, but only ${checked.repeatedAttempts} repeated attempts`);
    }
  } finally {
    await agent.store.close();
  }
  return checked;
}
