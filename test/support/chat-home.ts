/**
 * A real gateway with all its parts on a scratch home, and people who write to it through a fake
 * Telegram:
 *
 *   await using home = await createChatHome();
 *   home.telegram.say("hello");
 *   await home.hears(ADA.id, "hello");
 *
 * `stop()` ends the gateway and `start()` opens the next one on the same home.
 */
import { createLogger } from "../../src/base/log.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { type OpenGatewayOptions, type OpenedGateway, openGateway } from "../../src/compose/turns.ts";
import { DEFAULT_CONFIG, type HoldfastConfig, type TelegramAccountConfig } from "../../src/config/config.ts";
import { type AgentHandle, transcriptPath } from "../../src/session/agent-handle.ts";
import type { MessageEntry } from "../../src/transcript/entries.ts";
import { messageText } from "../../src/transcript/messages.ts";
import { readTranscript } from "../../src/transcript/reader.ts";
import type { BotCall } from "./fake-telegram/bot-calls.ts";
import { type FakeTelegram, startFakeTelegram } from "./fake-telegram/fake-telegram.ts";
import { temporaryFolder } from "./temp-folder.ts";
import { until } from "./time.ts";

export interface ChatHome extends AsyncDisposable {
  readonly home: string;
  readonly config: HoldfastConfig;
  readonly telegram: FakeTelegram;
  readonly gateway: OpenedGateway;
  /** Logged lines. */
  readonly logged: string[];
  /** Reported channel states, such as `telegram connected`. */
  readonly statuses: string[];
  /** Starts a gateway on the home and waits for its channels. `connected: false` does not wait. */
  start(options?: { connected?: boolean }): Promise<OpenedGateway>;
  /** Closes the newest gateway like SIGTERM. */
  stop(): Promise<void>;
  /** Texts sent to a Telegram chat, oldest first. */
  texts(chatId: number): string[];
  /** Waits until the chat has a message with these words. */
  hears(chatId: number, words: string | RegExp): Promise<BotCall>;
  /** A separate handle on the store and files. */
  agent(): Promise<AgentHandle>;
  /** Roles and texts of the current window; for tool results, the tool's name. */
  transcript(sessionKey: string): Promise<string[]>;
  messages(sessionKey: string): Promise<MessageEntry[]>;
  /** The method's result; rejects on an error. */
  rpc(method: string, params: unknown): Promise<unknown>;
}

/** Options for an agent that uses the model at this URL. */
export function withModel(url: string): Pick<ChatHomeOptions, "config" | "env"> {
  return {
    config: (config) => ({
      ...config,
      agents: { main: { model: "anthropic/claude-sonnet-4-5" } },
      providers: { anthropic: { baseUrl: `${url}/v1` } },
    }),
    env: { ANTHROPIC_API_KEY: "test-key-without-value" },
  };
}

export interface ChatHomeOptions {
  /** Default: the default configuration with the echo engine, open to everyone. */
  config?: (config: HoldfastConfig) => HoldfastConfig;
  account?: TelegramAccountConfig;
  env?: Record<string, string>;
  /** Default: a temporary folder. */
  home?: string;
  gateway?: Partial<OpenGatewayOptions>;
  /** False: the test starts the gateway. */
  started?: boolean;
}

export async function createChatHome(options: ChatHomeOptions = {}): Promise<ChatHome> {
  const folder = await temporaryFolder();
  const telegram = await startFakeTelegram();
  const home = options.home ?? folder.join("home");
  const base: HoldfastConfig = {
    ...DEFAULT_CONFIG,
    channels: {
      ...DEFAULT_CONFIG.channels,
      telegram: { default: { apiRoot: telegram.url, allowFrom: ["*"], ...options.account } },
    },
  };
  const config = options.config?.(base) ?? base;
  const logged: string[] = [];
  const statuses: string[] = [];
  const logger = createLogger({ level: "warn", write: (line) => void logged.push(line) });
  const gateways: OpenedGateway[] = [];
  let agent: AgentHandle | undefined;

  const start: ChatHome["start"] = async ({ connected = true } = {}) => {
    const before = statuses.length;
    const gateway = await openGateway({
      home,
      config,
      port: 0,
      channels: true,
      logger,
      env: { ...process.env, TELEGRAM_BOT_TOKEN: telegram.token, ...options.env },
      onChannelStatus: (channel, _account, { state }) => void statuses.push(`${channel} ${state}`),
      ...options.gateway,
    });
    gateways.push(gateway);
    if (connected) await until(() => statuses.slice(before).includes("telegram connected"), "telegram connected");
    return gateway;
  };
  const newest = (): OpenedGateway => {
    const gateway = gateways.at(-1);
    if (gateway === undefined) throw new Error("no gateway was started");
    return gateway;
  };
  const texts = (chatId: number): string[] =>
    telegram.sent.filter(({ params }) => params["chat_id"] === chatId).map(({ params }) => wordsOf(params));
  const openOwn = async (): Promise<AgentHandle> => (agent ??= await openAgent({ home, config, logger }));
  const messages = async (sessionKey: string): Promise<MessageEntry[]> => {
    const handle = await openOwn();
    const entry = await handle.store.get(sessionKey);
    if (entry === undefined) throw new Error(`no session ${sessionKey}`);
    const found: MessageEntry[] = [];
    for await (const item of readTranscript(await transcriptPath(handle, entry))) {
      if (item.kind === "entry" && item.entry.type === "message") found.push(item.entry);
    }
    return found;
  };
  if (options.started !== false) await start();

  return {
    home,
    config,
    telegram,
    get gateway() {
      return newest();
    },
    logged,
    statuses,
    start,
    stop: async () => {
      await gateways.pop()?.close();
    },
    texts,
    hears: async (chatId, words) => {
      const fits = ({ params }: BotCall): boolean =>
        params["chat_id"] === chatId &&
        (typeof words === "string" ? wordsOf(params).includes(words) : words.test(wordsOf(params)));
      const found = (): BotCall | undefined => telegram.sent.find(fits);
      await until(
        () => found() !== undefined,
        () => `“${words}” in ${chatId}; there was ${JSON.stringify(texts(chatId))}`,
      );
      return found() as BotCall;
    },
    agent: openOwn,
    transcript: async (sessionKey) =>
      (await messages(sessionKey)).map(({ message }) => {
        const who = message.role === "toolResult" ? message.toolName : message.role;
        return `${who}: ${messageText(message)}`;
      }),
    messages,
    rpc: async (method, params) => {
      const { url, token } = newest();
      const response = await fetch(`${url}/rpc/${method}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(params),
      });
      const answer = (await response.json()) as { ok: boolean; payload?: unknown; error?: { message: string } };
      if (!answer.ok) throw new Error(answer.error?.message ?? "refused");
      return answer.payload;
    },
    [Symbol.asyncDispose]: async () => {
      await agent?.store.close();
      await Promise.all(gateways.map(async (gateway) => await gateway.close()));
      await telegram[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

function wordsOf({ text, caption }: Record<string, unknown>): string {
  const words = text ?? caption;
  return typeof words === "string" ? words : "";
}
