import { describe, expect, it } from "vitest";
import {
  type PipelineHome,
  createFakeChannel,
  inbound,
  createPipelineHome,
} from "../../../test/support/pipeline-home.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { HoldfastError } from "../../base/errors.ts";
import { judgeFailure } from "./send-reply.ts";
import { accountLeaseKey } from "../../store/store-rules.ts";
import type { OutboxDraft } from "../../store/queues.ts";

const KEY = "agent:main:telegram:dm:1";

function draft(text: string, channel = "telegram", accountId = "default"): OutboxDraft {
  return {
    idempotencyKey: `${channel}:${accountId}:${text}`,
    target: { channel, accountId, to: "1" },
    payload: { text },
  };
}

async function enqueue(home: PipelineHome, ...drafts: OutboxDraft[]): Promise<void> {
  await (await home.store()).outbox.enqueue(KEY, drafts);
}

const sentTexts = ({ channel }: PipelineHome) => channel.sent.map(({ text }) => text);
const eventsOf = ({ events }: PipelineHome, type: string) => events.filter((event) => event.type === type);

describe("delivery", () => {
  it("sends enqueued messages in order per session, and reports it", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    await fixture.pipeline.start();
    await enqueue(fixture, draft("a"), draft("b"), draft("c"));
    await expect.poll(() => sentTexts(fixture)).toEqual(["a", "b", "c"]);
    await expect.poll(() => eventsOf(fixture, "delivery.sent").length).toBe(3);
    expect(eventsOf(fixture, "delivery.started")).toMatchObject([{ mayRepeat: false }, {}, {}]);
    const { outbox } = await fixture.store();
    expect(await outbox.routes()).toEqual([]);
  });

  it("sends a message that was enqueued while another of the session was sent", async () => {
    await using home = await temporaryFolder();
    await using world = await createPipelineHome({ home: home.path });
    await world.pipeline.start();
    world.channel.beforeSend = async ({ text }) => {
      if (text === "a") await enqueue(world, draft("b"));
    };
    await enqueue(world, draft("a"));
    await expect.poll(() => sentTexts(world)).toEqual(["a", "b"]);
  });

  it("sends the replies of turns without reading the outbox", async () => {
    await using home = await temporaryFolder();
    await using world = await createPipelineHome({ home: home.path });
    await world.pipeline.start();
    const { outbox } = (await world.parts()).agent.store;
    const due = outbox.due.bind(outbox);
    let reads = 0;
    outbox.due = async (...given) => {
      reads += 1;
      return await due(...given);
    };
    // The first delivery takes the route's lease.
    await enqueue(world, draft("first"));
    await expect.poll(() => eventsOf(world, "delivery.sent").length).toBe(1);
    reads = 0;
    for (const text of ["one", "two", "three"]) await (await world.pipeline.admit(inbound(text))).ended;
    await expect.poll(() => eventsOf(world, "delivery.sent").length).toBe(4);
    expect(reads).toBeLessThan(2);
  });

  it("retries transient failures when the platform says so, and keeps the order", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    await fixture.pipeline.start();
    let failures = 1;
    const tried: number[] = [];
    fixture.channel.beforeSend = ({ text }) => {
      if (text !== "a") return;
      tried.push(Date.now());
      if (failures-- > 0) {
        throw new HoldfastError("unavailable", "rate-limited", "Slow down", { data: { retryAfterMs: 1200 } });
      }
    };
    await enqueue(fixture, draft("a"), draft("b"));
    await expect.poll(() => sentTexts(fixture)).toEqual(["a", "b"]);
    expect((tried[1] ?? 0) - (tried[0] ?? 0)).toBeGreaterThanOrEqual(1190);
    expect(eventsOf(fixture, "delivery.delayed")).toMatchObject([{ reason: "Slow down" }]);
    expect(fixture.pipeline.status().counts.mayRepeat).toBe(0);
  });

  it("gives up permanent failures, informs the agent, and continues", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    await fixture.pipeline.start();
    fixture.channel.beforeSend = ({ text }) => {
      if (text === "a") throw new HoldfastError("forbidden", "blocked", "The bot was blocked by the user");
    };
    await enqueue(fixture, draft("a"), draft("b"));
    await expect.poll(() => sentTexts(fixture)).toEqual(["b"]);
    expect(eventsOf(fixture, "delivery.failed")).toMatchObject([{ reason: "The bot was blocked by the user" }]);
    const { systemEvents } = (await fixture.parts()).agent.store;
    const { events } = await systemEvents.drainSystemEvents(KEY, { id: "t", epoch: 1 });
    expect(events.map(({ text }) => text)).toEqual([
      "Your message “a” did not arrive on telegram: The bot was blocked by the user",
    ]);
  });

  it("does not wait for a channel that hangs, and reports that the message may repeat", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path, sendTimeoutMs: 100 });
    await fixture.pipeline.start();
    let hangs = 1;
    fixture.channel.beforeSend = async () => {
      if (hangs-- > 0) await new Promise(() => undefined);
    };
    await enqueue(fixture, draft("a"));
    await (await fixture.store()).outbox.enqueue("agent:main:telegram:dm:2", [draft("other")]);
    await expect.poll(() => sentTexts(fixture)).toEqual(["other", "a"]);
    expect(eventsOf(fixture, "delivery.started").at(-1)).toMatchObject({ mayRepeat: true });
    await expect.poll(() => fixture.pipeline.status().counts).toMatchObject({ delivered: 2, mayRepeat: 1 });
  });

  it("does not repeat a message that arrived late", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path, sendTimeoutMs: 50 });
    await fixture.pipeline.start();
    fixture.channel.beforeSend = async () => await new Promise((resolve) => setTimeout(resolve, 200));
    await enqueue(fixture, draft("a"));
    const { outbox } = await fixture.store();
    await expect.poll(async () => await outbox.routes()).toEqual([]);
    expect(sentTexts(fixture)).toEqual(["a"]);
  });

  it("sends a reply that the end of its turn has started, and retries it like others", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    await fixture.pipeline.start();
    // The first delivery takes the route's lease.
    await enqueue(fixture, draft("first"));
    await expect.poll(() => eventsOf(fixture, "delivery.sent").length).toBe(1);
    let failures = 1;
    fixture.channel.beforeSend = () => {
      if (failures-- > 0) {
        throw new HoldfastError("unavailable", "rate-limited", "Slow down", { data: { retryAfterMs: 10 } });
      }
    };
    const { outbox } = await fixture.store();
    const { ended } = await fixture.pipeline.admit(inbound("hello"));
    expect((await ended).outcome).toBe("answered");
    await expect.poll(() => eventsOf(fixture, "delivery.sent").length).toBe(2);
    expect(eventsOf(fixture, "delivery.started")).toMatchObject([{ mayRepeat: false }, { mayRepeat: false }, {}]);
    const [, started] = eventsOf(fixture, "delivery.started");
    const id = started?.type === "delivery.started" ? started.outboxId : 0;
    expect(await outbox.get(id)).toMatchObject({ state: "delivered", attempts: 2 });
  });

  it("sends the reply of a turn after an earlier reply that is sent again later", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    await fixture.pipeline.start();
    let failures = 1;
    fixture.channel.beforeSend = () => {
      if (failures-- > 0) {
        throw new HoldfastError("unavailable", "rate-limited", "Slow down", { data: { retryAfterMs: 1200 } });
      }
    };
    await enqueue(fixture, draft("early"));
    await expect.poll(() => eventsOf(fixture, "delivery.delayed").length).toBe(1);
    const { ended } = await fixture.pipeline.admit(inbound("hello"));
    expect((await ended).sessionKey).toBe(KEY);
    await expect.poll(() => sentTexts(fixture).length).toBe(2);
    expect(sentTexts(fixture)[0]).toBe("early");
  });

  it("repeats a message that a process was sending when it died, and counts it", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    const { outbox } = await fixture.store();
    const [item] = await outbox.enqueue(KEY, [draft("a")]);
    await outbox.startSending(item?.id ?? 0, 0);
    await fixture.pipeline.start();
    await expect.poll(() => sentTexts(fixture)).toEqual(["a"]);
    expect(eventsOf(fixture, "delivery.started")).toMatchObject([{ mayRepeat: true }]);
    expect(fixture.pipeline.status().counts.mayRepeat).toBe(1);
  });

  it("keeps messages for a channel that is not running, reports it once, and serves the others", async () => {
    await using home = await temporaryFolder();
    const [up, down] = [createFakeChannel(), createFakeChannel("discord")];
    down.account.status = { state: "failed", text: "wrong token" };
    await using fixture = await createPipelineHome({ home: home.path, channels: [up, down] });
    await enqueue(fixture, draft("no", "discord"), draft("nowhere", "signal"), draft("own", "cli"), draft("yes"));
    await fixture.pipeline.start();
    await fixture.pipeline.start();
    await expect.poll(() => sentTexts(fixture)).toEqual(["yes"]);
    expect(eventsOf(fixture, "delivery.delayed")).toMatchObject([
      { reason: "wrong token" },
      { reason: "signal is not configured here" },
    ]);
    down.account.status = { state: "connected", text: "on" };
    fixture.pipeline.events.emit({
      type: "channel.status",
      channel: "discord",
      accountId: "default",
      status: down.account.status,
    });
    await expect.poll(() => down.sent.map(({ text }) => text)).toEqual(["no"]);
    const { outbox } = await fixture.store();
    const waiting = async (): Promise<string[]> => (await outbox.routes()).map(({ channel }) => channel).toSorted();
    await expect.poll(waiting).toEqual(["cli", "signal"]);
  });

  it("is done by one of two processes; the other takes over when the first ends", async () => {
    await using home = await temporaryFolder();
    await using one = await createPipelineHome({ home: home.path });
    await one.pipeline.start();
    await enqueue(one, draft("a"));
    await expect.poll(() => sentTexts(one)).toEqual(["a"]);
    const { leases } = await one.store();
    const route = { channel: "telegram", accountId: "default" };
    expect(await leases.current(route)).toBeDefined();
    expect((await leases.list()).map(({ key }) => key)).toEqual([accountLeaseKey("delivery", "main", route)]);
    await using two = await createPipelineHome({ home: home.path });
    await two.pipeline.start();
    await enqueue(two, draft("b"));
    await expect.poll(() => sentTexts(one), { timeout: 5000 }).toEqual(["a", "b"]);
    await one.stop();
    await enqueue(two, draft("c"));
    await expect.poll(() => sentTexts(two), { timeout: 8000 }).toEqual(["c"]);
    expect(sentTexts(one)).toEqual(["a", "b"]);
  });

  it("does not delay one session because of another", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    const { leases } = await fixture.store();
    const name = accountLeaseKey("delivery", "main", { channel: "telegram", accountId: "default" });
    for (const key of [name, "agent:main:delivery:telegram:default"]) {
      expect(await leases.acquire(key, { ttlMs: 60_000 })).toMatchObject({ acquired: true });
    }
    await fixture.pipeline.start();
    await enqueue(fixture, draft("a"));
    await expect.poll(() => sentTexts(fixture)).toEqual(["a"]);
  });

  it("shows that an answer is being written", async () => {
    await using home = await temporaryFolder();
    const { promise, resolve } = Promise.withResolvers<void>();
    await using fixture = await createPipelineHome({ home: home.path, runTurn: async () => (await promise, {}) });
    const { ended } = await fixture.pipeline.admit(inbound("hello"));
    await expect.poll(() => fixture.channel.typed, { timeout: 3000 }).toBe(1);
    resolve();
    await ended;
  });
});

