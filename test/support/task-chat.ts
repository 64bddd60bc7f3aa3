/**
 * People who give work to Claude Code through a chat: a real gateway, the real `claude`, and stand-ins for the platforms
 * and the model API.
 *
 *   await using chat = await createTaskChat();
 *   chat.home.telegram.say("/cc run in repo: Create a file");
 */
import type { ClaudeCodeConfig } from "../../src/config/claude-code.ts";
import type { HoldfastConfig } from "../../src/config/config.ts";
import { type ChatHome, type ChatHomeOptions, createChatHome } from "./chat-home.ts";
import { type ClaudeHome, createClaudeHome } from "./claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic/fake-anthropic.ts";
import type { BotCall } from "./fake-telegram/bot-calls.ts";

export interface TaskChat extends AsyncDisposable {
  api: FakeAnthropic;
  claude: ClaudeHome;
  home: ChatHome;
}

interface TaskChatOptions extends ChatHomeOptions {
  claudeCode?: Partial<ClaudeCodeConfig>;
}

/** The agent uses the echo engine, so that scripts call its tools. */
export async function createTaskChat({ claudeCode, ...options }: TaskChatOptions = {}): Promise<TaskChat> {
  const api = await startFakeAnthropic();
  const claude = await createClaudeHome(api);
  const home = await createChatHome({
    ...options,
    config: (config) => {
      const own: HoldfastConfig = {
        ...config,
        agents: { main: { engine: "echo" } },
        claudeCode: { ...config.claudeCode, ...taskSettings(config, claude), ...claudeCode },
      };
      return options.config?.(own) ?? own;
    },
    env: { ...claude.env, ...options.env },
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

/** Questions are asked, and scripted answers of the API are for tasks, not for comparing tasks with sessions. */
export function taskSettings({ claudeCode }: Pick<HoldfastConfig, "claudeCode">, { command, repo }: ClaudeHome) {
  const sessionSelection = { ...claudeCode.sessionSelection, relevance: "offline" as const };
  return { command, permissionMode: "default" as const, repos: [repo], sessionSelection };
}

/** The commands of the buttons of a Telegram message, by label. */
export function buttonsOf({ params }: BotCall): Record<string, string> {
  const { inline_keyboard: rows = [] } = (params["reply_markup"] ?? {}) as { inline_keyboard?: Button[][] };
  return Object.fromEntries(rows.flat().map(({ text, callback_data: command }) => [text, command]));
}

interface Button {
  text: string;
  callback_data: string;
}
