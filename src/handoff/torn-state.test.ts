/** A state torn in the store's file affects only its session, and is rebuilt. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type HandoffHome, KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import { tearHandoff } from "../../test/support/stores.ts";
import { agentLayout } from "../config/layout.ts";
import { archiveSession } from "../session/archive.ts";
import { readState } from "./kept-state.ts";

const OTHER = "agent:main:telegram:dm:2";
const REDIS = "We decided to use Redis for the queue instead of Postgres.";

describe("a torn state", () => {
  it.each([
    ["to its first bytes", (text: string) => text.slice(0, 300)],
    ["to nothing", () => ""],
    ["to something else", () => "[1"],
  ])("%s is listed among the others, rebuilt", async (_name, tear) => {
    await using home = await tornHome(tear);
    const listed = await home.handoff.list();
    expect(listed.map(({ sessionKey }) => sessionKey).toSorted()).toEqual([KEY, OTHER]);
    expect(listed.find(({ sessionKey }) => sessionKey === KEY)?.summary.decisions).toContain(REDIS);
    expect(readState(await home.agent.store.handoffs.get(KEY))).toBeDefined();
  });

  it("is logged, and rebuilt by a capture and on request", async () => {
    await using home = await tornHome();
    const state = await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    expect(state?.summary.decisions).toContain(REDIS);
    expect(home.log.join("")).toContain("was damaged");
    tear(home);
    expect((await home.handoff.get(KEY))?.summary).toEqual(state?.summary);
  });

  it("reaches the next window, also on request", async () => {
    await using home = await tornHome();
    await home.next();
    expect((await home.offer())?.text).toContain(REDIS);
    tear(home);
    expect(await home.handoff.resume(KEY)).toMatchObject({ kind: "ready" });
  });

  it("can be cleared for good", async () => {
    await using home = await tornHome();
    expect(await home.handoff.clear(KEY)).toBe(true);
    expect((await home.handoff.list()).map(({ sessionKey }) => sessionKey)).toEqual([OTHER]);
    expect(await home.handoff.capture({ kind: "session", sessionKey: KEY }, "new")).toBeUndefined();
  });

  it("is deleted with its session", async () => {
    await using home = await tornHome();
    await archiveSession(home.agent, KEY, { reason: "deleted" });
    expect((await home.agent.store.handoffs.list()).map(({ key }) => key)).toEqual([OTHER]);
  });

  it("does not keep the others out of the files", async () => {
    await using home = await tornHome();
    const another = await home.another();
    await home.say(["The release is blocked: the signing key has expired."], OTHER);
    await another.capture({ kind: "session", sessionKey: OTHER }, "messages");
    await another.settled();
    const { stateFile } = agentLayout(home.fixture.home, "main").handoff;
    expect(readFileSync(stateFile, "utf8")).toContain("the signing key has expired");
  });
});

/** Two sessions with hand-offs; the state of `KEY` is torn. */
async function tornHome(how?: (text: string) => string): Promise<HandoffHome> {
  const home = await createHandoffHome("sqlite");
  for (const key of [KEY, OTHER]) {
    await home.open(key);
    await home.say(WORK, key);
    await home.handoff.capture({ kind: "session", sessionKey: key }, "messages");
  }
  await home.handoff.settled();
  tear(home, how);
  return home;
}

function tear({ fixture }: HandoffHome, how?: (text: string) => string): void {
  tearHandoff(agentLayout(fixture.home, "main").database, KEY, how);
}
