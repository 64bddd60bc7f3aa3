/** The session methods, over a real gateway on a real store. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createGatewayHome } from "../../../test/support/gateway-home.ts";
import { caller, KEY, sample, say } from "../../../test/support/gateway-requests.ts";
import { agentLayout } from "../../config/layout.ts";
import { archiveSession } from "../../session/archive.ts";

describe("sessions", () => {
  it("are listed newest first with title and last words, of all agents or one", async () => {
    await using home = await createGatewayHome({ agents: ["main", "ops"] });
    const { call } = caller(home);
    await say(home, "what is a lease?");
    await say(home, "deploy it", "agent:ops:main");
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
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, "hello");
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

  it("are previewed; a missing one does not hide the others", async () => {
    await using home = await createGatewayHome();
    await say(home, "hello");
    const { previews } = await caller(home).call("sessions.preview", {
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

  it("are resolved by key, label and id prefix, also of an earlier window", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, "hello");
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
    const { id } = await archiveSession(home.agent, KEY);
    await expect(call("sessions.resolve", { sessionId: previousSessionId })).rejects.toMatchObject({
      code: "session-archived",
      message: expect.stringContaining(`holdfast sessions restore ${id}`) as string,
    });
  });

  it("list their windows, and the history of each can be read", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, "first topic");
    await call("sessions.reset", { key: KEY });
    expect(home.resets).toEqual([KEY]);
    await say(home, "second topic");
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

  it("refuse a change for another window, and an unknown field", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, "hello");
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
      message: expect.stringContaining(
        'invalid sessions.patch params: at /sendPolicy: expected "allow" or "deny", found other text',
      ) as string,
    });
    for (const wrong of [{ thinkingLevel: "very" }, { verboseLevel: "loud" }, { queueCap: -1 }, { label: "" }]) {
      await expect(call("sessions.patch", { key: KEY, ...wrong } as never)).rejects.toMatchObject({
        code: "invalid-params",
        kind: "usage",
      });
    }
  });

  it("are deleted into the archive, except the main session", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    await say(home, "hello");
    await say(home, "hello", "main");
    await expect(call("sessions.delete", { key: "main" })).rejects.toMatchObject({
      code: "main-session",
      message: "Cannot delete the main session (agent:main:main)",
    });
    const { history, systemEvents } = (await home.parts.agents.open("main")).agent.store;
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
    await using home = await createGatewayHome({ agents: ["main", "ops"] });
    const { call } = caller(home);
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
    await using home = await createGatewayHome();
    const { call } = caller(home);
    for (const path of ["../../escape", "..%2f..%2fescape", "/etc/passwd", "a/../../b", "x\u0000y"]) {
      await say(home, "hello", path);
      await expect(call("chat.history", { sessionKey: path, sessionId: path })).rejects.toMatchObject({
        code: "window-not-found",
      });
    }
    const { sessions } = await call("sessions.list", {});
    expect(sessions).toHaveLength(5);
    const { sessionsFolder } = agentLayout(home.home, "main");
    const files = readdirSync(home.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const transcripts = files.filter(({ name }) => name.endsWith(".jsonl"));
    expect(transcripts.map(({ parentPath }) => parentPath)).toEqual(Array<string>(5).fill(sessionsFolder));
    for (const { name } of transcripts) expect(name).toMatch(/^[0-9a-f-]{36}\.jsonl$/);
  });

  it("are compacted with the whole transcript kept", async () => {
    await using home = await createGatewayHome();
    const { call } = caller(home);
    for (const text of ["one", "two", "three"]) await say(home, text);
    const { compacted, archived, kept } = await call("sessions.compact", { key: KEY, maxLines: 2 });
    expect([compacted, kept]).toEqual([true, 2]);
    expect(readFileSync(String(archived), "utf8")).toContain("echo: one");
  });
});
