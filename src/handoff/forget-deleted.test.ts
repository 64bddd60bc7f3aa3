/** Deleted hand-offs are gone even after a crash; hand-offs of archived or recreated sessions stay. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type HandoffHome, KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { type FaultPoint, installFaultAction } from "../base/faults.ts";
import { agentLayout } from "../config/layout.ts";
import { archiveSession, deleteSession, listArchives, restoreSession } from "../session/archive.ts";
import type { StoreKind } from "../store/store.ts";
import { foldersOf } from "../../test/support/stores.ts";

const OTHER = "agent:main:telegram:dm:2";
const NATIVE = "agent:main:claude-code:0ce85868-7b98-4541-abaf-87da3fa6f579";

afterEach(() => installFaultAction(undefined));

describe.each(STORE_KINDS)("the hand-off of a session on %s", (kind) => {
  it("is deleted with the session: state, resume, snapshots and daily notes", async () => {
    await using home = await homeOfTwo(kind);
    await home.handoff.resume(KEY);
    expect(filesNaming(home, KEY).length).toBeGreaterThanOrEqual(4);
    const { windows } = await deleteSession(home.agent, KEY);
    expect(await home.agent.store.handoffs.get(KEY)).toBeUndefined();
    // Deleting one of many sessions does not read the others.
    await rm(foldersOf(home.agent).archive, { recursive: true });
    home.handoff.forgetDeleted(windows);
    await home.handoff.settled();
    expect(filesNaming(home, KEY)).toEqual([]);
    expect(filesNaming(home, OTHER).length).toBeGreaterThanOrEqual(3);
    expect((await home.handoff.list()).map(({ sessionKey }) => sessionKey)).toEqual([OTHER]);

    const entry = await home.open();
    expect(await home.handoff.offer({ sessionKey: KEY, entry })).toBeUndefined();
    expect(await home.handoff.resume(KEY)).toEqual({ kind: "none" });
  });

  it("is restored with the session, and cleared items stay cleared", async () => {
    await using home = await homeOfTwo(kind);
    const { id } = await deleteSession(home.agent, KEY);
    await restoreSession(home.agent, id);
    expect(await home.handoff.get(KEY)).toMatchObject({ sessionKey: KEY, project: "webhooks" });
    await home.handoff.recover();
    expect(await home.handoff.get(KEY)).toBeDefined();

    await home.handoff.clear(OTHER);
    const other = await deleteSession(home.agent, OTHER);
    await restoreSession(home.agent, other.id);
    expect(await home.handoff.capture({ kind: "session", sessionKey: OTHER }, "messages")).toBeUndefined();
  });

  it("stays when the session is archived, and is offered to the next message", async () => {
    await using home = await homeOfTwo(kind);
    await archiveSession(home.agent, KEY);
    await home.handoff.recover();
    await home.handoff.settled();
    expect(filesNaming(home, KEY).length).toBeGreaterThanOrEqual(4);
    const entry = await home.open();
    expect((await home.handoff.offer({ sessionKey: KEY, entry }))?.text).toContain("Redis");
  });

  it("stays when the session is archived long after a crash during a deletion", async () => {
    await using home = await homeOfTwo(kind);
    dieAt("archive.written");
    await expect(deleteSession(home.agent, KEY)).rejects.toThrow("died");
    installFaultAction(undefined);
    home.fixture.clock.advance(24 * 3_600_000);
    await archiveSession(home.agent, KEY, { reason: "age" });
    expect((await listArchives(home.agent)).map(({ reason }) => reason)).toEqual(["age", "deleted"]);
    const next = await home.another();
    await next.recover();
    await next.settled();
    expect(await next.get(KEY)).toMatchObject({ sessionKey: KEY, project: "webhooks" });
    expect(filesNaming(home, KEY).length).toBeGreaterThanOrEqual(3);
  });

  it("is deleted with the session after a crash during archiving", async () => {
    await using home = await homeOfTwo(kind);
    dieAt("archive.written");
    await expect(archiveSession(home.agent, KEY)).rejects.toThrow("died");
    installFaultAction(undefined);
    home.fixture.clock.advance(1000);
    await deleteSession(home.agent, KEY);
    const next = await home.another();
    await next.recover();
    await next.settled();
    expect(filesNaming(home, KEY)).toEqual([]);
  });

  it("is deleted by the next process after a crash between the session and its files", async () => {
    await using home = await homeOfTwo(kind);
    const state = await home.agent.store.handoffs.get(KEY);
    await deleteSession(home.agent, KEY);
    // As it would be where the state had outlived the session.
    await home.agent.store.handoffs.update(KEY, () => state);
    await home.agent.store.handoffs.update(NATIVE, () => ({ kept: true }));
    const next = await home.another();
    await next.recover();
    await next.settled();
    expect(await home.agent.store.handoffs.get(KEY)).toBeUndefined();
    expect(await home.agent.store.handoffs.get(NATIVE)).toEqual({ kept: true });
    expect(filesNaming(home, KEY)).toEqual([]);
  });

  it("stays for a session that was recreated under the same key", async () => {
    await using home = await homeOfTwo(kind);
    await deleteSession(home.agent, KEY);
    await home.open();
    await home.say(["We decided to sign the packages with a hardware key."]);
    await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    const next = await home.another();
    await next.recover();
    await next.settled();
    expect((await next.get(KEY))?.summary.decisions).toEqual([expect.stringContaining("hardware key")]);
    expect(filesNaming(home, "hardware key").length).toBeGreaterThanOrEqual(2);
    expect(filesNaming(home, "Redis")).toEqual([]);
  });

  it("is not written by a delayed process after the key got another session", async () => {
    await using home = await homeOfTwo(kind);
    const slow = await home.another();
    await home.say(["The release is blocked: the signing key has expired."]);
    await slow.capture({ kind: "session", sessionKey: KEY }, "messages");
    const { windows } = await deleteSession(home.agent, KEY);
    home.handoff.forgetDeleted(windows);
    await home.open();
    await home.say(["We decided to store invoices as PDF files."]);
    await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    await home.handoff.settled();
    await slow.settled();
    expect(filesNaming(home, "signing key")).toEqual([]);
  });

  it("is written by a delayed process even if a later window has a hand-off", async () => {
    await using home = await homeOfTwo(kind);
    const slow = await home.another();
    await home.say(["The release is blocked: the signing key has expired."]);
    await slow.capture({ kind: "session", sessionKey: KEY }, "messages");
    await home.next();
    await home.say(["We decided to store invoices as PDF files."]);
    await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    await slow.settled();
    expect(filesNaming(home, "signing key")).toContainEqual(expect.stringMatching(/^patterns.*\.jsonl$/));
  });

  it("is neither stored nor written by a process that was still working on it", async () => {
    await using home = await homeOfTwo(kind);
    const other = await home.another();
    const entry = await home.entry();
    await home.say(["The release is blocked: the signing key has expired."]);
    expect(await other.capture({ kind: "session", sessionKey: KEY }, "messages")).toBeDefined();
    await home.agent.store.delete(KEY, { withHandoff: true });
    expect(await other.capture({ kind: "session", sessionKey: KEY, entry }, "messages")).toBeUndefined();
    expect(await home.agent.store.handoffs.get(KEY)).toBeUndefined();
    await other.settled();
    expect(filesNaming(home, "signing key")).toEqual([]);
  });
});

function dieAt(point: FaultPoint): void {
  installFaultAction((reached) => {
    if (reached === point) throw new Error("died");
  });
}

/** Two people have worked, one of them on two days, and the files are written. */
async function homeOfTwo(kind: StoreKind): Promise<HandoffHome> {
  const home = await createHandoffHome(kind);
  await home.open();
  await home.say(WORK);
  await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
  // The next day.
  home.fixture.clock.advance(13 * 3_600_000);
  await home.say(["The integration tests run again: the connection to Redis is mended."]);
  await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
  await home.open(OTHER);
  await home.say(["We decided to store invoices as PDF files."], OTHER);
  await home.handoff.capture({ kind: "session", sessionKey: OTHER }, "messages");
  await home.handoff.settled();
  return home;
}

function filesNaming({ fixture, agent }: HandoffHome, text: string): string[] {
  const { root } = agentLayout(fixture.home, agent.agentId).handoff;
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.jsonl?$/.test(name) && existsSync(join(root, name)))
    .filter((name) => readFileSync(join(root, name), "utf8").includes(text));
}
