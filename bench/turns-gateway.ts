/**
 * The gateway that `turns.ts` measures, in a separate process. People write to it through a channel in this process.
 * Messages pass the durable inbox and outbox as on any platform, but no network is measured. A turn ends when the
 * channel's `send` is called.
 *
 * The argument is the home folder. Answers each `TurnLoad` with a `TurnFigures`.
 */
import { basename } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { createLogger } from "../src/base/log.ts";
import type { Channel, ChannelHost } from "../src/channels/channel.ts";
import { loadConfig } from "../src/config/load.ts";
import type { openGateway as OpenGateway } from "../src/compose/turns.ts";

export interface TurnLoad {
  turns: number;
  /** The number of sessions, which take turns. */
  sessions: number;
  /** `one`: the next person writes when this one is answered. `all`: everybody writes again when answered. */
  pace: "one" | "all" | { perSecond: number };
}

export interface TurnFigures {
  /** From the message to its answer, in ms, in the order of the messages. */
  times: number[];
  seconds: number;
  /** The 99th percentile of how late the event loop was, in ms. */
  loopDelay: number;
  /** CPU of all threads of the process, in ms. */
  cpu: number;
  /** In MB, after the load. */
  rss: number;
  heap: number;
}

/** How often the event loop's delay is sampled. The interval itself counts as delay. */
const RESOLUTION_MS = 5;

// The built code, because loading TypeScript takes more memory.
const BUILT = new URL("../dist/compose/turns.js", import.meta.url);
const { openGateway } = (await import(BUILT.href)) as { openGateway: typeof OpenGateway };

const [home = ""] = process.argv.slice(2);
const { config } = await loadConfig({ env: process.env, cwd: home, home });
/** Several gateways may share a store; each has people of its own. */
const ACCOUNT = basename(home);
const people = createPeople();
const gateway = await openGateway({
  home,
  config,
  port: 0,
  channels: false,
  extraChannels: [people.channel],
  logger: createLogger({ level: "warn" }),
});
await people.connected;

process.on("message", (load: TurnLoad) => void run(load).then((figures) => process.send?.(figures)));
process.on("disconnect", () => void gateway.close());
process.send?.("ready");

async function run(load: TurnLoad): Promise<TurnFigures> {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const times = await PACES[typeof load.pace === "object" ? "steady" : load.pace](load);
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  histogram.disable();
  // Collect garbage first, so that it does not count as growth.
  await delay(300);
  globalThis.gc?.();
  return {
    times,
    seconds,
    loopDelay: Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS),
    cpu: (user + system) / 1000,
    rss: process.memoryUsage.rss() / 1024 / 1024,
    heap: process.memoryUsage().heapUsed / 1024 / 1024,
  };
}

type Run = (load: TurnLoad) => Promise<number[]>;

const PACES: Record<"one" | "all" | "steady", Run> = {
  one: async ({ turns, sessions }) => {
    const times: number[] = [];
    for (let turn = 0; turn < turns; turn++) times.push(await people.ask(turn % sessions));
    return times;
  },
  all: async ({ turns, sessions }) => {
    const times: number[] = [];
    const person = async (session: number): Promise<void> => {
      for (let turn = session; turn < turns; turn += sessions) times.push(await people.ask(session));
    };
    await Promise.all(Array.from({ length: sessions }, async (_, session) => await person(session)));
    return times;
  },
  steady: async ({ turns, sessions, pace }) => {
    const everyMs = typeof pace === "object" ? 1000 / pace.perSecond : 0;
    const startedAt = performance.now();
    const asked: Promise<number>[] = [];
    for (let turn = 0; turn < turns; turn++) {
      const early = startedAt + turn * everyMs - performance.now();
      if (early > 0) await delay(early);
      asked.push(people.ask(turn % sessions));
    }
    return await Promise.all(asked);
  },
};

interface People {
  channel: Channel;
  connected: Promise<void>;
  /** Resolves to how long the answer took, in ms. */
  ask(session: number): Promise<number>;
}

function createPeople(): People {
  const { promise: connected, resolve: connect } = Promise.withResolvers<void>();
  const waiting = new Map<string, () => void>();
  let host: ChannelHost | undefined;
  let count = 0;
  return {
    connected,
    channel: {
      name: "bench",
      accountId: ACCOUNT,
      capabilities: { media: false, replies: false },
      start: async (given) => {
        host = given;
        given.report({ state: "connected", text: "people are there" });
        connect();
      },
      stop: async () => undefined,
      send: async ({ text = "", idempotencyKey }) => {
        waiting.get(/message \d+$/.exec(text)?.[0] ?? "")?.();
        return { messageId: idempotencyKey };
      },
    },
    ask: async (session) => {
      count += 1;
      const text = `message ${count}`;
      const { promise, resolve } = Promise.withResolvers<number>();
      const startedAt = performance.now();
      waiting.set(text, () => resolve(performance.now() - startedAt));
      await host?.admit(messageOf(`${ACCOUNT}-${session}`, text));
      const ms = await promise;
      waiting.delete(text);
      return ms;
    },
  };
}

function messageOf(chatId: string, text: string): Parameters<ChannelHost["admit"]>[0] {
  return {
    address: { channel: "bench", accountId: ACCOUNT, chatId, messageId: text },
    receivedAt: Date.now(),
    ctx: {
      RawBody: text,
      Body: text,
      From: `bench:${chatId}`,
      To: `bench:${chatId}`,
      SenderId: chatId,
      SenderName: `Person ${chatId}`,
      AccountId: ACCOUNT,
      Provider: "bench",
      Surface: "bench",
      OriginatingChannel: "bench",
      OriginatingTo: chatId,
      ChatType: "direct",
      MessageSid: text,
      CommandAuthorized: true,
    },
  };
}
