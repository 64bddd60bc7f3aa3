/** The cost of hand-offs for turns: reads of the store and of transcripts, and waiting. */
import { readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HandoffHome, KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { agentLayout } from "../config/layout.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import type { Store } from "../store/store.ts";
import { createHandoff } from "./create-handoff.ts";
import type { Handoff } from "./handoff.ts";

describe.each(STORE_KINDS)("turns on %s", (kind) => {
  it("of a new session read the store once and write nothing", async () => {
    await using home = await createHandoffHome(kind);
    const { handoff, calls } = counted(home);
    const request = { sessionKey: KEY, entry: await home.open(), isFirst: true };
    await home.say(["Good morning."]);
    // Without a transcript, reading it would fail.
    rmSync(await transcriptPath(home.agent, request.entry));
    expect(handoff.mayOffer(request)).toBe(true);
    expect(await handoff.offer(request)).toBeUndefined();
    expect(calls).toEqual(["handoffs.get"]);
    expect(handoff.mayOffer(request)).toBe(false);
    expect(await handoff.offer({ ...request, isFirst: false })).toBeUndefined();
    expect(calls).toEqual(["handoffs.get"]);
    await handoff.close();
  });

  it("in a decided window cost nothing, or one read after a restart", async () => {
    await using home = await createHandoffHome(kind);
    await home.open();
    await home.say(WORK);
    await home.next();
    const entry = await home.entry();
    const offer = await home.offer();
    if (offer !== undefined) await home.handoff.markOffered(offer);
    await home.handoff.settled();

    const { handoff, calls } = counted(home);
    for (let turn = 0; turn < 3; turn++) {
      expect(await handoff.offer({ sessionKey: KEY, entry })).toBeUndefined();
      expect(handoff.mayOffer({ sessionKey: KEY, entry })).toBe(false);
    }
    expect(calls).toEqual(["handoffs.get"]);
    // After a compaction it is decided again.
    expect(handoff.mayOffer({ sessionKey: KEY, entry: { ...entry, compactionCount: 1 } })).toBe(true);
    await handoff.close();
  });

  it("see a person's request from this or another process", async () => {
    await using home = await createHandoffHome(kind);
    await home.open();
    await home.say(WORK);
    await home.next();
    const request = { sessionKey: KEY, entry: await home.entry() };
    const offer = await home.offer();
    if (offer !== undefined) await home.handoff.markOffered(offer);
    expect(await home.offer()).toBeUndefined();
    expect(home.handoff.mayOffer(request)).toBe(false);

    await home.handoff.resume(KEY);
    expect(home.handoff.mayOffer(request)).toBe(true);
    const asked = await home.offer();
    // It is due until it is marked as offered.
    expect(await home.offer()).toBeDefined();
    if (asked !== undefined) await home.handoff.markOffered(asked);
    expect(await home.offer()).toBeUndefined();

    await (await home.another()).resume(KEY);
    await expect.poll(() => home.handoff.mayOffer(request), { timeout: 5_000 }).toBe(true);
    expect(await home.offer()).toBeDefined();
  });

  it("do not wait for a background capture, and replace it", async () => {
    await using home = await createHandoffHome(kind);
    await home.open();
    await home.say(WORK);
    const slow = Promise.withResolvers<void>();
    let held = 0;
    const { handoff } = counted(home, async (call) => {
      if (call !== "handoffs.update" || held++ > 0) return;
      await slow.promise;
    });
    // It hangs before it stores its state.
    handoff.turnEnded({ sessionKey: KEY, messages: 20, largestToolResult: 0, timedOut: false });
    await expect.poll(() => held).toBe(1);
    await home.next();
    const offer = await handoff.offer({ sessionKey: KEY, entry: await home.entry() });
    expect(offer?.text).toContain("Redis");
    expect(await handoff.capture({ kind: "session", sessionKey: KEY }, "new")).toMatchObject({ reason: "reset" });
    slow.resolve();
    await handoff.close();
    expect((await home.handoff.get(KEY))?.summary.blockers).toHaveLength(1);
  });
});

describe("the files", () => {
  it("are written once for many captures, and only if they change", async () => {
    await using home = await createHandoffHome();
    const layout = agentLayout(home.fixture.home, "main").handoff;
    await home.open();
    await home.say(WORK);
    const { handoff, calls } = counted(home);
    for (let index = 0; index < 5; index++) {
      await home.say([`The release is blocked: signing key number ${index} has expired.`]);
      await handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    }
    expect(readdirSync(home.fixture.home, { recursive: true }).join()).not.toContain("session-state.json");
    // One change of the store each.
    expect(calls.filter((call) => call === "handoffs.update")).toHaveLength(5);
    await handoff.settled();
    expect(calls.filter((call) => call === "handoffs.list")).toHaveLength(1);
    expect(readdirSync(layout.snapshotsFolder)).toHaveLength(1);
    const day = join(layout.patternsFolder, readdirSync(layout.patternsFolder)[0] ?? "");
    const before = [layout.stateFile, layout.pendingFile, day].map(inode);

    await handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    await handoff.settled();
    expect([layout.stateFile, layout.pendingFile, day].map(inode)).toEqual(before);
    await home.say(["We decided to rotate the keys every month."]);
    await handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    await handoff.settled();
    // New notes are appended, and the other states are not read again.
    expect(inode(day)).toBe(before[2]);
    expect(calls.filter((call) => call === "handoffs.list")).toHaveLength(1);
    await handoff.close();
  });

  it("are rewritten when another process changes a state", async () => {
    await using home = await createHandoffHome();
    const layout = agentLayout(home.fixture.home, "main").handoff;
    await home.open();
    await home.say(WORK);
    await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    await home.handoff.settled();
    const { store } = await home.fixture.another();
    await store.handoffs.delete(KEY);
    const pending = (): unknown => JSON.parse(readFileSync(layout.pendingFile, "utf8"));
    await expect.poll(pending, { timeout: 10_000 }).toEqual({ version: 1, pending: [] });
  });
});

function inode(path: string): number {
  return statSync(path).ino;
}

/** A hand-off whose use of the store is written down, and may be held up. */
function counted(home: HandoffHome, before?: (call: string) => Promise<void>): { handoff: Handoff; calls: string[] } {
  const calls: string[] = [];
  const watched = <T extends object>(part: T, name: string): T =>
    new Proxy(part, {
      get(target, member): unknown {
        const value: unknown = Reflect.get(target, member);
        if (typeof value !== "function" || member === "onChange") return value;
        return async (...given: unknown[]): Promise<unknown> => {
          const call = `${name}${String(member)}`;
          calls.push(call);
          await before?.(call);
          return await (Reflect.apply(value, target, given) as unknown);
        };
      },
    });
  const { store } = home.agent;
  const watchedStore: Store = new Proxy(watched(store, ""), {
    get: (target, member): unknown =>
      member === "handoffs" ? watched(store.handoffs, "handoffs.") : Reflect.get(target, member),
  });
  const layout = agentLayout(home.fixture.home, "main");
  const handoff = createHandoff({
    agent: { ...home.agent, store: watchedStore },
    layout: layout.handoff,
    defaultWorkspace: layout.workspace,
    config: home.fixture.config.handoff,
  });
  return { handoff, calls };
}
