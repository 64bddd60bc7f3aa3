import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { STORE_KINDS, type AgentHome, createAgentHome } from "../../test/support/agent-home.ts";
import type { MessageContext } from "../keys/message-context.ts";
import { openTranscriptLog } from "../transcript/log.ts";
import { readContext } from "../transcript/context.ts";
import { type InitSessionParams, type SessionInitResult, initSessionState } from "./init.ts";

const HOUR = 3_600_000;
const alice = { Provider: "telegram", From: "telegram:1", ChatType: "direct", SenderId: "1", SenderName: "Alice" };

describe.each(STORE_KINDS)("initSessionState on %s", (kind) => {
  it("opens a first window with a durable transcript", async () => {
    await using fixture = await createAgentHome(kind);
    const result = await say(fixture, { Body: "hello" });
    expect(result).toMatchObject({ isNewSession: true, windowReason: "initial", resetTriggered: false });
    expect(result.sessionCtx).toMatchObject({ BodyStripped: "hello", IsNewSession: "true" });
    expect(readFileSync(result.transcriptPath, "utf8")).toContain(`"id":"${result.sessionId}"`);
  });

  it("opens one window for a turn that runs twice", async () => {
    await using fixture = await createAgentHome(kind);
    await say(fixture, { Body: "hello" });
    const reset = { Body: "/new hi", CommandAuthorized: true };
    const closed: string[] = [];
    const beforeNewWindow = async ({ sessionId }: { sessionId: string }) => void closed.push(sessionId);
    const first = await say(fixture, reset, { turnId: "t", beforeNewWindow });
    const again = await say(fixture, reset, { turnId: "t", beforeNewWindow });
    expect(again).toMatchObject({ sessionId: first.sessionId, windowReason: "command", bodyStripped: "hi" });
    expect(closed).toEqual([first.previousSessionEntry?.sessionId]);
    const another = await say(fixture, reset, { turnId: "u" });
    expect(another.sessionId).not.toBe(first.sessionId);
  });

  it("continues the same window while it is fresh", async () => {
    await using fixture = await createAgentHome(kind);
    const first = await say(fixture, { Body: "hello" });
    fixture.clock.advance(HOUR);
    const second = await say(fixture, { Body: "again" });
    expect(second).toMatchObject({ isNewSession: false, sessionId: first.sessionId });
  });

  it("keeps people apart by default", async () => {
    await using fixture = await createAgentHome(kind);
    const ours = await say(fixture, { Body: "hello" });
    const theirs = await say(fixture, { Body: "hello", From: "telegram:2", SenderId: "2" });
    expect(theirs.sessionKey).not.toBe(ours.sessionKey);
    expect(theirs.sessionId).not.toBe(ours.sessionId);
  });

  it("opens a new window each day, and names the reason", async () => {
    await using fixture = await createAgentHome(kind);
    const first = await say(fixture, { Body: "hello" });
    fixture.clock.advance(24 * HOUR);
    const next = await say(fixture, { Body: "good morning" });
    expect(next).toMatchObject({ isNewSession: true, windowReason: "daily" });
    expect(next.previousSessionEntry?.sessionId).toBe(first.sessionId);
    const windows = await fixture.agent.store.windows(next.sessionKey);
    expect(windows.map(({ sessionId }) => sessionId)).toEqual([first.sessionId, next.sessionId]);
  });

  it("opens a new window after the idle time of the channel", async () => {
    await using fixture = await createAgentHome(kind);
    const session = {
      ...fixture.config.session,
      resetByChannel: { Telegram: { mode: "idle" as const, idleMinutes: 30 } },
    };
    await say(fixture, { Body: "hello" }, { cfg: { session } });
    fixture.clock.advance(HOUR / 2 + 1);
    expect(await say(fixture, { Body: "back" }, { cfg: { session } })).toMatchObject({ windowReason: "idle" });
  });

  it("is not kept fresh or ended by heartbeats and bookkeeping", async () => {
    await using fixture = await createAgentHome(kind);
    const session = { ...fixture.config.session, reset: { mode: "idle" as const, idleMinutes: 60 } };
    const first = await say(fixture, { Body: "hello" }, { cfg: { session } });
    fixture.clock.advance(HOUR * 0.9);
    await fixture.agent.store.update(
      first.sessionKey,
      (entry) => entry && { ...entry, updatedAt: fixture.clock.now() },
    );
    fixture.clock.advance(HOUR * 0.9);
    const beat = await say(fixture, { Body: "HEARTBEAT" }, { cfg: { session }, isHeartbeat: true });
    expect(beat.isNewSession).toBe(false);
    expect((await say(fixture, { Body: "back" }, { cfg: { session } })).windowReason).toBe("idle");
  });

  it("is not kept fresh by heartbeats when another tool wrote its entry", async () => {
    await using fixture = await createAgentHome(kind);
    const session = { ...fixture.config.session, reset: { mode: "idle" as const, idleMinutes: 60 } };
    const first = await say(fixture, { Body: "hello" }, { cfg: { session } });
    await fixture.agent.store.update(first.sessionKey, (entry) => {
      if (entry === undefined) return undefined;
      const { lastInteractionAt: _unknownToOthers, ...rest } = entry;
      return rest;
    });
    fixture.clock.advance(HOUR * 0.9);
    await say(fixture, { Body: "HEARTBEAT" }, { cfg: { session }, isHeartbeat: true });
    fixture.clock.advance(HOUR * 0.2);
    expect((await say(fixture, { Body: "back" }, { cfg: { session } })).windowReason).toBe("idle");
  });

  it("resets on command and keeps the person's settings", async () => {
    await using fixture = await createAgentHome(kind);
    const first = await say(fixture, { Body: "hello" });
    await fixture.agent.store.update(
      first.sessionKey,
      (entry) =>
        entry && {
          ...entry,
          label: "work",
          thinkingLevel: "high",
          sendPolicy: "deny",
          modelOverride: "m",
          providerOverride: "p",
          totalTokens: 5,
          compactionCount: 3,
          memoryFlushCompactionCount: 2,
          sdkSessionId: "sdk",
          somethingElse: { kept: true },
        },
    );
    const next = await say(fixture, { Body: "/NEW  Keep CASE\n- and lines" });
    expect(next).toMatchObject({
      resetTriggered: true,
      windowReason: "command",
      bodyStripped: "Keep CASE\n- and lines",
    });
    expect(next.sessionEntry).toMatchObject({
      label: "work",
      thinkingLevel: "high",
      sendPolicy: "deny",
      modelOverride: "m",
      providerOverride: "p",
      compactionCount: 0,
      somethingElse: { kept: true },
      lastChannel: "telegram",
    });
    for (const cleared of ["totalTokens", "memoryFlushCompactionCount", "sdkSessionId"]) {
      expect(next.sessionEntry).not.toHaveProperty(cleared);
    }
  });

  it("forks a thread from its parent by reference", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const parent = await say(fixture, { Body: "hi", From: "slack:channel:C1", ChatType: "channel", Provider: "slack" });
    {
      await using log = await openTranscriptLog({
        path: parent.transcriptPath,
        durability: "turn",
        clock: agent.clock,
      });
      await log.append([{ type: "message", message: { role: "user", content: "in the channel", timestamp: 1 } }]);
    }
    const thread = await say(fixture, {
      Body: "in the thread",
      SessionKey: `${parent.sessionKey}:thread:t1`,
      ParentSessionKey: parent.sessionKey,
      Provider: "slack",
    });
    expect(thread.windowReason).toBe("fork");
    const { messages } = await readContext(thread.transcriptPath);
    expect(messages).toEqual([expect.objectContaining({ role: "user", content: "in the channel" })]);
    expect(readFileSync(thread.transcriptPath, "utf8")).not.toContain("in the channel");
  });

  it("gives a topic its own transcript", async () => {
    await using fixture = await createAgentHome(kind);
    const result = await say(fixture, { Body: "hi", MessageThreadId: 42 });
    expect(result.transcriptPath).toMatch(/-topic-42\.jsonl$/);
  });

  it("never makes a second session out of `main`", async () => {
    await using fixture = await createAgentHome(kind);
    const long = await say(fixture, { Body: "hi", SessionKey: "agent:main:main" });
    const short = await say(fixture, { Body: "hi", SessionKey: "main" });
    const reset = await say(fixture, { Body: "/new", SessionKey: "main" });
    expect([short.sessionKey, reset.sessionKey]).toEqual([long.sessionKey, long.sessionKey]);
    expect((await fixture.agent.store.list()).total).toBe(1);
  });

  it("continues with an empty transcript if it was removed", async () => {
    await using fixture = await createAgentHome(kind);
    const { rm } = await import("node:fs/promises");
    const first = await say(fixture, { Body: "hello" });
    await rm(first.transcriptPath);
    const second = await say(fixture, { Body: "again" });
    expect(second.sessionId).toBe(first.sessionId);
    expect(readFileSync(second.transcriptPath, "utf8")).toContain('"type":"session"');
  });

  it("lets exactly one of two simultaneous resets win each round, and loses no window", async () => {
    await using fixture = await createAgentHome(kind);
    const other = await fixture.another();
    const { sessionKey } = await say(fixture, { Body: "hello" });
    const results = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        return await say({ ...fixture, agent: index % 2 === 0 ? fixture.agent : other }, { Body: "/new" });
      }),
    );
    const windows = await fixture.agent.store.windows(sessionKey);
    const ids = windows.map(({ sessionId }) => sessionId);
    expect(new Set(ids).size).toBe(11);
    for (const { sessionId } of results) expect(ids).toContain(sessionId);
    expect(windows.filter(({ closedAt }) => closedAt === undefined)).toHaveLength(1);
  });
});

async function say(
  { agent, config }: Pick<AgentHome, "agent" | "config">,
  message: MessageContext,
  options: Partial<InitSessionParams> = {},
): Promise<SessionInitResult> {
  return await initSessionState({
    agent,
    ctx: { ...alice, ...message },
    cfg: config,
    commandAuthorized: true,
    ...options,
  });
}
