/**
 * A pipeline on a real store, with a channel that records its messages and turns that answer at once.
 * Several of them on one home act like several processes.
 */
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { Channel, ChannelStatus, OutboundMessage, SentMessage } from "../../src/channels/channel.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { DEFAULT_CONFIG, type HoldfastConfig, type TurnsConfig } from "../../src/config/config.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { MessageContext } from "../../src/keys/message-context.ts";
import type { Store, StoreKind } from "../../src/store/store.ts";
import type { ChatCommand, ChatCommands } from "../../src/turn/commands/command.ts";
import { createPipeline } from "../../src/turn/create-pipeline.ts";
import type {
  Pipeline,
  AddressedMessage,
  ChannelAccount,
  AgentParts,
  TurnRequest,
  TurnResult,
  TurnEvent,
} from "../../src/turn/pipeline.ts";
import { agentParts, createAgentPool, standInChannels } from "./stand-ins.ts";

export interface PipelineHome extends AsyncDisposable {
  pipeline: Pipeline;
  channel: FakeChannel;
  parts(agentId?: string): Promise<AgentParts>;
  store(agentId?: string): Promise<Store>;
  /** Texts of the started turns, in order. */
  turns: string[];
  events: TurnEvent[];
  /** Drains without closing the store, like an ending process. */
  stop(): Promise<void>;
}

export interface PipelineHomeOptions {
  home: string;
  kind?: StoreKind;
  turns?: Partial<TurnsConfig>;
  /** Default: answers `re: <text>` at once. */
  runTurn?: (request: TurnRequest) => Promise<Partial<TurnResult>>;
  commands?: ChatCommand[];
  engine?: Partial<Engine>;
  channels?: FakeChannel[];
  sendTimeoutMs?: number;
}

export async function createPipelineHome(options: PipelineHomeOptions): Promise<PipelineHome> {
  const channel = options.channels?.[0] ?? createFakeChannel();
  const config: HoldfastConfig = {
    ...DEFAULT_CONFIG,
    store: { kind: options.kind ?? "sqlite", view: false },
    session: { ...DEFAULT_CONFIG.session, dmScope: "per-channel-peer" },
    turns: { ...DEFAULT_CONFIG.turns, drainSeconds: 2, ...options.turns },
  };
  const turns: string[] = [];
  const events: TurnEvent[] = [];
  const agents = createAgentPool(async (agentId) => {
    const agent = await openAgent({ home: options.home, config, agentId, logger: silentLogger });
    return agentParts({ agent, config, engine: options.engine ?? {} });
  });
  const pipeline = createPipeline({
    config,
    agents,
    channels: standInChannels((options.channels ?? [channel]).map(({ account }) => account)),
    commands: commandTable(options.commands ?? []),
    runTurn: async (request) => {
      const text = request.messages.map(textOf).join(" + ");
      turns.push(text);
      const given = (await options.runTurn?.(request)) ?? {};
      return resultOf(`re: ${text}`, given);
    },
    clock: systemClock,
    logger: silentLogger,
    sendTimeoutMs: options.sendTimeoutMs,
  });
  pipeline.events.subscribe((event) => void events.push(event));
  const parts = async (agentId = "main") => await agents.open(agentId);
  return {
    pipeline,
    channel,
    parts,
    store: async (agentId) => (await parts(agentId)).agent.store,
    turns,
    events,
    stop: async () => await pipeline.drain(),
    [Symbol.asyncDispose]: async () => {
      await pipeline.drain();
      await agents.close();
    },
  };
}

export function textOf({ RawBody, Body }: MessageContext): string {
  return RawBody ?? Body ?? "";
}

let counter = 0;

export function inbound(
  text: string,
  { chat = "1", id = `m${counter++}`, ...more }: { chat?: string; id?: string } & Partial<AddressedMessage> = {},
): AddressedMessage {
  const { ctx, ...rest } = more;
  return {
    address: { channel: "telegram", accountId: "default", chatId: chat, messageId: id },
    receivedAt: Date.now(),
    ...rest,
    ctx: {
      RawBody: text,
      Body: text,
      From: `telegram:${chat}`,
      To: `telegram:${chat}`,
      SenderId: chat,
      AccountId: "default",
      Provider: "telegram",
      Surface: "telegram",
      OriginatingChannel: "telegram",
      OriginatingTo: chat,
      ChatType: "direct",
      MessageSid: id,
      CommandAuthorized: true,
      ...ctx,
    },
  };
}

export interface FakeChannel extends Channel {
  sent: OutboundMessage[];
  typed: number;
  /** Called before a message counts as sent; may throw or wait. */
  beforeSend: (message: OutboundMessage) => Promise<void> | void;
  account: Omit<ChannelAccount, "status"> & { status: ChannelStatus };
}

export function createFakeChannel(name = "telegram", accountId = "default"): FakeChannel {
  const channel: FakeChannel = {
    name,
    accountId,
    capabilities: { media: true, replies: true },
    sent: [],
    typed: 0,
    beforeSend: () => undefined,
    start: async () => undefined,
    stop: async () => undefined,
    send: async (message): Promise<SentMessage> => {
      await channel.beforeSend(message);
      channel.sent.push(message);
      return { messageId: `p${channel.sent.length}` };
    },
    showTyping: async () => {
      channel.typed += 1;
    },
    get account() {
      return account;
    },
  };
  const status: ChannelStatus = { state: "connected", text: "on" };
  const account = { channel, agentId: "main", replyTo: "off" as const, blockStreaming: true, status };
  return channel;
}

function commandTable(all: readonly ChatCommand[]): ChatCommands {
  return {
    all,
    find: (text) => {
      const [word = "", ...rest] = text.split(" ");
      const command = all.find(({ name }) => word === `/${name}`);
      return command === undefined ? undefined : { command, argument: rest.join(" ") };
    },
    answerMistyped: (text) => (text === "/statsu" ? "Did you mean /status?" : undefined),
  };
}

function resultOf(text: string, given: Partial<TurnResult>): TurnResult {
  const session = { sessionEntry: { sessionId: "s", updatedAt: 0 } } as TurnResult["session"];
  return { outcome: "answered", session, payloads: [{ text }], text, ...given };
}
