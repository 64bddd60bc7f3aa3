/** `agent`, over a real gateway on a real store. */
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../../test/support/gateway-home.ts";
import { caller, connect, KEY } from "../../../test/support/gateway-requests.ts";
import { until } from "../../../test/support/time.ts";

describe("agent", () => {
  it("waits for the end and reports usage", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const { status, summary, sessionKey, result } = await call("agent", { message: "hello", thinking: "low" });
    expect({ status, summary, sessionKey }).toEqual({
      status: "ok",
      summary: "completed",
      sessionKey: "agent:main:main",
    });
    expect(result).toMatchObject({
      payloads: [{ text: "echo: hello", mediaUrl: null }],
      meta: { aborted: false, agentMeta: { provider: "echo", usage: { input: 3, output: 2, total: 6 } } },
    });
    const entry = await home.agent.store.get("main");
    expect(entry?.thinkingLevel).toBe("low");
    const again = await call("agent", { message: "again", sessionId: String(entry?.sessionId).slice(0, 8) });
    expect(again.sessionKey).toBe("agent:main:main");
  });

  it("begins a session with an id that no session has, and continues it", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const sessionId = "5f0c2d1e-8a44-4f7e-9a30-2b6d1c9e7f10";
    const sessionKey = `agent:main:explicit:${sessionId}`;
    const ask = async (message: string) => await call("agent", { message, sessionId, thinking: "low" });
    // Some systems write new ids in capitals.
    const both = await Promise.all([ask("one"), call("agent", { message: "two", sessionId: sessionId.toUpperCase() })]);
    expect(both).toMatchObject([
      { status: "ok", sessionKey },
      { status: "ok", sessionKey },
    ]);
    expect(await home.agent.store.get(sessionKey)).toMatchObject({ sessionId, thinkingLevel: "low" });
    const { messages } = await call("chat.history", { sessionKey });
    expect(messages).toHaveLength(4);
    expect(await home.agent.store.windows(sessionKey)).toMatchObject([{ sessionId, reason: "initial" }]);
    await expect(call("agent", { message: "x", sessionId: "5f0c2d1f" })).rejects.toMatchObject({ kind: "not-found" });
    await call("sessions.delete", { key: sessionKey });
    await expect(ask("again")).rejects.toMatchObject({ code: "session-archived" });
  });

  it("finds the session of a person on a channel", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    expect((await call("agent", { message: "hello", to: "7" })).sessionKey).toBe(KEY);
    expect((await call("agent", { message: "hello", to: "telegram:group:-100", channel: "telegram" })).sessionKey).toBe(
      "agent:main:telegram:group:-100",
    );
  });

  it("tells a failed turn, a timeout and an earlier window apart", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    const failed = await call("agent", { message: "fail", sessionKey: KEY });
    expect(failed).toMatchObject({ status: "error", summary: "the engine is down", error: { code: "engine-down" } });
    const { previousSessionId } = await call("sessions.reset", { key: KEY });
    await expect(call("agent", { message: "x", sessionId: previousSessionId })).rejects.toMatchObject({
      code: "earlier-window",
    });
    await expect(call("agent", { message: "x", sessionKey: KEY, to: "7" })).rejects.toMatchObject({ kind: "usage" });
    home.pipeline.hold();
    const late = await call("agent", { message: "slow", sessionKey: KEY, timeoutSeconds: 0.05 });
    expect(late).toMatchObject({ status: "timeout", summary: "still running" });
    expect(late.result).toBeUndefined();
  });

  it("continues when the caller disconnects", async () => {
    await using home = await createGatewayHome();
    home.pipeline.hold();
    const client = await connect(home);
    const waiting = client.call("agent", { message: "slow", sessionKey: KEY });
    await until(() => home.pipeline.status().running.length === 1);
    client.close();
    await expect(waiting).rejects.toMatchObject({ code: "connection-lost" });
    home.pipeline.release();
    await home.pipeline.drain();
    const { messages } = await caller(home).call("chat.history", { sessionKey: KEY });
    expect(messages).toMatchObject([{ content: "slow" }, { content: "echo: slow" }]);
  });
});