describe("judging a failure", () => {
  const item = { ...draft("a"), id: 1, key: KEY, createdAt: 0, state: "pending" as const, attempts: 0, dueAt: 0 };
  const unavailable = new HoldfastError("unavailable", "down", "down");

  const pause = (attempts: number) => {
    const verdict = judgeFailure({ ...item, attempts }, unavailable, { now: 1000, errors: 0 });
    return verdict.do === "retry" ? verdict.dueAt - 1000 : Number.NaN;
  };

  it("waits longer each time, and never longer than five minutes", () => {
    expect(pause(0)).toBeGreaterThanOrEqual(500);
    expect(pause(0)).toBeLessThanOrEqual(1000);
    expect(pause(3)).toBeGreaterThanOrEqual(4000);
    expect(pause(50)).toBeLessThanOrEqual(300_000);
    expect(pause(50)).toBeGreaterThanOrEqual(150_000);
  });

  it("gives up after a day, and after five unexpected errors", () => {
    const day = { now: 24 * 3600 * 1000, errors: 0 };
    expect(judgeFailure(item, unavailable, day)).toMatchObject({ do: "give-up" });
    expect(judgeFailure(item, new TypeError("x"), { now: 1, errors: 4 })).toMatchObject({ do: "retry" });
    expect(judgeFailure(item, new TypeError("x"), { now: 1, errors: 5 })).toMatchObject({ do: "give-up" });
    const refused = new HoldfastError("usage", "bad", "bad");
    expect(judgeFailure(item, refused, { now: 1, errors: 0 })).toMatchObject({ do: "give-up" });
  });

  it("does not count processes that died while sending", () => {
    const died = { ...item, attempts: 40, state: "sending" as const };
    expect(judgeFailure(died, new TypeError("x"), { now: 1, errors: 1 })).toMatchObject({ do: "retry" });
  });
});
