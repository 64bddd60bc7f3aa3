import { describe, expect, it } from "vitest";
import { STORE_KINDS, type AgentHome, createAgentHome } from "../../test/support/agent-home.ts";
import { listArchives, restoreSession } from "./archive.ts";
import { withSessionLease } from "./lease.ts";
import { maintainSessions } from "./maintenance.ts";
import { openWindow, resetSession } from "./window.ts";

const DAY = 86_400_000;

async function oldSessions({ agent, clock }: AgentHome, ids: Record<string, string>): Promise<void> {
  for (const [key, sessionId] of Object.entries(ids)) {
    await agent.store.update(key, () => ({ sessionId, updatedAt: clock.now() }));
  }
  clock.advance(10 * DAY);
}

describe.each(STORE_KINDS)("maintenance on %s", (kind) => {
  it("skips a session in use, and continues with the others", async () => {
    await using fixture = await createAgentHome(kind);
    await oldSessions(fixture, { "agent:main:a": "s-1", "agent:main:b": "s-2" });
    const other = await fixture.another();
    const done = await withSessionLease(other, "agent:main:b", {}, async () => {
      return await maintainSessions(fixture.agent, { archiveAfterDays: 5 });
    });
    expect(done.map(({ key }) => key)).toEqual(["agent:main:a"]);
    expect((await fixture.agent.store.list()).sessions.map(({ key }) => key)).toEqual(["agent:main:b"]);
  });

  it("archives no window of a session archived in the same run", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent, clock } = fixture;
    await openWindow(agent, { key: "agent:main:a", previous: undefined, reason: "initial" });
    await resetSession(agent, "agent:main:a");
    clock.advance(10 * DAY);
    const done = await maintainSessions(agent, { archiveAfterDays: 5, maxMegabytes: 0.000001 });
    expect(done.map(({ what, reason }) => [what, reason])).toEqual([["session", "age"]]);
    expect(await agent.store.windows("agent:main:a")).toEqual([]);
  });

  it("archives sessions with similar ids, or ids that are not valid file names, separately", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const ids = { "agent:main:a": "session-1", "agent:main:b": "session-2", "agent:main:c": "../x" };
    await oldSessions(fixture, ids);
    await maintainSessions(agent, { archiveAfterDays: 5 });
    const archives = await listArchives(agent);
    expect(archives.map(({ key }) => key).toSorted()).toEqual(Object.keys(ids));
    for (const { id } of archives) await restoreSession(agent, id);
    const sessions = (await agent.store.list({ sort: "key" })).sessions.map(({ key, entry }) => [key, entry.sessionId]);
    expect(Object.fromEntries(sessions)).toEqual(ids);
  });
});
