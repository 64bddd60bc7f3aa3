import { describe, expect, it, onTestFinished } from "vitest";
import { inbound, createPipelineHome } from "../../../test/support/pipeline-home.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { HoldfastError } from "../../base/errors.ts";
import { installFaultAction } from "../../base/faults.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import type { Store } from "../../store/store.ts";
import { readTranscript } from "../../transcript/reader.ts";
import type { AgentParts, TurnRequest } from "../pipeline.ts";
import { messageText } from "../../transcript/messages.ts";

const KEY = "agent:main:telegram:dm:1";
/** After so many deaths a message is given up: three beside others, the rest alone. */
const DEATHS = 28;

/** A process that began these messages in one turn, and died. */
async function die({ leases, inbox }: Store, ids: number[]): Promise<void> {
  const attempt = await leases.acquire(KEY, { ttlMs: 1000 });
  if (!attempt.acquired) throw new Error("The lease is held");
  await inbox.claim(attempt.lease, { ids, turn: String(ids[0]) });
  await inbox.requeue(attempt.lease);
  await leases.release(attempt.lease);
}

async function saidIn({ agent }: AgentParts): Promise<string[]> {
  const entry = await agent.store.get(KEY);
  if (entry === undefined) return [];
  const lines: string[] = [];
  for await (const item of readTranscript(await transcriptPath(agent, entry))) {
    if (item.kind !== "entry" || item.entry.type !== "message") continue;
    lines.push(`${item.entry.message.role} ${messageText(item.entry.message)}`);
  }
  return lines;
}

