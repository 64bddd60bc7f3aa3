import { describe, expect, it } from "vitest";
import { inbound, pipelineWorld } from "../../test/support/pipeline-world.ts";
import { STORE_KINDS } from "../../test/support/test-agent.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";

const texts = (messages: readonly { text?: string }[]) => messages.map(({ text }) => text);

describe.each(STORE_KINDS)("a message on its way (%s)", (kind) => {
  it("is admitted, answered and delivered once, however often it comes", async () => {
    await using home = await temporaryFolder();
    await using world = await pipelineWorld({ home: home.path, kind });
    const first = await world.pipeline.admit(inbound("hello", { id: "a" }));
    const again = await world.pipeline.admit(inbound("hello", { id: "a" }));
    expect([first.admitted, again.admitted]).toEqual([true, false]);
    expect(first.sessionKey).toBe("agent:main:telegram:dm:1");
    expect(await first.ended).toMatchObject({ outcome: "answered", text: "re: hello", itemId: first.item.id });
    expect(await again.ended).toMatchObject({ outcome: "answered", text: "re: hello" });
    await expect.poll(() => texts(world.channel.sent)).toEqual(["re: hello"]);
    const late = await world.pipeline.admit(inbound("hello", { id: "a" }));
    expect(await late.ended).toMatchObject({ outcome: "answered" });
    await expect
      .poll(() => world.pipeline.status())
      .toMatchObject({
        running: [],
        queued: 0,
        counts: { admitted: 1, duplicates: 2, turns: 1, failed: 0, dropped: 0, delivered: 1, mayRepeat: 0 },
      });
    const store = await world.store();
    await expect.poll(async () => await store.leases.current(first.sessionKey)).toBeUndefined();
  });

  it("is forgotten when it ended long ago", async () => {
    await using home = await temporaryFolder();
    await using world = await pipelineWorld({ home: home.path, kind, turns: { keepFinishedDays: 1 } });
    const old = Date.now() - 2 * 24 * 60 * 60 * 1000;
    const first = await world.pipeline.admit(inbound("old", { receivedAt: old }));
    const second = await world.pipeline.admit(inbound("new"));
    await Promise.all([first.ended, second.ended]);
    await world.pipeline.start();
    const { inbox } = await world.store();
    expect(await inbox.get(first.item.id)).toBeUndefined();
    expect(await inbox.get(second.item.id)).toMatchObject({ state: "done", note: "answered" });
  });

  it("keeps the order of a chat, side by side with others", async () => {
    await using home = await temporaryFolder();
    await using world = await pipelineWorld({ home: home.path, kind });
    const admitted = await Promise.all(
      Array.from({ length: 12 }, (_, n) => world.pipeline.admit(inbound(`${n}`, { chat: `${n % 3}` }))),
    );
    await Promise.all(admitted.map(({ ended }) => ended));
    await expect.poll(() => world.channel.sent.length, { timeout: 5000 }).toBe(12);
    for (const chat of ["0", "1", "2"]) {
      const answers = world.channel.sent.filter(({ target }) => target.to.endsWith(chat)).map(({ text }) => text);
      const expected = Array.from({ length: 4 }, (_, n) => `re: ${Number(chat) + 3 * n}`);
      expect(answers).toEqual(expected);
    }
  });
});
