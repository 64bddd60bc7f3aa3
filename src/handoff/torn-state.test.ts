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
    await using stage = await tornStage(tear);
    const listed = await stage.handoff.list();
    expect(listed.map(({ sessionKey }) => sessionKey).toSorted()).toEqual([KEY, OTHER]);
    expect(listed.find(({ sessionKey }) => sessionKey === KEY)?.summary.decisions).toContain(REDIS);
    expect(readState(await stage.agent.store.handoffs.get(KEY))).toBeDefined();
  });

  it("is logged, and rebuilt by a capture and on request", async () => {
    await using stage = await tornStage();
    const state = await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    expect(state?.summary.decisions).toContain(REDIS);
    expect(stage.log.join("")).toContain("was damaged");
    tear(stage);
    expect((await stage.handoff.get(KEY))?.summary).toEqual(state?.summary);
  });

  it("reaches the next window, also on request", async () => {
    await using stage = await tornStage();
    await stage.next();
    expect((await stage.offer())?.text).toContain(REDIS);
    tear(stage);
    expect(await stage.handoff.resume(KEY)).toMatchObject({ kind: "ready" });
  });

  it("can be cleared for good", async () => {
    await using stage = await tornStage();
    expect(await stage.handoff.clear(KEY)).toBe(true);
    expect((await stage.handoff.list()).map(({ sessionKey }) => sessionKey)).toEqual([OTHER]);
    expect(await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "new")).toBeUndefined();
  });

  it("is deleted with its session", async () => {
    await using stage = await tornStage();
    await archiveSession(stage.agent, KEY, { reason: "deleted" });
    expect((await stage.agent.store.handoffs.list()).map(({ key }) => key)).toEqual([OTHER]);
  });

  it("does not keep the others out of the files", async () => {
    await using stage = await tornStage();
    const another = await stage.another();
    await stage.say(["The release is blocked: the signing key has expired."], OTHER);
    await another.capture({ kind: "session", sessionKey: OTHER }, "messages");
    await another.settled();
    const { stateFile } = agentLayout(stage.fixture.home, "main").handoff;
    expect(readFileSync(stateFile, "utf8")).toContain("the signing key has expired");
  });
});

/** Two sessions with hand-offs; the state of `KEY` is torn. */
async function tornStage(how?: (text: string) => string): Promise<HandoffHome> {
  const stage = await createHandoffHome("sqlite");
  for (const key of [KEY, OTHER]) {
    await stage.open(key);
    await stage.say(WORK, key);
    await stage.handoff.capture({ kind: "session", sessionKey: key }, "messages");
  }
  await stage.handoff.settled();
  tear(stage, how);
  return stage;
}

function tear({ fixture }: HandoffHome, how?: (text: string) => string): void {
  tearHandoff(agentLayout(fixture.home, "main").database, KEY, how);
}
