/** Captures that a starting process makes up for. */
import { describe, expect, it } from "vitest";
import { KEY, WORK, createHandoffHome } from "../../test/support/handoff-home.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";

describe.each(STORE_KINDS)("recovery on %s", (kind) => {
  it("captures sessions used since their last capture, each once", async () => {
    await using home = await createHandoffHome(kind);
    const other = "agent:main:telegram:dm:2";
    await home.open();
    await home.open(other);
    await home.open("agent:main:telegram:dm:3", { handoff: "off" });
    await home.open("agent:main:telegram:dm:4");
    await home.say(WORK);
    await home.say(["We decided to store invoices as PDF files."], other);
    await home.say(WORK, "agent:main:telegram:dm:3");
    expect(await home.handoff.recover()).toBe(2);
    expect(await home.handoff.recover()).toBe(0);
    expect(await home.handoff.get(KEY)).toMatchObject({ reason: "found", lastMessageIndex: WORK.length });
    await home.say(["The release is blocked: the signing key has expired."], other);
    expect(await home.handoff.recover()).toBe(1);
    expect((await home.handoff.list()).map(({ sessionKey }) => sessionKey)).toEqual([other, KEY]);
  });

  it("skips sessions too old to be offered", async () => {
    await using home = await createHandoffHome(kind);
    await home.open();
    await home.say(WORK);
    home.fixture.clock.advance(25 * 3_600_000);
    expect(await home.handoff.recover()).toBe(0);
  });
});
