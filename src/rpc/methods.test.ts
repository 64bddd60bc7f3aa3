/** Every method, called as a client calls it: over a real gateway on a real store. */
import { readFileSync, readdirSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type GatewayStage, gatewayStage, until } from "../../test/support/gateway-stage.ts";
import { createTestRepo } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { assistantDraft, userDraft } from "../../test/support/transcripts.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { agentLayout } from "../config/layout.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import { withSessionLease } from "../session/lease.ts";
import type { DraftEntry } from "../transcript/entries.ts";
import { openTranscriptLog } from "../transcript/log.ts";
import { type RpcCaller, type RpcClient, connectRpc, createHttpCaller } from "./client.ts";
import { METHODS, type MethodName } from "./contract.ts";
import type { RpcEvent } from "./events.ts";

const KEY = "agent:main:telegram:dm:7";

/** Calls over HTTP, and checks every answer against the table. */
function caller({ gateway }: GatewayStage): RpcCaller {
  const http = createHttpCaller(gateway);
  return {
    call: async (method, params) => {
      const result = await http.call(method, params);
      const { error } = METHODS[method].result.strict().safeParse(result);
      expect(error, `the answer of ${method}`).toBeUndefined();
      return result;
    },
  };
}

async function connect({ gateway }: GatewayStage, permission?: "read" | "write"): Promise<RpcClient> {
  const { url, token } = gateway;
  return await connectRpc({
    url,
    token,
    client: { name: "test" },
    ...(permission === undefined ? {} : { permission }),
  });
}

async function say(stage: GatewayStage, text: string, sessionKey = KEY): Promise<void> {
  const { status } = await caller(stage).call("agent", { message: text, sessionKey });
  expect(status).toBe("ok");
}

