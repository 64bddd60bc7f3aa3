/** Captures that a starting process makes up for. */
import { describe, expect, it } from "vitest";
import { KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";

describe.each(STORE_KINDS)("recovery on %s", (kind) => {
  it("captures sessions used since their last capture, each once", async () => {
    await using stage = await createHandoffHome(kind);
    const other = "agent:main:telegram:dm:2";
    await stage.open();
    await stage.open(other);
    await stage.open("agent:main:telegram:dm:3", { handoff: "off" });
    await stage.open("agent:main:telegram:dm:4");
    await stage.say(WORK);
    await stage.say(["We decided to store invoices as PDF files."], other);
    await stage.say(WORK, "agent:main:telegram:dm:3");
    expect(await stage.handoff.recover()).toBe(2);
    expect(await stage.handoff.recover()).toBe(0);
    expect(await stage.handoff.get(KEY)).toMatchObject({ reason: "found", lastMessageIndex: WORK.length });
    await stage.say(["The release is blocked: the signing key has expired."], other);
    expect(await stage.handoff.recover()).toBe(1);
    expect((await stage.handoff.list()).map(({ sessionKey }) => sessionKey)).toEqual([other, KEY]);
  });

  it("skips sessions too old to be offered", async () => {
    await using stage = await createHandoffHome(kind);
    await stage.open();
    await stage.say(WORK);
    stage.fixture.clock.advance(25 * 3_600_000);
    expect(await stage.handoff.recover()).toBe(0);
  });
});
