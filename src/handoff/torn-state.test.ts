/** A state whose text was torn in the file of the store: it concerns its session alone, and is made anew. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type HandoffHome, KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import { tearHandoff } from "../../test/support/stores.ts";
import { agentLayout } from "../config/layout.ts";
import { archiveSession } from "../session/archive.ts";
import { readState } from "./kept-state.ts";

const OTHER = "agent:main:telegram:dm:2";
const REDIS = "We decided to use Redis for the queue instead of Postgres.";

describe("a state that was torn", () => {
  it.each([
    ["to its first bytes", (text: string) => text.slice(0, 300)],
    ["to nothing", () => ""],
    ["to something else", () => "[1"],
  ])("%s is listed among the others, made anew", async (_name, tear) => {
    await using stage = await tornStage(tear);
    const listed = await stage.handoff.list();
    expect(listed.map(({ sessionKey }) => sessionKey).toSorted()).toEqual([KEY, OTHER]);
    expect(listed.find(({ sessionKey }) => sessionKey === KEY)?.summary.decisions).toContain(REDIS);
    expect(readState(await stage.agent.store.handoffs.get(KEY))).toBeDefined();
  });

  it("is told about in the log, and made anew by a capture and by whoever asks for it", async () => {
    await using stage = await tornStage();
    const state = await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
    expect(state?.summary.decisions).toContain(REDIS);
    expect(stage.log.join("")).toContain("was changed or damaged");
    tear(stage);
    expect((await stage.handoff.get(KEY))?.summary).toEqual(state?.summary);
  });

  it("reaches the next window, also where a person asks for it", async () => {
    await using stage = await tornStage();
    await stage.next();
    expect((await stage.offer())?.text).toContain(REDIS);
    tear(stage);
    expect(await stage.handoff.resume(KEY)).toMatchObject({ kind: "ready" });
  });

  it("can be cleared, and stays so", async () => {
    await using stage = await tornStage();
    expect(await stage.handoff.clear(KEY)).toBe(true);
    expect((await stage.handoff.list()).map(({ sessionKey }) => sessionKey)).toEqual([OTHER]);
    expect(await stage.handoff.capture({ kind: "session", sessionKey: KEY }, "new")).toBeUndefined();
  });

  it("goes with its session", async () => {
    await using stage = await tornStage();
    await archiveSession(stage.agent, KEY, { reason: "deleted" });
    expect((await stage.agent.store.handoffs.list()).map(({ key }) => key)).toEqual([OTHER]);
  });

  it("does not keep the files from telling about the others", async () => {
    await using stage = await tornStage();
    const another = await stage.another();
    await stage.say(["The release is blocked: the signing key has expired."], OTHER);
    await another.capture({ kind: "session", sessionKey: OTHER }, "messages");
    await another.settled();
    const { stateFile } = agentLayout(stage.fixture.home, "main").handoff;
    expect(readFileSync(stateFile, "utf8")).toContain("the signing key has expired");
  });
});

/** Two sessions that have left something, of which the state of `KEY` is torn. */
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
