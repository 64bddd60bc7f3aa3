/** Messages through all parts on the `json` store: turns, a restart, delivery, resets. */
import { expect, it } from "vitest";
import { silentLogger } from "../../src/base/log.ts";
import type { Channel, OutboundMessage } from "../../src/channels/channel.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import { transcriptPath } from "../../src/session/agent-handle.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import type { Admitted } from "../../src/turn/pipeline.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { readAll, textOf } from "../support/transcripts.ts";
import { type Turns, openTurns } from "../../src/compose/turns.ts";

const KEY = "agent:main:telegram:dm:7";

interface Fixture extends AsyncDisposable {
  turns: Turns;
  sent: OutboundMessage[];
}

/** One process. Undelivered messages wait for the next one. */
async function start(home: string, { connected = true, config = DEFAULT_CONFIG } = {}): Promise<Fixture> {
  const sent: OutboundMessage[] = [];
  const channel: Channel = {
    name: "telegram",
    accountId: "default",
    capabilities: { media: true, replies: true },
    start: async (host) => host.report({ state: connected ? "connected" : "failed", text: "" }),
    stop: async () => undefined,
    send: async (message) => ({ messageId: `m${sent.push(message)}` }),
  };
  const json: HoldfastConfig = { ...config, store: { kind: "json", view: true } };
  const turns = await openTurns({
    home,
    config: json,
    channels: false,
    extraChannels: [channel],
    logger: silentLogger,
  });
  await turns.start();
  return { turns, sent, [Symbol.asyncDispose]: async () => await turns.close() };
}

function messageOf(text: string, messageId: string, chatId = "7") {
  return {
    address: { channel: "telegram", accountId: "default", chatId, messageId },
    ctx: {
      Provider: "telegram",
      OriginatingChannel: "telegram",
      OriginatingTo: chatId,
      From: `telegram:${chatId}`,
      ChatType: "direct",
      SenderId: chatId,
      Body: text,
      CommandAuthorized: true,
    },
    receivedAt: Date.now(),
  };
}

const admit = async ({ turns }: Fixture, text: string, messageId: string, chatId?: string): Promise<Admitted> =>
  await turns.pipeline.admit(messageOf(text, messageId, chatId));

it("can be selected by the environment", async () => {
  await using home = await temporaryFolder();
  const { config } = await loadConfig({ env: { HOLDFAST_STORE: "json" }, cwd: home.path, home: home.path });
  expect(config.store.kind).toBe("json");
});

it("answers, recovers a dead process's messages, and delivers everything once", async () => {
  await using home = await temporaryFolder();
  {
    await using first = await start(home.path, { connected: false });
    const one = await admit(first, "one", "1");
    expect((await one.ended).outcome).toBe("answered");
    expect((await admit(first, "one", "1")).admitted).toBe(false);
    const { agent } = await first.turns.agents.open("main");
    // Admitted and claimed by a process that died while answering it.
    await first.turns.pipeline.drain();
    const { address, ctx, receivedAt } = messageOf("two", "2");
    const payload = { ctx: { ...ctx, SessionKey: KEY }, deliver: true };
    const { item } = await agent.store.inbox.admit({ key: KEY, address, payload, receivedAt });
    await withSessionLease(agent, KEY, {}, async ({ lease }) => {
      expect(await agent.store.inbox.claim(lease)).toMatchObject([{ id: item.id, state: "running" }]);
    });
    expect(await agent.store.outbox.routes()).toMatchObject([{ channel: "telegram", waiting: 1 }]);
    expect(first.sent).toEqual([]);
  }
  await using second = await start(home.path);
  const { agent } = await second.turns.agents.open("main");
  expect(agent.store.location).toMatch(/sessions\.json$/);
  await expect.poll(() => second.sent.length, { timeout: 10_000 }).toBe(2);
  expect(second.sent.map(({ text }) => text)).toEqual([
    expect.stringContaining("one") as string,
    expect.stringContaining("two") as string,
  ]);
  await expect.poll(async () => await agent.store.outbox.routes()).toEqual([]);
  expect(await agent.store.inbox.pending()).toEqual([]);

  const entry = await agent.store.get(KEY);
  if (entry === undefined) throw new Error("no session");
  const { entries } = await readAll(await transcriptPath(agent, entry));
  const said = entries.filter(({ type }) => type === "message").map(textOf);
  expect(said.filter((text) => text === "one" || text === "two")).toEqual(["one", "two"]);
  expect(said).toHaveLength(4);
});

it("keeps order and loses nothing with many chats, and resets by command and from outside", async () => {
  await using home = await temporaryFolder();
  await using fixture = await start(home.path);
  const { turns, sent } = fixture;
  const admitted = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => await admit(fixture, `n${index}`, `x${index}`, `${index % 8}`)),
  );
  const ends = await Promise.all(admitted.map(async ({ ended }) => await ended));
  expect(ends.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 40 }, () => "answered"));
  expect(await (await admit(fixture, "/new fresh", "y1")).ended).toMatchObject({ outcome: "answered" });
  const before = await (await turns.agents.open("main")).agent.store.get(KEY);
  const { previous, entry } = await turns.resetSession("main", KEY, {});
  expect(previous.sessionId).toBe(before?.sessionId);
  expect(entry.sessionId).not.toBe(previous.sessionId);
  await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(41);
  for (const answers of Map.groupBy(sent, ({ target }) => target.to).values()) {
    const numbers = answers.flatMap(({ text }) => /n(\d+)\b/.exec(text ?? "")?.[1] ?? []).map(Number);
    expect(numbers).toHaveLength(5);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
});