describe("a turn that fails", () => {
  it("ends with a message to the person, once", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({
      home: home.path,
      runTurn: async () => {
        throw new HoldfastError("corrupt", "transcript-corrupt", "The transcript is damaged", { hint: "Run doctor." });
      },
    });
    const { ended } = await fixture.pipeline.admit(inbound("hello"));
    expect(await ended).toMatchObject({ outcome: "failed", error: { code: "transcript-corrupt" } });
    await expect.poll(() => fixture.channel.sent[0]?.text).toContain("The transcript is damaged");
    expect(fixture.turns).toEqual(["hello"]);
    expect(fixture.pipeline.status().counts).toMatchObject({ turns: 1, failed: 1 });
    expect(await (await fixture.store()).inbox.pending()).toEqual([]);
  });

  it("redacts a secret in an error", async () => {
    await using home = await temporaryFolder();
    const secret = "sk-ant-abcdefghijklmnopqrstuvwxyz";
    await using fixture = await createPipelineHome({
      home: home.path,
      runTurn: async () => {
        throw new HoldfastError("usage", "model-refused", `wrong key ${secret}`, {
          data: { url: `x?api_key=${secret}` },
        });
      },
    });
    const told: unknown[] = [];
    fixture.pipeline.events.subscribe((event) => void told.push(event));
    told.push(await (await fixture.pipeline.admit(inbound("hello"))).ended);
    expect(JSON.stringify(told)).toContain("wrong key sk-ant-[redacted]");
    expect(JSON.stringify(told)).not.toContain(secret);
  });

  it("is put off while the store or the disk fails, without counting, and reports it", async () => {
    await using home = await temporaryFolder();
    const attempts: number[] = [];
    await using fixture = await createPipelineHome({
      home: home.path,
      runTurn: async ({ attempt }: TurnRequest) => {
        attempts.push(attempt);
        if (attempts.length < 3) throw new HoldfastError("unavailable", "disk-full", "The disk is full");
        return {};
      },
    });
    const { ended, item } = await fixture.pipeline.admit(inbound("hello"));
    expect(await ended).toMatchObject({ outcome: "answered" });
    // Started before, so its trace is searched; but not counted.
    expect(attempts).toEqual([1, 2, 2]);
    expect(await (await fixture.store()).inbox.get(item.id)).toMatchObject({ state: "done", attempts: 1 });
  });

  it("is committed when the disk has room again, and not repeated", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    const { inbox } = await fixture.store();
    let refusals = 2;
    const finish = inbox.finish.bind(inbox);
    inbox.finish = async (...given) => {
      if (refusals-- > 0) throw new HoldfastError("unavailable", "disk-full", "The disk is full");
      return await finish(...given);
    };
    const { ended } = await fixture.pipeline.admit(inbound("hello"));
    expect(await ended).toMatchObject({ outcome: "answered" });
    expect(fixture.turns).toEqual(["hello"]);
    expect(fixture.events.filter(({ type }) => type === "turn.notice")).toHaveLength(2);
  });

  it("runs alone, and is given up, when its process dies each time", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    const store = await fixture.store();
    const admit = async (text: string) => {
      const message = inbound(text);
      return (await store.inbox.admit({ key: KEY, ...message, payload: { ctx: message.ctx } })).item;
    };
    const [item, next] = [await admit("hello"), await admit("next")];
    for (let death = 0; death < DEATHS; death++) await die(store, [item.id]);
    await fixture.pipeline.start();
    await expect.poll(async () => (await store.inbox.get(next.id))?.state).toBe("done");
    expect(fixture.turns).toEqual(["next"]);
    await expect.poll(() => fixture.channel.sent[0]?.text).toContain(`the process ended ${DEATHS} times`);
    expect(await store.inbox.givenUp(10)).toMatchObject([{ id: item.id, state: "done" }]);
    expect(await saidIn(await fixture.parts())).toEqual(["user hello", "assistant "]);
  });

  it("is answered although its process died twenty-five times", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path });
    const store = await fixture.store();
    const message = inbound("hello");
    const { item } = await store.inbox.admit({ key: KEY, ...message, payload: { ctx: message.ctx } });
    for (let death = 0; death < DEATHS - 1; death++) await die(store, [item.id]);
    await fixture.pipeline.start();
    await expect.poll(async () => (await store.inbox.get(item.id))?.note).toBe("answered");
    expect(fixture.turns).toEqual(["hello"]);
  });

  it("is tried one message at a time when several were given up", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({
      home: home.path,
      turns: { queue: { mode: "collect", debounceMs: 0, cap: 20, drop: "old" } },
    });
    const store = await fixture.store();
    const ids: number[] = [];
    for (const text of ["a", "b", "c"]) {
      const message = inbound(text);
      ids.push((await store.inbox.admit({ key: KEY, ...message, payload: { ctx: message.ctx } })).item.id);
    }
    for (let death = 0; death < DEATHS; death++) await die(store, ids);
    await fixture.pipeline.start();
    await expect.poll(async () => (await store.inbox.get(ids[2] ?? 0))?.state).toBe("done");
    expect(fixture.turns).toEqual(["a", "b", "c"]);
    expect(await store.inbox.givenUp(10)).toEqual([]);
    expect((await saidIn(await fixture.parts())).join()).toContain("a");
  });

  it("writes nothing after another process took over the session", async () => {
    await using home = await temporaryFolder();
    let taken = 0;
    await using fixture = await createPipelineHome({
      home: home.path,
      runTurn: async ({ parts, held }: TurnRequest) => {
        if (taken++ > 0) return {};
        // Another process after this one was paused for longer than its lease.
        const { leases } = parts.agent.store;
        await leases.release(held.lease);
        const other = await leases.acquire(KEY, { ttlMs: 60_000 });
        setTimeout(() => void (other.acquired && leases.release(other.lease)), 300);
        await held.fence();
        return {};
      },
    });
    const { ended } = await fixture.pipeline.admit(inbound("hello"));
    expect(await ended).toMatchObject({ outcome: "answered" });
    expect(fixture.turns).toEqual(["hello", "hello"]);
    await expect.poll(() => fixture.channel.sent.length).toBe(1);
  });

  it.each(["turn.claimed", "turn.finished", "inbox.admitted", "sqlite.batch.committed"] as const)(
    "continues after a failure at %s",
    async (point) => {
      await using home = await temporaryFolder();
      await using fixture = await createPipelineHome({ home: home.path });
      await fixture.pipeline.start();
      onTestFinished(() => installFaultAction(undefined));
      let failures = 1;
      installFaultAction((at) => {
        if (at === point && failures-- > 0) throw new HoldfastError("unavailable", "fault", "An injected failure");
      });
      const admitted = await fixture.pipeline.admit(inbound("hello", { id: "f" })).catch(() => undefined);
      const again = admitted ?? (await fixture.pipeline.admit(inbound("hello", { id: "f" })));
      expect(await again.ended).toMatchObject({ outcome: "answered" });
      await expect.poll(() => fixture.channel.sent.length, { timeout: 8000 }).toBe(1);
    },
  );
});