function sample(name: string): Record<string, unknown> {
  const file = new URL(`../../test/fixtures/openclaw/rpc/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
}

describe("sessions", () => {
  it("are listed newest first with title and last words, of all agents or one", async () => {
    await using stage = await gatewayStage({ agents: ["main", "ops"] });
    const { call } = caller(stage);
    await say(stage, "what is a lease?");
    await say(stage, "deploy it", "agent:ops:main");
    const all = await call("sessions.list", { includeDerivedTitles: true, includeLastMessage: true });
    expect(all).toMatchObject({
      path: "(multiple)",
      count: 2,
      total: 2,
      sessions: [
        { key: "agent:ops:main", agentId: "ops", derivedTitle: "deploy it" },
        { key: KEY, derivedTitle: "what is a lease?", lastMessagePreview: "echo: what is a lease?" },
      ],
    });
    expect((await call("sessions.list", { agentId: "main" })).sessions).toHaveLength(1);
    expect(await call("sessions.list", { limit: 1, offset: 1 })).toMatchObject({
      count: 1,
      total: 2,
      sessions: [{ key: KEY }],
    });
    expect((await call("sessions.list", { search: "telegram" })).sessions).toHaveLength(1);
    await expect(call("sessions.list", { agentId: "nobody" })).rejects.toMatchObject({ code: "agent-not-found" });
  });

  it("have every field that OpenClaw's answers have", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await say(stage, "hello");
    const answers: [string, object][] = [
      ["sessions.list", await call("sessions.list", {})],
      ["sessions.preview", await call("sessions.preview", { keys: [KEY] })],
      ["chat.history", await call("chat.history", { sessionKey: KEY })],
      ["agents.list", await call("agents.list", {})],
      ["agent.to", await call("agent", { message: "hi", to: "7", channel: "telegram" })],
      ["chat.send.group", await call("chat.send", { sessionKey: KEY, message: "x", idempotencyKey: "k1" })],
      ["sessions.patch.label", await call("sessions.patch", { key: KEY, label: "my label", thinkingLevel: "low" })],
      ["sessions.resolve.label", await call("sessions.resolve", { label: "my label" })],
      ["sessions.reset", await call("sessions.reset", { key: KEY })],
      ["sessions.compact.lines", await call("sessions.compact", { key: KEY, maxLines: 1 })],
      ["sessions.delete", await call("sessions.delete", { key: KEY })],
    ];
    for (const [name, answer] of answers) {
      const optional =
        name === "sessions.compact.lines" ? ["archived"] : name === "chat.history" ? ["thinkingLevel"] : [];
      const wanted = Object.keys(sample(name)).filter((field) => !optional.includes(field));
      expect(Object.keys(answer), name).toEqual(expect.arrayContaining(wanted));
    }
  });

  it("are previewed; one that is missing hides no other", async () => {
    await using stage = await gatewayStage();
    await say(stage, "hello");
    const { previews } = await caller(stage).call("sessions.preview", {
      keys: [KEY, "agent:main:nope", "agent:gone:x"],
    });
    expect(previews).toEqual([
      {
        key: KEY,
        status: "ok",
        items: [
          { role: "user", text: "hello" },
          { role: "assistant", text: "echo: hello" },
        ],
      },
      { key: "agent:main:nope", status: "missing", items: [] },
      { key: "agent:gone:x", status: "missing", items: [] },
    ]);
  });

  it("are resolved by key, label and the start of an id, also of an earlier window", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await say(stage, "hello");
    await call("sessions.patch", { key: KEY, label: "work" });
    const { previousSessionId, entry } = await call("sessions.reset", { key: KEY });
    expect(await call("sessions.resolve", { label: "work" })).toMatchObject({ key: KEY, isCurrent: true });
    expect(await call("sessions.resolve", { sessionId: previousSessionId.slice(0, 8) })).toEqual({
      ok: true,
      key: KEY,
      agentId: "main",
      sessionId: previousSessionId,
      isCurrent: false,
    });
    expect(await call("sessions.resolve", { key: KEY })).toMatchObject({ sessionId: entry.sessionId });
    await expect(call("sessions.resolve", { label: "nope" })).rejects.toMatchObject({ kind: "not-found" });
    await expect(call("sessions.resolve", { label: "work", key: KEY })).rejects.toMatchObject({ kind: "usage" });
  });

  it("list their windows, and the history of each can be read", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await say(stage, "first topic");
    await call("sessions.reset", { key: KEY });
    expect(stage.resets).toEqual([KEY]);
    await say(stage, "second topic");
    const { windows } = await call("sessions.windows", { key: KEY });
    expect(windows.map(({ isCurrent, derivedTitle, reason }) => ({ isCurrent, derivedTitle, reason }))).toEqual([
      { isCurrent: true, derivedTitle: "second topic", reason: "command" },
      { isCurrent: false, derivedTitle: "first topic", reason: "initial" },
    ]);
    const old = await call("chat.history", { sessionKey: KEY, sessionId: String(windows[1]?.sessionId) });
    expect(old).toMatchObject({
      isCurrent: false,
      messages: [{ content: "first topic" }, { content: "echo: first topic" }],
    });
    await expect(call("chat.history", { sessionKey: KEY, sessionId: "no-such" })).rejects.toMatchObject({
      code: "window-not-found",
    });
    await expect(call("sessions.windows", { key: "agent:main:nope" })).rejects.toMatchObject({ kind: "not-found" });
  });

  it("refuse a change that expects another window, and a field that nobody may set", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await say(stage, "hello");
    const stale = { key: KEY, expectedSessionId: "b083ce80-7643-4db8-b061-b135059208d6" };
    for (const method of ["sessions.patch", "sessions.reset", "sessions.delete"] as const) {
      await expect(call(method, stale)).rejects.toMatchObject({ kind: "conflict", code: "session-moved" });
    }
    const { sessions } = await call("sessions.list", {});
    const current = String(sessions[0]?.sessionId);
    expect((await call("sessions.patch", { key: KEY, expectedSessionId: current, label: "a" })).entry.label).toBe("a");
    expect((await call("sessions.patch", { key: KEY, label: null })).entry.label).toBeUndefined();
    await expect(call("sessions.patch", { key: KEY, sessionId: "x" } as never)).rejects.toMatchObject({
      code: "invalid-params",
    });
    await expect(call("sessions.patch", { key: KEY, sendPolicy: "maybe" as never })).rejects.toMatchObject({
      message: expect.stringContaining("invalid sessions.patch params: at /sendPolicy") as string,
    });
    for (const wrong of [{ thinkingLevel: "very" }, { verboseLevel: "loud" }, { queueCap: -1 }, { label: "" }]) {
      await expect(call("sessions.patch", { key: KEY, ...wrong } as never)).rejects.toMatchObject({
        code: "invalid-params",
        kind: "usage",
      });
    }
  });

  it("are deleted into the archive, except the main session", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await say(stage, "hello");
    await say(stage, "hello", "main");
    await expect(call("sessions.delete", { key: "main" })).rejects.toMatchObject({
      code: "main-session",
      message: "Cannot delete the main session (agent:main:main)",
    });
    const { history, systemEvents } = await stage.parts.agents.open("main");
    await systemEvents.enqueueSystemEvent(KEY, "rain");
    await history.append(KEY, { sender: "Ada", body: "hi", timestamp: 1, messageId: "m" });
    const { deleted, archived } = await call("sessions.delete", { key: KEY });
    expect(await history.take(KEY, { id: "t", epoch: 1 })).toEqual([]);
    expect(await systemEvents.drainSystemEvents(KEY, { id: "t", epoch: 1 })).toMatchObject({ events: [] });
    expect([deleted, archived.length]).toEqual([true, 1]);
    expect(await call("sessions.delete", { key: KEY })).toMatchObject({ deleted: false, archived: [] });
    expect((await call("sessions.list", {})).sessions.map(({ key }) => key)).toEqual(["agent:main:main"]);
  });

  it("cannot be named through another agent", async () => {
    await using stage = await gatewayStage({ agents: ["main", "ops"] });
    const { call } = caller(stage);
    const key = "agent:ops:main";
    const [sessionKey, agentId] = [key, "main"];
    const attempts = [
      call("sessions.patch", { key, agentId }),
      call("sessions.reset", { key, agentId }),
      call("sessions.delete", { key, agentId }),
      call("sessions.compact", { key, agentId }),
      call("sessions.windows", { key, agentId }),
      call("chat.history", { sessionKey, agentId }),
      call("chat.abort", { sessionKey, agentId }),
      call("chat.send", { sessionKey, agentId, message: "x", idempotencyKey: "1" }),
      call("agent", { sessionKey, agentId, message: "x" }),
    ];
    const ends = await Promise.allSettled(attempts);
    expect(ends).toEqual(
      ends.map(() => ({ status: "rejected", reason: expect.objectContaining({ kind: "forbidden" }) as unknown })),
    );
  });

  it("are never files: an id that looks like a path leads nowhere", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    for (const path of ["../../escape", "..%2f..%2fescape", "/etc/passwd", "a/../../b", "x\u0000y"]) {
      await say(stage, "hello", path);
      await expect(call("chat.history", { sessionKey: path, sessionId: path })).rejects.toMatchObject({
        code: "window-not-found",
      });
    }
    const { sessions } = await call("sessions.list", {});
    expect(sessions).toHaveLength(5);
    const { sessionsFolder } = agentLayout(stage.home, "main");
    const files = readdirSync(stage.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const transcripts = files.filter(({ name }) => name.endsWith(".jsonl"));
    expect(transcripts.map(({ parentPath }) => parentPath)).toEqual(Array<string>(5).fill(sessionsFolder));
    for (const { name } of transcripts) expect(name).toMatch(/^[0-9a-f-]{36}\.jsonl$/);
  });

  it("are compacted with the whole transcript kept", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    for (const text of ["one", "two", "three"]) await say(stage, text);
    const { compacted, archived, kept } = await call("sessions.compact", { key: KEY, maxLines: 2 });
    expect([compacted, kept]).toEqual([true, 2]);
    expect(readFileSync(String(archived), "utf8")).toContain("echo: one");
  });
});

describe("chat", () => {
  it("admits a message once, whatever is repeated, and answers by events", async () => {
    await using stage = await gatewayStage();
    const client = await connect(stage);
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

  it("tells a repeated message that its turn still runs, shows it in the history and stops it", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    stage.pipeline.hold();
    const sent = await call("chat.send", { sessionKey: KEY, message: "hello", idempotencyKey: "k1" });
    await until(() => stage.pipeline.status().running.length === 1);
    expect((await call("chat.send", { sessionKey: KEY, message: "hello", idempotencyKey: "k1" })).status).toBe(
      "in_flight",
    );
    expect(await call("chat.abort", { sessionKey: KEY })).toEqual({ ok: true, aborted: true });
    await stage.pipeline.drain();
    expect((await call("chat.history", { sessionKey: KEY })).messages).toMatchObject([{ role: "user" }]);
    expect(await call("chat.abort", { sessionKey: KEY })).toEqual({ ok: true, aborted: false });
    expect(sent.status).toBe("started");
  });

  it("pages back through the history and says when it was shortened meanwhile", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    for (const text of ["one", "two", "three"]) await say(stage, text);
    const texts: unknown[] = [];
    let before: string | undefined;
    for (let page = 0; page < 10; page++) {
      const part = await call("chat.history", {
        sessionKey: KEY,
        limit: 2,
        ...(before === undefined ? {} : { before }),
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

  it("marks what nobody asked for, and shows what people wrote", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await say(stage, "hello");
    const entry = await stage.agent.store.get(KEY);
    if (entry === undefined) throw new Error("no session");
    {
      await using log = await openTranscriptLog({ path: transcriptPath(stage.agent, entry) });
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
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    expect(await call("chat.history", { sessionKey: "new one" })).toEqual({
      sessionKey: "agent:main:new one",
      isCurrent: true,
      messages: [],
    });
  });

  it("leaves the route of a session as it is, and answers there only when asked to", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await call("message.send", { channel: "telegram", to: "telegram:7", message: "hi", idempotencyKey: "m1" });
    await call("agent", { message: "from the page", sessionKey: KEY });
    await call("agent", { message: "and to the chat", sessionKey: KEY, deliver: true });
    expect(stage.pipeline.seen.map(({ deliver, ctx }) => [deliver, ctx.OriginatingChannel, ctx.OriginatingTo])).toEqual(
      [
        [false, "telegram", "telegram:7"],
        [true, "telegram", "telegram:7"],
      ],
    );
    expect((await stage.agent.store.get(KEY))?.lastTo).toBe("telegram:7");
  });
});

describe("an answer that is to be delivered", () => {
  it("is not begun where it could reach nobody", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    const nowhere = { kind: "not-found", code: "nowhere-to-deliver" };
    await expect(call("agent", { message: "hi", deliver: true })).rejects.toMatchObject(nowhere);
    const send = { sessionKey: "main", message: "hi", deliver: true, idempotencyKey: "k1" };
    await expect(call("chat.send", send)).rejects.toMatchObject(nowhere);
    await expect(call("agent", { message: "hi", deliver: true, to: "7", channel: "discord" })).rejects.toMatchObject({
      ...nowhere,
      message: expect.stringContaining("discord") as string,
    });
    expect(stage.pipeline.seen).toEqual([]);
  });

  it("may wait for a channel that is configured and does not run here", async () => {
    const channels = { ...DEFAULT_CONFIG.channels, discord: { default: {}, off: { enabled: false } } };
    await using stage = await gatewayStage({ config: { channels } });
    const { call } = caller(stage);
    const answer = { message: "hi", deliver: true, to: "7", channel: "discord" };
    expect(await call("agent", answer)).toMatchObject({ status: "ok" });
    await expect(call("agent", { ...answer, accountId: "off" })).rejects.toMatchObject({ code: "nowhere-to-deliver" });
  });
});

describe("agent", () => {
  it("waits for the end and reports usage", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
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
    const entry = await stage.agent.store.get("main");
    expect(entry?.thinkingLevel).toBe("low");
    const again = await call("agent", { message: "again", sessionId: String(entry?.sessionId).slice(0, 8) });
    expect(again.sessionKey).toBe("agent:main:main");
  });

  it("finds the session of a person on a channel", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    expect((await call("agent", { message: "hello", to: "7" })).sessionKey).toBe(KEY);
    expect((await call("agent", { message: "hello", to: "telegram:group:-100", channel: "telegram" })).sessionKey).toBe(
      "agent:main:telegram:group:-100",
    );
  });

  it("tells a failed turn, a timeout and an earlier window apart", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    const failed = await call("agent", { message: "fail", sessionKey: KEY });
    expect(failed).toMatchObject({ status: "error", summary: "the engine is down", error: { code: "engine-down" } });
    const { previousSessionId } = await call("sessions.reset", { key: KEY });
    await expect(call("agent", { message: "x", sessionId: previousSessionId })).rejects.toMatchObject({
      code: "earlier-window",
    });
    await expect(call("agent", { message: "x", sessionKey: KEY, to: "7" })).rejects.toMatchObject({ kind: "usage" });
    stage.pipeline.hold();
    const late = await call("agent", { message: "slow", sessionKey: KEY, timeoutSeconds: 0.05 });
    expect(late).toMatchObject({ status: "timeout", summary: "still running" });
    expect(late.result).toBeUndefined();
  });

  it("goes on when the caller has gone", async () => {
    await using stage = await gatewayStage();
    stage.pipeline.hold();
    const client = await connect(stage);
    const waiting = client.call("agent", { message: "slow", sessionKey: KEY });
    await until(() => stage.pipeline.status().running.length === 1);
    client.close();
    await expect(waiting).rejects.toMatchObject({ code: "connection-lost" });
    stage.pipeline.release();
    await stage.pipeline.drain();
    const { messages } = await caller(stage).call("chat.history", { sessionKey: KEY });
    expect(messages).toMatchObject([{ content: "slow" }, { content: "echo: slow" }]);
  });
});

describe("message.send", () => {
  const MESSAGE = { channel: "telegram", to: "telegram:7", message: "the build is green", idempotencyKey: "m1" };

  it("fills outbox and transcript once, also when it is repeated", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    const first = await call("message.send", MESSAGE);
    expect(first).toMatchObject({ ok: true, sessionKey: KEY, state: "pending", mirrored: true });
    expect(await call("message.send", MESSAGE)).toEqual(first);
    const { messages } = await call("chat.history", { sessionKey: KEY });
    expect(messages).toMatchObject([{ role: "assistant", model: "delivery-mirror" }]);
    const due = await stage.agent.store.outbox.due(Date.now(), 10);
    expect(due).toMatchObject([{ key: KEY, target: { channel: "telegram", accountId: "default", to: "telegram:7" } }]);
  });

  it("completes the transcript when the first attempt died behind the outbox", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await call("message.send", { ...MESSAGE, idempotencyKey: "m0" });
    const draft = {
      idempotencyKey: "message:m1",
      payload: {},
      target: { channel: "telegram", accountId: "default", to: "telegram:7" },
    };
    await stage.agent.store.outbox.enqueue(KEY, [draft]);
    await call("message.send", MESSAGE);
    expect((await call("chat.history", { sessionKey: KEY })).messages).toHaveLength(2);
    expect(await stage.agent.store.outbox.due(Date.now(), 10)).toHaveLength(2);
  });

  it("does not wait for a session that is busy, and tells the agent later", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await call("message.send", { ...MESSAGE, idempotencyKey: "m0" });
    await withSessionLease(stage.agent, KEY, {}, async () => {
      expect(await call("message.send", MESSAGE)).toMatchObject({ ok: true, mirrored: false });
    });
    const { systemEvents } = await stage.parts.agents.open("main");
    const { events } = await systemEvents.drainSystemEvents(KEY, { id: "t1", epoch: 1 });
    expect(events.map(({ text }) => text)).toEqual([expect.stringContaining("the build is green")]);
  });

  it("finds the session that has talked to the chat before, whatever the spelling", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    const group = { channel: "telegram", message: "hi" };
    const made = await call("message.send", { ...group, to: "telegram:group:-100", idempotencyKey: "a" });
    expect(made.sessionKey).toBe("agent:main:telegram:group:-100");
    expect((await call("message.send", { ...group, to: "-100", idempotencyKey: "b" })).sessionKey).toBe(
      made.sessionKey,
    );
    const topic = await call("message.send", { ...group, to: "-100", threadId: 4, idempotencyKey: "c" });
    expect(topic.sessionKey).not.toBe(made.sessionKey);
  });

  it("attaches files of the owner, and refuses those that are not there", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    const path = join(stage.home, "chart.png");
    await writeFile(path, "png");
    const media = { channel: "telegram", to: "telegram:7" };
    await call("message.send", { ...media, media: [path, "https://example.org/a.png"], idempotencyKey: "f1" });
    const [item] = await stage.agent.store.outbox.due(Date.now(), 10);
    expect(item?.payload).toMatchObject({ mediaUrls: [path.slice(1), "https://example.org/a.png"] });
    expect((await call("chat.history", { sessionKey: KEY })).messages).toMatchObject([
      { content: [{ text: "chart.png, a.png" }] },
    ]);
    for (const wrong of [join(stage.home, "none.png"), "chart.png", "file:///etc/passwd", stage.home]) {
      await expect(call("message.send", { ...media, media: [wrong], idempotencyKey: wrong })).rejects.toMatchObject({
        code: expect.stringMatching(/^media-/) as string,
      });
    }
    expect(await stage.agent.store.outbox.due(Date.now(), 10)).toHaveLength(1);
  });

  it("attaches files of the agent's workspace only, for a connection that may no more than write", async () => {
    await using stage = await gatewayStage();
    const { workspace } = stage.agent;
    const secret = join(stage.home, "gateway.token");
    await mkdir(join(workspace, "out"), { recursive: true });
    await mkdir(`${workspace}-2`);
    await writeFile(join(workspace, "out", "chart.png"), "png");
    await writeFile(join(`${workspace}-2`, "chart.png"), "png");
    await symlink(secret, join(workspace, "link.png"));
    await symlink(stage.home, join(workspace, "home"));
    const writer = await connect(stage, "write");
    const send = async (media: string): Promise<unknown> =>
      await writer.call("message.send", { ...MESSAGE, media: [media], idempotencyKey: media });

    for (const wrong of [
      secret,
      "/etc/passwd",
      join(`${workspace}-2`, "chart.png"),
      `${workspace}/../../../gateway.token`,
      `${workspace}/out/../../../../gateway.token`,
      join(workspace, "link.png"),
      join(workspace, "home", "gateway.token"),
      "../../../gateway.token",
      `file://${secret}`,
      `file://${workspace}/../../../gateway.token`,
      workspace,
    ]) {
      await expect(send(wrong), wrong).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:permission-missing|media-)/) as string,
      });
    }
    expect(await stage.agent.store.outbox.due(Date.now(), 10)).toEqual([]);
    await send(join(workspace, "out", "chart.png"));
    const [item] = await stage.agent.store.outbox.due(Date.now(), 10);
    expect(item?.payload).toMatchObject({ mediaUrls: ["out/chart.png"] });
    writer.close();
  });

  it("reaches a session of the page", async () => {
    await using stage = await gatewayStage();
    const sent = await caller(stage).call("message.send", {
      channel: "web",
      to: "main",
      message: "hi",
      idempotencyKey: "w",
    });
    expect(sent).toMatchObject({ sessionKey: "agent:main:main", mirrored: true });
  });

  it("refuses a channel that is not there, nothing to say, and a session that may not be written to", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await expect(call("message.send", { ...MESSAGE, channel: "telegran" })).rejects.toMatchObject({
      code: "channel-not-found",
      hint: "Did you mean telegram?",
    });
    await expect(call("message.send", { ...MESSAGE, message: " " })).rejects.toMatchObject({ kind: "usage" });
    await call("message.send", MESSAGE);
    await call("sessions.patch", { key: KEY, sendPolicy: "deny" });
    await expect(call("message.send", { ...MESSAGE, idempotencyKey: "m2" })).rejects.toMatchObject({
      code: "send-denied",
    });
  });
});

