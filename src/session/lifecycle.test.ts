/** Archive, restore, patch, labels, usage, lineage and maintenance on both stores. */
import { existsSync, readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { STORE_KINDS, type AgentHome, createAgentHome } from "../../test/support/agent-home.ts";
import { type FaultPoint, installFaultAction } from "../base/faults.ts";
import { readContext } from "../transcript/context.ts";
import { openTranscriptLog } from "../transcript/log.ts";
import { locateWindowTranscript, transcriptPath } from "./agent-handle.ts";
import { archiveSession, deleteSession, listArchives, restoreSession, reopenWindow } from "./archive.ts";
import { initSessionState } from "./init.ts";
import { withSessionLease } from "./lease.ts";
import { maintainSessions } from "./maintenance.ts";
import { patchSession } from "./patch.ts";
import { findSession } from "./find-session.ts";
import { resetSession, forkSessionFromParent } from "./window.ts";
import {
  recordSessionMetaFromInbound,
  updateLastRoute,
  incrementCompactionCount,
  persistSessionUsageUpdate,
} from "./entry-updates.ts";
import { applyResetModelOverride } from "./model-choice.ts";
import { compactSession, appendAssistantMessageToSessionTranscript } from "./transcript-changes.ts";

const KEY = "agent:main:telegram:dm:1";
const DAY = 86_400_000;

afterEach(() => installFaultAction(undefined));

describe.each(STORE_KINDS)("the life of a session on %s", (kind) => {
  it("is archived whole and restored whole", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const first = await start(fixture, KEY, "one");
    await patchSession(agent, KEY, { label: "work" });
    await resetSession(agent, KEY);
    await append(fixture, KEY, "two");
    const before = await agent.store.get(KEY);

    const archived = await archiveSession(agent, KEY);
    expect(await agent.store.get(KEY)).toBeUndefined();
    expect(await agent.store.windows(KEY)).toEqual([]);
    expect((await listArchives(agent)).map(({ id, key }) => ({ id, key }))).toEqual([{ id: archived.id, key: KEY }]);

    await restoreSession(agent, archived.id);
    expect(await agent.store.get(KEY)).toEqual(before);
    const windows = await agent.store.windows(KEY);
    expect(windows.map(({ sessionId }) => sessionId)).toEqual([first.sessionId, before?.sessionId]);
    expect(await textOf(fixture, KEY)).toEqual(["two"]);
    expect(await listArchives(agent)).toEqual([]);
  });

  it("is not restored over a session that took its place", async () => {
    await using fixture = await createAgentHome(kind);
    await start(fixture, KEY, "one");
    const { id } = await archiveSession(fixture.agent, KEY);
    const { sessionId } = await start(fixture, KEY, "other");
    await expect(restoreSession(fixture.agent, id)).rejects.toMatchObject({ kind: "conflict", code: "session-exists" });
    expect((await fixture.agent.store.get(KEY))?.sessionId).toBe(sessionId);
    expect(await listArchives(fixture.agent)).toHaveLength(1);
  });

  it("refuses to delete the main session and archives any other", async () => {
    await using fixture = await createAgentHome(kind);
    await start(fixture, "main", "hi");
    await start(fixture, KEY, "hi");
    await expect(deleteSession(fixture.agent, "main")).rejects.toMatchObject({ code: "main-session" });
    await deleteSession(fixture.agent, KEY);
    expect((await listArchives(fixture.agent)).map(({ reason }) => reason)).toEqual(["deleted"]);
  });

  it("leaves no archive if the deletion fails", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const { sessionId } = await start(fixture, KEY, "one");
    const lost = await withSessionLease(agent, KEY, {}, async ({ lease }) => lease);
    await expect(deleteSession(agent, KEY, { lease: lost })).rejects.toMatchObject({ code: "lease-lost" });
    expect(await listArchives(agent)).toEqual([]);
    expect((await agent.store.get(KEY))?.sessionId).toBe(sessionId);
  });

  it("stays in the archive if the store fails after the deletion", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await start(fixture, KEY, "one");
    const deleted: FaultPoint = kind === "sqlite" ? "sqlite.batch.committed" : "json.written";
    installFaultAction((reached) => {
      if (reached === deleted) throw new Error("the disk is gone");
    });
    await expect(deleteSession(agent, KEY)).rejects.toThrow("the disk is gone");
    installFaultAction(undefined);
    expect(await agent.store.get(KEY)).toBeUndefined();
    const [archived] = await listArchives(agent);
    await restoreSession(agent, archived?.id ?? "");
    expect(await textOf(fixture, KEY)).toEqual(["one"]);
  });

  it("reopens an earlier window with its state", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const first = await start(fixture, KEY, "one");
    await persistSessionUsageUpdate({ agent, sessionKey: KEY, usage: { input: 7 }, cliSessionId: "sdk-1" });
    await resetSession(agent, KEY);
    await append(fixture, KEY, "two");
    const [window] = await agent.store.windows(KEY);
    if (window === undefined) throw new Error("no window");
    const entry = await reopenWindow(agent, window);
    expect(entry).toMatchObject({ sessionId: first.sessionId, sdkSessionId: "sdk-1", totalTokens: 7 });
    expect(await textOf(fixture, KEY)).toEqual(["one"]);
    const windows = await agent.store.windows(KEY);
    expect(windows.filter(({ closedAt }) => closedAt === undefined).map(({ sessionId }) => sessionId)).toEqual([
      first.sessionId,
    ]);
    expect(windows).toHaveLength(2);
  });

  it("continues in a reopened or new window, also days later", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent, clock } = fixture;
    const first = await start(fixture, KEY, "one");
    await resetSession(agent, KEY);
    clock.advance(3 * DAY);
    const [window] = await agent.store.windows(KEY);
    if (window === undefined) throw new Error("no window");
    await reopenWindow(agent, window);
    expect((await start(fixture, KEY, "two")).sessionId).toBe(first.sessionId);
    clock.advance(3 * DAY);
    const { entry } = await resetSession(agent, KEY);
    expect((await start(fixture, KEY, "three")).sessionId).toBe(entry.sessionId);
  });

  it("is kept fresh by deliveries to the person", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent, clock } = fixture;
    await start(fixture, KEY, "a");
    clock.advance(DAY);
    await appendAssistantMessageToSessionTranscript({ agent, sessionKey: KEY, text: "good morning" });
    expect((await agent.store.get(KEY))?.lastInteractionAt).toBe(clock.now());
  });

  it("keeps labels unique and checks every patch", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await start(fixture, KEY, "a");
    await start(fixture, "agent:main:telegram:dm:2", "b");
    await patchSession(agent, KEY, { label: " work " });
    expect((await agent.store.get(KEY))?.label).toBe("work");
    const taken = patchSession(agent, "agent:main:telegram:dm:2", { label: "work" });
    await expect(taken).rejects.toMatchObject({ kind: "conflict", code: "label-in-use" });
    const wrongValue = patchSession(agent, KEY, { sendPolicy: "maybe" as "allow" });
    await expect(wrongValue).rejects.toMatchObject({ kind: "usage", code: "invalid-entry" });
    const wrongField = patchSession(agent, KEY, { lable: "x" } as object);
    await expect(wrongField).rejects.toMatchObject({ code: "unknown-field", hint: 'Did you mean "label"?' });
    const moved = patchSession(agent, KEY, { label: "y" }, { expectedSessionId: "other" });
    await expect(moved).rejects.toMatchObject({ code: "session-moved" });
    await patchSession(agent, KEY, { label: null });
    expect(await agent.store.get(KEY)).not.toHaveProperty("label");
  });

  it("is found by key, label, id and unique id prefix", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const { sessionId } = await start(fixture, "main", "a");
    await patchSession(agent, "main", { label: "home" });
    for (const reference of ["main", "agent:main:main", "home", sessionId, sessionId.slice(0, 8)]) {
      expect((await findSession(agent, reference)).key).toBe("agent:main:main");
    }
    await start(fixture, KEY, "b");
    await patchSession(agent, KEY, { label: "agent:main:main" });
    expect((await findSession(agent, "agent:main:main")).key, "a label does not hide a key").toBe("agent:main:main");
    await resetSession(agent, "main");
    expect((await findSession(agent, sessionId)).window?.sessionId).toBe(sessionId);
    await agent.store.update("agent:main:twin", () => ({ sessionId, updatedAt: 1 }));
    await expect(findSession(agent, sessionId)).rejects.toMatchObject({ code: "ambiguous-prefix" });
    await expect(findSession(agent, "agent:main:mian")).rejects.toMatchObject({ kind: "not-found" });
    await expect(findSession(agent, " ")).rejects.toMatchObject({ kind: "usage" });
  });

  it("counts tokens of the prompt, and compactions", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await start(fixture, KEY, "a");
    const usage = { input: 10, output: 5, cacheRead: 100, cacheWrite: 20 };
    const entry = await persistSessionUsageUpdate({ agent, sessionKey: KEY, usage, modelUsed: "m", providerUsed: "p" });
    expect(entry).toMatchObject({ inputTokens: 10, outputTokens: 5, totalTokens: 130, model: "m", modelProvider: "p" });
    expect(await incrementCompactionCount({ agent, sessionKey: KEY, tokensAfter: 40 })).toBe(1);
    expect(await agent.store.get(KEY)).toMatchObject({ totalTokens: 40, compactionCount: 1 });
    expect(await agent.store.get(KEY)).not.toHaveProperty("inputTokens");
  });

  it("keeps its header and its end when it is compacted, and archives the rest", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await start(fixture, KEY, "0");
    for (let index = 1; index < 20; index++) await append(fixture, KEY, String(index));
    const result = await compactSession(agent, KEY, { maxLines: 5 });
    expect(result).toMatchObject({ compacted: true, kept: 5 });
    expect(await textOf(fixture, KEY)).toEqual(["15", "16", "17", "18", "19"]);
    expect(readFileSync(result.archived ?? "", "utf8")).toContain('"text":"0"');
    await append(fixture, KEY, "20");
    expect(await textOf(fixture, KEY)).toEqual(["15", "16", "17", "18", "19", "20"]);
    expect((await agent.store.get(KEY))?.compactionCount).toBe(1);
  });

  it("keeps an interrupted turn whole when it compacts", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await start(fixture, KEY, "0");
    await append(fixture, KEY, "1");
    const address = { channel: "web", accountId: "default", chatId: "1", messageId: "m" };
    await agent.store.inbox.admit({ key: KEY, address, payload: {}, receivedAt: 0 });
    await withSessionLease(agent, KEY, {}, async ({ lease }) => await agent.store.inbox.claim(lease));
    await append(fixture, KEY, "write the file");
    for (const text of ["a result", "another", "a third"]) {
      await appendAssistantMessageToSessionTranscript({ agent, sessionKey: KEY, text });
    }
    expect(await compactSession(agent, KEY, { maxLines: 2 })).toMatchObject({ compacted: true, kept: 4 });
    expect(await textOf(fixture, KEY)).toEqual(["write the file", "a result", "another", "a third"]);
  });

  it("mirrors deliveries outside a turn", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await start(fixture, KEY, "a");
    const result = await appendAssistantMessageToSessionTranscript({ agent, sessionKey: KEY, text: " sent " });
    expect(result).toMatchObject({ ok: true });
    expect(await textOf(fixture, KEY)).toEqual(["a", "sent"]);
    expect(await appendAssistantMessageToSessionTranscript({ agent, sessionKey: "agent:main:x", text: "y" })).toEqual({
      ok: false,
      reason: "unknown sessionKey: agent:main:x",
    });
    expect(await appendAssistantMessageToSessionTranscript({ agent, sessionKey: KEY, text: " " })).toMatchObject({
      ok: false,
    });
  });

  it("remembers route and chat, and does not mix the threads of two chats", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const ctx = {
      From: "discord:channel:1",
      ChatType: "channel",
      Provider: "discord",
      GroupChannel: "#general",
      GroupSpace: "Guild",
    };
    const entry = await recordSessionMetaFromInbound({ agent, sessionKey: "agent:main:discord:channel:1", ctx });
    expect(entry).toMatchObject({ chatType: "channel", groupId: "1", displayName: "discord:guild#general" });
    if (entry === undefined) throw new Error("no entry");
    expect(existsSync(await transcriptPath(agent, entry))).toBe(true);

    const sessionKey = "agent:main:discord:channel:1";
    await updateLastRoute({ agent, sessionKey, deliveryContext: { channel: "Discord", to: "1", threadId: "t" } });
    await updateLastRoute({ agent, sessionKey, deliveryContext: { channel: "discord", to: "2" } });
    const moved = await agent.store.get(sessionKey);
    expect(moved).toMatchObject({ lastTo: "2", deliveryContext: { channel: "discord", to: "2" } });
    expect(moved?.deliveryContext).not.toHaveProperty("threadId");

    await updateLastRoute({ agent, sessionKey, channel: " Telegram ", to: "3", accountId: "work", threadId: 7 });
    const flat = { channel: "telegram", to: "3", accountId: "work", threadId: 7 };
    expect(await agent.store.get(sessionKey)).toMatchObject({
      deliveryContext: flat,
      lastChannel: "telegram",
      lastTo: "3",
      lastAccountId: "work",
      lastThreadId: 7,
    });
    await updateLastRoute({ agent, sessionKey, to: "4", channel: "telegram", deliveryContext: { to: "3" } });
    expect(await agent.store.get(sessionKey)).toMatchObject({ deliveryContext: flat });
    await updateLastRoute({ agent, sessionKey, to: " " });
    expect(await agent.store.get(sessionKey)).toMatchObject({ deliveryContext: flat });
    await updateLastRoute({ agent, sessionKey, threadId: 8.5 });
    expect(await agent.store.get(sessionKey)).toMatchObject({ deliveryContext: { ...flat, threadId: 8 } });
  });

  it("is maintained by age, count and size only when asked, into the archive", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent, clock } = fixture;
    await start(fixture, "agent:main:telegram:dm:old", "x");
    clock.advance(10 * DAY);
    for (const id of ["a", "b", "c"]) {
      clock.advance(1000);
      await start(fixture, `agent:main:telegram:dm:${id}`, "x".repeat(1000));
    }
    await resetSession(agent, "agent:main:telegram:dm:c");
    expect(await maintainSessions(agent, {})).toEqual([]);
    const dry = await maintainSessions(agent, { archiveAfterDays: 5, maxSessions: 2 }, { dryRun: true });
    expect(dry.map(({ key, reason }) => `${key} ${reason}`)).toEqual([
      "agent:main:telegram:dm:a count",
      "agent:main:telegram:dm:old age",
    ]);
    expect((await agent.store.list()).total).toBe(4);
    await maintainSessions(agent, { archiveAfterDays: 5, maxSessions: 2 });
    expect((await agent.store.list()).total).toBe(2);
    expect(await listArchives(agent)).toHaveLength(2);

    const [action] = await maintainSessions(agent, { maxMegabytes: 0.000001 });
    expect(action).toMatchObject({ what: "window", key: "agent:main:telegram:dm:c", reason: "size" });
    const [window] = await agent.store.windows("agent:main:telegram:dm:c");
    if (window === undefined) throw new Error("no window");
    expect(await locateWindowTranscript(agent, window)).toContain("archive");
    await reopenWindow(agent, window);
    expect(await textOf(fixture, "agent:main:telegram:dm:c")).toEqual(["x".repeat(1000)]);
  });

  it("still reads a fork after its parent went to the archive", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const parentEntry = await start(fixture, KEY, "from the parent");
    const fork = await forkSessionFromParent({ agent, parentEntry });
    await archiveSession(agent, KEY);
    const { messages, problems } = await readContext(fork?.sessionFile ?? "");
    expect(problems).toEqual([]);
    expect(messages).toHaveLength(1);
  });

  it("is written by one process at a time", async () => {
    await using fixture = await createAgentHome(kind);
    const other = await fixture.another();
    await start(fixture, KEY, "a");
    await withSessionLease(fixture.agent, KEY, {}, async () => {
      const refused = withSessionLease(other, KEY, { waitMs: 0 }, async () => "never");
      await expect(refused).rejects.toMatchObject({ kind: "locked", code: "session-locked" });
    });
    expect(await withSessionLease(other, KEY, { waitMs: 0 }, async () => "now")).toBe("now");
  });

  it("refuses a holder whose lease expired and was taken over", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent, clock } = fixture;
    const other = await fixture.another();
    await start(fixture, KEY, "a");
    await withSessionLease(agent, KEY, { ttlMs: 60_000 }, async (held) => {
      await held.fence();
      clock.advance(60_001);
      await withSessionLease(other, KEY, { waitMs: 0 }, async () => {
        await expect(held.fence()).rejects.toMatchObject({ kind: "fenced" });
      });
      await expect(held.fence()).rejects.toMatchObject({ kind: "fenced" });
    });
  });

  it("reads a model name after a reset", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await start(fixture, KEY, "a");
    const models = { "minimax/MiniMax-M2.1": {}, "anthropic/claude-opus-4-5": { alias: "opus" } };
    const apply = async (bodyStripped: string) =>
      await applyResetModelOverride({
        agent,
        sessionKey: KEY,
        models,
        defaultModel: "anthropic/claude-opus-4-5",
        resetTriggered: true,
        bodyStripped,
      });
    expect(await apply("minimax summarize this")).toMatchObject({ cleanedBody: "summarize this" });
    expect(await agent.store.get(KEY)).toMatchObject({ providerOverride: "minimax", modelOverride: "MiniMax-M2.1" });
    expect(await apply("Opus")).toMatchObject({ selection: { isDefault: true }, cleanedBody: "" });
    expect(await agent.store.get(KEY)).not.toHaveProperty("modelOverride");
    expect(await apply("nothing known here")).toEqual({});
  });
});

async function start(fixture: AgentHome, key: string, text: string) {
  const ctx = { SessionKey: key, Body: text };
  const { sessionEntry, sessionKey } = await initSessionState({ agent: fixture.agent, ctx, cfg: fixture.config });
  await append(fixture, sessionKey, text);
  return sessionEntry;
}

async function append({ agent }: AgentHome, key: string, text: string): Promise<void> {
  const entry = await agent.store.get(key);
  if (entry === undefined) throw new Error(`no session ${key}`);
  await using log = await openTranscriptLog({
    path: await transcriptPath(agent, entry),
    durability: "none",
    clock: agent.clock,
  });
  await log.append([{ type: "message", message: { role: "user", content: [{ type: "text", text }], timestamp: 0 } }]);
}

async function textOf({ agent }: AgentHome, key: string): Promise<string[]> {
  const entry = await agent.store.get(key);
  if (entry === undefined) throw new Error(`no session ${key}`);
  const { messages } = await readContext(await transcriptPath(agent, entry));
  return messages.map((message) => JSON.stringify(message).match(/"text":"([^"]*)"/)?.[1] ?? "");
}
