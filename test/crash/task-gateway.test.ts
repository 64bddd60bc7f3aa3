/** A gateway that is killed while it runs a task: nothing is asked or run twice, and the person is told once. */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FaultPoint } from "../../src/base/faults.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { createClaudeHome } from "../support/claude-home.ts";
import { startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { hang, text, toolUse, withUsage } from "../support/fake-anthropic/reply.ts";
import type { BotCall } from "../support/fake-telegram/bot-calls.ts";
import { type FakeTelegram, startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { buttonsOf, taskSettings } from "../support/task-chat.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { until } from "../support/time.ts";
import { startGatewayChild } from "./gateway-rounds.ts";

interface Expected {
  /** A step, or what the gateway waits for. */
  at: FaultPoint | "the model" | "an answer" | "the tool";
  questions: number;
  result: RegExp;
  /** How often Claude Code began the task. */
  runs: number;
  isDone: boolean;
  /** Default: any. */
  status?: RegExp;
}

/** A run of Claude Code takes seconds, on a busy machine many. */
const PATIENCE_MS = 40_000;

const LOST = /was interrupted because the gateway stopped/;
const DONE = /Task \w+ is done/;

it.each<Expected>([
  { at: "task.stored", questions: 1, result: DONE, runs: 1, isDone: true },
  { at: "task.running", questions: 0, result: LOST, runs: 0, isDone: false },
  { at: "the model", questions: 0, result: LOST, runs: 1, isDone: false },
  // The cost of a request is stored when it ends, before its question is asked.
  { at: "an answer", questions: 1, result: LOST, runs: 1, isDone: false, status: /: lost, \$(?!0\.00)/ },
  { at: "the tool", questions: 1, result: LOST, runs: 1, isDone: false },
  { at: "task.ended", questions: 1, result: DONE, runs: 1, isDone: true },
  { at: "task.told", questions: 1, result: DONE, runs: 1, isDone: true },
])(
  "killed at $at",
  async ({ at, questions, result, runs, isDone, status = /:/ }) => {
    await using place = await createPlace();
    const { api, claude, telegram, home } = place;
    const command = at === "the tool" ? "touch begun && sleep 2 && touch one" : "touch one";
    if (at === "the model") api.script(hang());
    else api.script(withUsage(toolUse("Bash", { command }), { input_tokens: 100_000 }), text("Done."));

    const isStep = at.startsWith("task.");
    const first = await startGatewayChild(
      isStep ? { home, dieAt: { point: at as FaultPoint, after: 1 } } : { home },
      telegram,
      claude.env,
    );
    telegram.say("/cc run in repo: Create a file");
    if (at === "the model") await until(() => api.conversation.length > 0, "a request");
    if (at === "an answer") await until(() => sent(telegram, QUESTION).length > 0, "a question");
    if (!isStep && at !== "the tool") first.child.kill("SIGKILL");
    const answering = answerQuestions(telegram);
    if (at === "the tool") {
      await until(() => existsSync(join(claude.repo, "begun")), "a running tool");
      first.child.kill("SIGKILL");
    }
    await first.ended;
    expect(first.child.signalCode).toBe("SIGKILL");
    await claude.empty();

    const second = await startGatewayChild({ home }, telegram, claude.env);
    try {
      await until(
        () => sent(telegram, result).length > 0,
        () => `a result; there was ${JSON.stringify(sent(telegram, /./))}`,
        PATIENCE_MS,
      );
      // Late answers do nothing.
      if (at === "an answer") {
        await until(() => sent(telegram, /This question is no longer open/).length > 0, "an answer to the answer");
      }
      telegram.say("/cc status");
      await until(() => sent(telegram, /Create a file: /).length > 0, "the status");
      expect(sent(telegram, /Create a file: /)[0]).toMatch(status);
      expect(sent(telegram, /^Task \w+ (?:is done|was|failed)/)).toHaveLength(1);
      expect(sent(telegram, QUESTION)).toHaveLength(questions);
      expect(sent(telegram, /^Task \w+: Create a file/)).toHaveLength(1);
      // Claude Code may still send a denied tool's result before it is ended.
      expect(api.conversation.filter((request) => toolResults(request).length === 0)).toHaveLength(runs);
      expect(existsSync(join(claude.repo, "one"))).toBe(isDone);
    } finally {
      answering.stop();
      second.child.kill("SIGTERM");
      await second.ended;
    }
  },
  90_000,
);

it.each<FaultPoint>(["task.stored", "task.running", "task.ended"])(
  "killed at %s of a follow-up: it runs at most once, and the person is told",
  async (point) => {
    await using place = await createPlace();
    const { api, claude, telegram, home } = place;
    api.script(text("Done."), text("Done again."));
    const first = await startGatewayChild({ home, dieAt: { point, after: 2 } }, telegram, claude.env);
    telegram.say("/cc run in repo: Create a file");
    await until(() => sent(telegram, DONE).length > 0, "a result", PATIENCE_MS);
    const { result } = await telegram.waitFor(({ params }) => DONE.test(String(params["text"])));
    const { message_id } = result as { message_id: number };
    telegram.say("And a test", { reply_to_message: { message_id } as never });
    await first.ended;
    await claude.empty();
    const second = await startGatewayChild({ home }, telegram, claude.env);
    try {
      const isLost = point === "task.running";
      await until(
        () => sent(telegram, isLost ? LOST : /Done again\./).length > 0,
        () => `a result; there was ${JSON.stringify(sent(telegram, /./))}`,
        PATIENCE_MS,
      );
      expect(sent(telegram, /^Task \w+ (?:is done|was|failed)/)).toHaveLength(2);
      expect(api.conversation).toHaveLength(isLost ? 1 : 2);
      expect(JSON.stringify(api.conversation.at(-1))).toContain("Create a file");
    } finally {
      second.child.kill("SIGTERM");
      await second.ended;
    }
  },
  90_000,
);

/** A home for gateways of their own processes, with stand-ins for Telegram and the model API. */
async function createPlace() {
  const parts = new AsyncDisposableStack();
  const api = parts.use(await startFakeAnthropic());
  const claude = parts.use(await createClaudeHome(api));
  const telegram = parts.use(await startFakeTelegram());
  const home = parts.use(await temporaryFolder()).join("home");
  await mkdir(home, { mode: 0o700 });
  const account = { apiRoot: telegram.url, allowFrom: ["*"] };
  const config = { channels: { telegram: { default: account } }, claudeCode: taskSettings(DEFAULT_CONFIG, claude) };
  await writeFile(join(home, "config.json"), JSON.stringify(config), { mode: 0o600 });
  return { api, claude, telegram, home, [Symbol.asyncDispose]: async () => await parts.disposeAsync() };
}

const QUESTION = /asks to use Bash/;

/** Without repetitions: a delivery that the kill interrupted is repeated, because Telegram cannot recognise it. */
function sent(telegram: FakeTelegram, words: RegExp): string[] {
  const texts = telegram.sent.filter(({ result }) => result !== undefined).map(({ params }) => String(params["text"]));
  return [...new Set(texts)].filter((said) => words.test(said));
}

/** Taps Allow on every question that arrives. */
function answerQuestions(telegram: FakeTelegram): { stop(): void } {
  const seen = new Set<BotCall>();
  const timer = setInterval(() => {
    for (const call of telegram.sent) {
      const command = buttonsOf(call)["Allow once"];
      if (command === undefined || call.result === undefined || seen.has(call)) continue;
      seen.add(call);
      telegram.press(call, command);
    }
  }, 50);
  return { stop: () => clearInterval(timer) };
}