describe("status", () => {
  it("says how agents, channels and turns are", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    await say(stage, "hello");
    expect(await call("health", {})).toMatchObject({ ok: true, agents: [{ agentId: "main", sessions: { count: 1 } }] });
    expect(await call("status", {})).toMatchObject({
      version: "1.2.3",
      sessions: { count: 1, recent: [{ key: KEY }] },
    });
    expect((await call("channels.status", {})).channels.map(({ channel }) => channel)).toEqual(["web", "telegram"]);
    expect(await call("agents.list", {})).toMatchObject({
      defaultId: "main",
      agents: [{ id: "main", engine: "echo" }],
    });
  });

  it("reports an agent whose store cannot be read, and the others", async () => {
    await using stage = await gatewayStage({ agents: ["broken", "main"] });
    const { agent } = await stage.parts.agents.open("broken");
    await agent.store.close();
    const { ok, agents, problems } = await caller(stage).call("health", {});
    expect([ok, agents.length, problems.length]).toEqual([false, 2, 1]);
  });
});

describe("the table", () => {
  it("refuses unknown methods and parameters with a suggestion", async () => {
    await using stage = await gatewayStage();
    const { call } = caller(stage);
    const wrong = createHttpCaller(stage.gateway).call("sessions.lst" as MethodName, {});
    await expect(wrong).rejects.toMatchObject({ code: "unknown-method", hint: "Did you mean sessions.list?" });
    await expect(call("sessions.list", { limt: 3 } as never)).rejects.toMatchObject({ hint: 'Did you mean "limit"?' });
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      const response = await stage.post(name);
      expect([name, response.status]).toEqual([name, 404]);
    }
  });

  it("never quotes a value in an error", async () => {
    await using stage = await gatewayStage();
    const response = await stage.post("sessions.list", { limit: "hunter2-is-the-password" });
    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain("hunter2");
  });

  it("holds a connection to the permission that it asked for", async () => {
    await using stage = await gatewayStage();
    await say(stage, "hello");
    const reader = await connect(stage, "read");
    expect((await reader.call("sessions.list", {})).count).toBe(1);
    for (const [method, params] of [
      ["chat.send", { sessionKey: KEY, message: "x", idempotencyKey: "k" }],
      ["sessions.delete", { key: KEY }],
      ["cc.kill", { target: "x" }],
    ] as const) {
      await expect(reader.call(method, params as never)).rejects.toMatchObject({ code: "permission-missing" });
    }
    const writer = await connect(stage, "write");
    await expect(writer.call("sessions.delete", { key: KEY })).rejects.toMatchObject({ kind: "forbidden" });
    reader.close();
    writer.close();
  });

  it("shows Claude Code's sessions and projects", async () => {
    await using stage = await gatewayStage();
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    repo.commit("first");
    const { call } = caller(stage);
    expect(await call("cc.list", { repoPath: repo.path })).toEqual({ count: 0, sessions: [] });
    expect((await call("cc.status", { repoPath: repo.path })).status.git?.recentCommits).toMatchObject([
      { message: "first" },
    ]);
    expect((await call("cc.select", { repoPath: repo.path, task: "tidy up" })).selection.action).toBe("fresh");
    expect(await call("cc.live", {})).toEqual({ live: [] });
    expect(await call("cc.kill", { target: repo.path })).toEqual({ killed: [] });
    await expect(call("cc.info", { sessionId: "deadbeef" })).rejects.toMatchObject({ kind: "not-found" });
  });

  it("needs a path that means the same in the gateway's folder", async () => {
    await using stage = await gatewayStage();
    await expect(caller(stage).call("cc.status", { repoPath: "relative/path" })).rejects.toMatchObject({
      message: expect.stringContaining("an absolute path is needed") as string,
    });
  });
});
