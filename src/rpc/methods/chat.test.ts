/** The chat methods, over a real gateway on a real store. */
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../../test/support/gateway-home.ts";
import { caller, connect, KEY, say } from "../../../test/support/gateway-requests.ts";
import { assistantDraft, userDraft } from "../../../test/support/transcripts.ts";
import { until } from "../../../test/support/time.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import type { DraftEntry } from "../../transcript/entries.ts";
import { openTranscriptLog } from "../../transcript/log.ts";
import type { RpcEvent } from "../protocol.ts";

describe("chat", () => {
  it("admits a repeated message once, and answers by events", async () => {
    await using home = await createGatewayHome();
    const client = await connect(home);
    const events: RpcEvent[] = [];
    client.onEvent((event) => void events.push(event));
    await client.call("events.subscribe", { sessionKeys: [KEY] });
    const sent = await client.call("chat.send", { sessionKey: KEY, message: "hello", idempotencyKey: "k1" });
    expect(sent).toMatchObject({ runId: "k1", status: "started", sessionKey: KEY });
    await until(() => events.some(({ type }) => type === "turn.ended"));
    expect(events.map(({ type }) => type)).toEqual(["message.admitted", "turn.started", "turn.text", "turn.ended"]);
    expect(events.at(-1)).toMatchObject({ itemId: sent.itemId, outcome: "answered", text: "echo: hello" });
    const again = await client.call("chat.send", { sessionKey: KEY, message: "hello", idempotencyKey: "k1" });
    expect(again).toMatchObject({ status: "ok", itemId: sent.itemId });
    const { messages } = await client.call("chat.history", { sessionKey: KEY });
    expect(messages).toHaveLength(2);
    client.close();
  });

  it("reports a running turn to a repeated message, shows it in the history and stops it", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    home.pipeline.hold();
    const sent = await call("chat.send", { sessionKey: KEY, message: "hello", idempotencyKey: "k1" });
    await until(() => home.pipeline.status().running.length === 1);
    expect((await call("chat.send", { sessionKey: KEY, message: "hello", idempotencyKey: "k1" })).status).toBe(
      "in_flight",
    );
    expect(await call("chat.abort", { sessionKey: KEY })).toEqual({ ok: true, aborted: true });
    await home.pipeline.drain();
    expect((await call("chat.history", { sessionKey: KEY })).messages).toMatchObject([{ role: "user" }]);
    expect(await call("chat.abort", { sessionKey: KEY })).toEqual({ ok: true, aborted: false });
    expect(sent.status).toBe("started");
  });

  it("pages back through the history and reports that it was shortened", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    for (const text of ["one", "two", "three"]) await say(home, text);
    const texts: unknown[] = [];
    let before: string | undefined;
    for (let page = 0; page < 10; page++) {
      const part = await call("chat.history", {
        sessionKey: KEY,
        limit: 2,
        before,
      });
      texts.unshift(...part.messages.map((message) => ("content" in message ? message.content : "")));
      before = part.before;
      if (before === undefined) break;
    }
    expect(texts).toEqual(["one", "echo: one", "two", "echo: two", "three", "echo: three"]);
    await expect(call("chat.history", { sessionKey: KEY, before: "deadbeef" })).rejects.toMatchObject({
      code: "history-moved",
    });
  });

  it("marks memory saves, and shows what people wrote", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, "hello");
    const entry = await home.agent.store.get(KEY);
    if (entry === undefined) throw new Error("no session");
    {
      await using log = await openTranscriptLog({ path: await transcriptPath(home.agent, entry) });
      await log.append([
        { ...userDraft("System: rain\n\nstill there?"), turnId: "t2", said: "still there?" } as DraftEntry,
        { ...userDraft("and here?"), turnId: "t2", steered: true } as DraftEntry,
        { ...userDraft("write down what matters"), turnId: "flush:t3" } as DraftEntry,
        { ...assistantDraft("NO_REPLY"), turnId: "flush:t3" } as DraftEntry,
      ]);
    }
    const { messages } = await call("chat.history", { sessionKey: KEY });
    expect(messages.slice(2)).toMatchObject([
      { turnId: "t2", said: "still there?" },
      { turnId: "t2", steered: true },
      { role: "user", isFlush: true },
      { role: "assistant", isFlush: true },
    ]);
    expect(messages[0]).not.toHaveProperty("isFlush");
    const { previews } = await call("sessions.preview", { keys: [KEY], limit: 2 });
    expect(previews[0]?.items).toEqual([
      { role: "user", text: "still there?" },
      { role: "user", text: "and here?" },
    ]);
    const { sessions } = await call("sessions.list", { includeLastMessage: true });
    expect(sessions[0]?.lastMessagePreview).toBe("and here?");
  });

  it("has an empty history before the first word", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    expect(await call("chat.history", { sessionKey: "new one" })).toEqual({
      sessionKey: "agent:main:new one",
      isCurrent: true,
      messages: [],
    });
  });

  it("keeps the route of a session, and delivers there only on request", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await call("message.send", { channel: "telegram", to: "telegram:7", message: "hi", idempotencyKey: "m1" });
    await call("agent", { message: "from the page", sessionKey: KEY });
    await call("agent", { message: "and to the chat", sessionKey: KEY, deliver: true });
    expect(home.pipeline.seen.map(({ deliver, ctx }) => [deliver, ctx.OriginatingChannel, ctx.OriginatingTo])).toEqual([
      [false, "telegram", "telegram:7"],
      [true, "telegram", "telegram:7"],
    ]);
    expect((await home.agent.store.get(KEY))?.lastTo).toBe("telegram:7");
  });
});

describe("an answer to deliver", () => {
  it("is refused if it could not be delivered", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const nowhere = { kind: "not-found", code: "nowhere-to-deliver" };
    await expect(call("agent", { message: "hi", deliver: true })).rejects.toMatchObject(nowhere);
    const send = { sessionKey: "main", message: "hi", deliver: true, idempotencyKey: "k1" };
    await expect(call("chat.send", send)).rejects.toMatchObject(nowhere);
    await expect(call("agent", { message: "hi", deliver: true, to: "7", channel: "discord" })).rejects.toMatchObject({
      ...nowhere,
      message: expect.stringContaining("discord") as string,
    });
    expect(home.pipeline.seen).toEqual([]);
  });

  it("may wait for a configured channel that does not run here", async () => {
    const channels = { ...DEFAULT_CONFIG.channels, discord: { default: {}, off: { enabled: false } } };
    await using home = await createGatewayHome({ config: { channels } });
    const { call } = caller(home);
    const answer = { message: "hi", deliver: true, to: "7", channel: "discord" };
    expect(await call("agent", answer)).toMatchObject({ status: "ok" });
    await expect(call("agent", { ...answer, accountId: "off" })).rejects.toMatchObject({ code: "nowhere-to-deliver" });
  });
});
