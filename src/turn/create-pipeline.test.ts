import { describe, expect, it } from "vitest";
import { inbound, createPipelineHome } from "../../test/support/pipeline-home.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";

const texts = (messages: readonly { text?: string | undefined }[]) => messages.map(({ text }) => text);

describe.each(STORE_KINDS)("a message (%s)", (kind) => {
  it("is admitted, answered and delivered once, even if it arrives repeatedly", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path, kind });
    const first = await fixture.pipeline.admit(inbound("hello", { id: "a" }));
    const again = await fixture.pipeline.admit(inbound("hello", { id: "a" }));
    expect([first.admitted, again.admitted]).toEqual([true, false]);
    expect(first.sessionKey).toBe("agent:main:telegram:dm:1");
    expect(await first.ended).toMatchObject({ outcome: "answered", text: "re: hello", itemId: first.item.id });
    expect(await again.ended).toMatchObject({ outcome: "answered", text: "re: hello" });
    await expect.poll(() => texts(fixture.channel.sent)).toEqual(["re: hello"]);
    const late = await fixture.pipeline.admit(inbound("hello", { id: "a" }));
    expect(await late.ended).toMatchObject({ outcome: "answered" });
    await expect
      .poll(() => fixture.pipeline.status())
      .toMatchObject({
        running: [],
        queued: 0,
        counts: { admitted: 1, duplicates: 2, turns: 1, failed: 0, dropped: 0, delivered: 1, mayRepeat: 0 },
      });
    const store = await fixture.store();
    await expect.poll(async () => await store.leases.current(first.sessionKey)).toBeUndefined();
  });

  it("is pruned long after its end", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path, kind, turns: { keepFinishedDays: 1 } });
    const old = Date.now() - 2 * 24 * 60 * 60 * 1000;
    const first = await fixture.pipeline.admit(inbound("old", { receivedAt: old }));
    const second = await fixture.pipeline.admit(inbound("new"));
    await Promise.all([first.ended, second.ended]);
    await fixture.pipeline.start();
    const { inbox } = await fixture.store();
    expect(await inbox.get(first.item.id)).toBeUndefined();
    expect(await inbox.get(second.item.id)).toMatchObject({ state: "done", note: "answered" });
  });

  it("ends with its text, even if another process answers", async () => {
    await using home = await temporaryFolder();
    const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
    const { promise: isBegun, resolve: begin } = Promise.withResolvers<void>();
    const usage = { provider: "echo", model: "echo", input: 3, output: 2, cacheRead: 0, cacheWrite: 0 };
    await using busy = await createPipelineHome({
      home: home.path,
      kind,
      turns: { queue: { mode: "collect", debounceMs: 0, cap: 20, drop: "old" } },
      runTurn: async () => {
        begin();
        await isAllowed;
        return { usage };
      },
    });
    await using other = await createPipelineHome({ home: home.path, kind });
    await busy.pipeline.admit(inbound("first"));
    await isBegun;
    const second = await other.pipeline.admit(inbound("second"));
    const third = await other.pipeline.admit(inbound("third", { awaited: true }));
    allow();
    const end = {
      agentId: "main",
      sessionKey: "agent:main:telegram:dm:1",
      itemId: third.item.id,
      outcome: "answered",
      sessionId: "s",
      text: "re: second + third",
      usage,
      durationMs: expect.any(Number) as number,
    };
    expect(await Promise.all([second.ended, third.ended])).toEqual([end, end]);
    expect(other.turns).toEqual([]);
    // One turn, reported once in the process that waits for it.
    const told = other.events.filter(({ type }) => type === "turn.ended");
    expect(told).toEqual([{ type: "turn.ended", ...end }]);
    expect(other.pipeline.status().counts).toMatchObject({ turns: 0 });
  });

  it("ends in order, even if another process answers the next one", async () => {
    await using home = await temporaryFolder();
    const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
    const slowly = async (): Promise<object> => {
      await isAllowed;
      return {};
    };
    const busy = await createPipelineHome({ home: home.path, kind, runTurn: slowly, turns: { drainSeconds: 20 } });
    await using other = await createPipelineHome({ home: home.path, kind });
    await busy.pipeline.admit(inbound("first", { id: "a" }));
    await expect.poll(() => busy.turns).toEqual(["first"]);
    // This process waits for it too.
    const first = await other.pipeline.admit(inbound("first", { id: "a" }));
    const second = await other.pipeline.admit(inbound("second"));
    const leaving = busy[Symbol.asyncDispose]();
    allow();
    await leaving;
    expect(await second.ended).toMatchObject({ text: "re: second" });
    expect(other.turns).toEqual(["second"]);
    const ends = other.events.filter((event) => event.type === "turn.ended");
    expect(ends.map(({ itemId }) => itemId)).toEqual([first.item.id, second.item.id]);
  });

  it("is reported as dropped, even if another process drops it", async () => {
    await using home = await temporaryFolder();
    const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
    await using busy = await createPipelineHome({
      home: home.path,
      kind,
      runTurn: async () => {
        await isAllowed;
        return {};
      },
    });
    await using other = await createPipelineHome({ home: home.path, kind });
    await busy.pipeline.admit(inbound("first"));
    await expect.poll(() => busy.turns).toEqual(["first"]);
    const { item, sessionKey, ended } = await other.pipeline.admit(inbound("second"));
    await (await busy.store()).inbox.drop(sessionKey, [item.id], "stopped");
    allow();
    expect(await ended).toMatchObject({ outcome: "dropped", itemId: item.id });
    expect(other.events).toContainEqual({
      type: "message.dropped",
      agentId: "main",
      sessionKey,
      itemIds: [item.id],
      reason: "stopped",
    });
  });

  it("keeps the order of a chat, in parallel with others", async () => {
    await using home = await temporaryFolder();
    await using fixture = await createPipelineHome({ home: home.path, kind });
    const admitted = await Promise.all(
      Array.from({ length: 12 }, (_, n) => fixture.pipeline.admit(inbound(`${n}`, { chat: `${n % 3}` }))),
    );
    await Promise.all(admitted.map(({ ended }) => ended));
    await expect.poll(() => fixture.channel.sent.length, { timeout: 5000 }).toBe(12);
    for (const chat of ["0", "1", "2"]) {
      const answers = fixture.channel.sent.filter(({ target }) => target.to.endsWith(chat)).map(({ text }) => text);
      const expected = Array.from({ length: 4 }, (_, n) => `re: ${Number(chat) + 3 * n}`);
      expect(answers).toEqual(expected);
    }
  });
});
