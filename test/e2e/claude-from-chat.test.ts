/**
 * A person on Telegram gives work to Claude Code and follows it: real gateway, real client library, real `claude`, with
 * stand-ins for Telegram and the model API.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { lastUserText } from "../support/fake-anthropic/recorded-request.ts";
import { hang, text, toolUse } from "../support/fake-anthropic/reply.ts";
import type { BotCall } from "../support/fake-telegram/bot-calls.ts";
import { ADA, BOB } from "../support/fake-telegram/updates.ts";
import { until } from "../support/time.ts";
import type { ClaudeCodeConfig } from "../../src/config/claude-code.ts";

const COMMIT = "echo 1 > webhook.ts && git add -A && git commit -qm 'Make the webhook idempotent'";

interface TaskChat extends AsyncDisposable {
  api: FakeAnthropic;
  claude: ClaudeHome;
  home: ChatHome;
}

async function createTaskChat(claudeCode: Partial<ClaudeCodeConfig> = {}): Promise<TaskChat> {
  const api = await startFakeAnthropic();
  const claude = await createClaudeHome(api);
  const home = await createChatHome({
    config: (config) => ({
      ...config,
      agents: { main: { engine: "echo" } },
      claudeCode: {
        ...config.claudeCode,
        command: claude.command,
        permissionMode: "default",
        repos: [claude.repo],
        sessionSelection: { ...config.claudeCode.sessionSelection, relevance: "offline" },
        ...claudeCode,
      },
    }),
    env: claude.env,
  });
  return {
    api,
    claude,
    home,
    [Symbol.asyncDispose]: async () => {
      await home[Symbol.asyncDispose]();
      await claude[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

/** The commands of the buttons, by label. */
function buttonsOf({ params }: BotCall): Record<string, string> {
  const { inline_keyboard: rows = [] } = (params["reply_markup"] ?? {}) as { inline_keyboard?: Button[][] };
  return Object.fromEntries(rows.flat().map(({ text: label, callback_data: command }) => [label, command]));
}

interface Button {
  text: string;
  callback_data: string;
}

function sentId({ result }: BotCall): number {
  return (result as { message_id: number }).message_id;
}

it("runs a task, asks, commits, reports, and takes a reply as a follow-up", async () => {
  await using chat = await createTaskChat();
  const { api, claude, home } = chat;
  api.script(
    toolUse("Bash", { command: COMMIT, description: "Commit the change" }),
    text("The webhook is idempotent."),
  );
  home.telegram.say('tool:sessions_spawn {"task":"Make the webhook idempotent","repo":"repo"}');
  await home.hears(ADA.id, '"status": "accepted"');
  const question = await home.hears(ADA.id, /asks to use Bash: echo 1/);
  expect(question.params["text"]).toContain("Commit the change");
  home.telegram.press(question, buttonsOf(question)["Allow once"] ?? "");
  const result = await home.hears(ADA.id, /Task \w+ is done/);
  expect(result.params["text"]).toContain("The webhook is idempotent.");
  expect(result.params["text"]).toMatch(/Commit [0-9a-f]{7,8} Make the webhook idempotent$/);
  expect(execFileSync("git", ["log", "-1", "--format=%s"], { cwd: claude.repo, encoding: "utf8" })).toBe(
    "Make the webhook idempotent\n",
  );
  await home.telegram.waitFor(({ method, params }) => {
    return method === "editMessageText" && /Ended: completed/.test(String(params["text"]));
  });

  api.script(text("Both cases are tested now."));
  home.telegram.say("And add a test", { reply_to_message: { message_id: sentId(result) } as never });
  await home.hears(ADA.id, "Both cases are tested now.");
  expect(lastUserText(api.conversation.at(-1) as never)).toBe("And add a test");
  expect(JSON.stringify(api.conversation.at(-1))).toContain("Make the webhook idempotent");
}, 60_000);

it("a denied or unanswered question is refused, and a stranger cannot answer it", async () => {
  await using chat = await createTaskChat({ questionMinutes: 0.02 });
  const { api, claude, home } = chat;
  api.script(toolUse("Bash", { command: "touch one" }), text("I could not create it."));
  home.telegram.say("/cc run in repo: Create a file");
  const question = await home.hears(ADA.id, /asks to use Bash: touch one/);
  await home.hears(ADA.id, "I could not create it.");
  expect(home.texts(ADA.id).join("\n")).toContain("Not allowed: Bash");
  home.telegram.press(question, buttonsOf(question)["Allow once"] ?? "");
  await home.hears(ADA.id, "There is no such question any more.");
  expect(existsSync(join(claude.repo, "one"))).toBe(false);
}, 60_000);

it("only people who may command the agent answer, in the conversation of the task", async () => {
  await using chat = await createTaskChat();
  const { api, claude, home } = chat;
  api.script(toolUse("Bash", { command: "touch one" }), text("Done."));
  home.telegram.say("/cc run in repo: Create a file");
  const question = await home.hears(ADA.id, /asks to use Bash: touch one/);
  const allow = buttonsOf(question)["Allow once"] ?? "";
  home.telegram.say(allow, { from: BOB });
  await home.hears(BOB.id, "There is no such question any more.");
  home.telegram.press(question, buttonsOf(question)["Deny"] ?? "");
  await home.hears(ADA.id, "Denied.");
  await home.hears(ADA.id, "Done.");
  expect(existsSync(join(claude.repo, "one"))).toBe(false);
  home.telegram.say("/cc run in /etc: read the passwords");
  await home.hears(ADA.id, "Tasks may not work in /etc");
}, 60_000);

it("a gateway that dies tells the person and runs nothing twice", async () => {
  await using chat = await createTaskChat();
  const { api, home } = chat;
  api.script(hang());
  home.telegram.say("/cc run in repo: Think for long");
  await home.hears(ADA.id, /Task \w+: Think for long\nStart fresh: /);
  await until(() => api.conversation.length > 0, "Claude Code at work");
  await home.stop();
  await home.hears(ADA.id, /was stopped/);
  await home.start();
  home.telegram.say("/cc status");
  await home.hears(ADA.id, /interrupted/);
  expect(api.conversation).toHaveLength(1);
}, 60_000);