describe("the end of a process", () => {
  it("puts off running turns, and the next process repeats them under the same id", async () => {
    await using home = await temporaryFolder();
    const requests: TurnRequest[] = [];
    const turns = { drainSeconds: 0.05 };
    await using first = await createPipelineHome({
      home: home.path,
      turns,
      runTurn: async (request) => {
        requests.push(request);
        await new Promise<void>((end) => request.signal.addEventListener("abort", () => end(), { once: true }));
        return { outcome: "aborted", payloads: [] };
      },
    });
    const { item } = await first.pipeline.admit(inbound("long"));
    await expect.poll(() => requests.length).toBe(1);
    await first.stop();
    expect(first.pipeline.status()).toMatchObject({ draining: true, running: [] });
    expect(await (await first.store()).inbox.get(item.id)).toMatchObject({ state: "queued", attempts: 0 });
    // Still durable, although this process no longer answers.
    const late = await first.pipeline.admit(inbound("late"));

    await using second = await createPipelineHome({
      home: home.path,
      runTurn: async (request) => {
        requests.push(request);
        return {};
      },
    });
    await second.pipeline.start();
    expect(await late.ended).toMatchObject({ outcome: "answered", itemId: late.item.id });
    expect(second.turns).toEqual(["long", "late"]);
    expect(requests.map(({ turnId }) => turnId)[1]).toBe(requests[0]?.turnId);
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
    expect(first.channel.sent).toEqual([]);
  });

  it("starts no turn while draining, even if a claim is committed late", async () => {
    await using home = await temporaryFolder();
    await using leaving = await createPipelineHome({ home: home.path, kind: "json", turns: { drainSeconds: 0.05 } });
    const { leases, inbox } = await leaving.store();
    // Other processes hold the lock of the store for a while.
    const acquire = leases.acquire.bind(leases);
    const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    leases.acquire = async (...given) => {
      asked.resolve();
      await isFree;
      return await acquire(...given);
    };
    const { item } = await leaving.pipeline.admit(inbound("hello"));
    await asked.promise;
    const stopped = leaving.stop();
    setTimeout(free, 200);
    await stopped;
    expect(leaving.turns).toEqual([]);
    expect(await inbox.get(item.id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  it("lets running turns finish and deliver within the grace period", async () => {
    await using home = await temporaryFolder();
    const { promise, resolve } = Promise.withResolvers<void>();
    await using fixture = await createPipelineHome({
      home: home.path,
      runTurn: async () => {
        await promise;
        return {};
      },
    });
    await fixture.pipeline.admit(inbound("a"));
    await fixture.pipeline.admit(inbound("b"));
    await expect.poll(() => fixture.turns).toEqual(["a"]);
    const stopped = fixture.stop();
    resolve();
    await stopped;
    expect(fixture.channel.sent.map(({ text }) => text)).toEqual(["re: a"]);
    expect(await (await fixture.store()).inbox.pending()).toMatchObject([{ state: "queued" }]);
  });
});

describe("two processes on one store", () => {
  it("answer each message once and in order", async () => {
    await using home = await temporaryFolder();
    await using one = await createPipelineHome({ home: home.path });
    await using two = await createPipelineHome({ home: home.path });
    const homes = [one, two];
    const admitted = [];
    for (let n = 0; n < 20; n++) {
      const message = inbound(`${n}`, { id: `n${n}` });
      admitted.push(...(await Promise.all(homes.map((home) => home.pipeline.admit(message)))));
    }
    const ends = await Promise.all(admitted.map(({ ended }) => ended));
    expect(new Set(ends.map(({ outcome }) => outcome))).toEqual(new Set(["answered"]));
    const order = [...one.turns, ...two.turns].map(Number).toSorted((a, b) => a - b);
    expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
    for (const { turns } of homes) expect(turns.map(Number)).toEqual(turns.map(Number).toSorted((a, b) => a - b));
    await expect.poll(() => one.channel.sent.length + two.channel.sent.length, { timeout: 8000 }).toBe(20);
  });

  it("a message that interrupts reaches the turn of the other process", async () => {
    await using home = await temporaryFolder();
    const interrupt = { queue: { mode: "interrupt" as const, debounceMs: 0, cap: 20, drop: "old" as const } };
    await using one = await createPipelineHome({
      home: home.path,
      turns: interrupt,
      runTurn: async ({ signal }) => {
        await new Promise<void>((end) => signal.addEventListener("abort", () => end(), { once: true }));
        return { outcome: "aborted", payloads: [] };
      },
    });
    await using two = await createPipelineHome({ home: home.path, turns: interrupt });
    const slow = await one.pipeline.admit(inbound("slow"));
    await expect.poll(() => one.turns).toEqual(["slow"]);
    const next = await two.pipeline.admit(inbound("next"));
    expect(await slow.ended).toMatchObject({ outcome: "aborted" });
    await one.stop();
    expect(await next.ended).toBeDefined();
  });
});
