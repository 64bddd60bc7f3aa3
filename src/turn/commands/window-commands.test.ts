import { unlink } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type CommandHome, KEY, createCommandHome } from "../../../test/support/command-home.ts";

/** Three windows: about tomatoes, about the garden fence, about the fence again. */
async function threeWindows(home: CommandHome): Promise<string[]> {
  const ids: string[] = [];
  for (const text of ["plant tomatoes", "/new paint the garden fence", "/new repair the fence"]) {
    home.clock.advance(60_000);
    ids.push((await home.say(text)).sessionId);
  }
  return ids;
}

describe("/windows", () => {
  it("lists windows with time, title and state", async () => {
    await using home = await createCommandHome();
    expect(await home.type("/windows")).toBe("No window yet.");
    const ids = await threeWindows(home);
    const lines = ((await home.type("/windows")) ?? "").split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      new RegExp(`^1\\. ${ids[0]?.slice(0, 8)}  2026-11-15 \\d\\d:\\d\\d  plant tomatoes  \\(first, closed 2026`),
    );
    expect(lines[2]).toMatch(/repair the fence {2}\(by \/new, open\)$/);
  });

  it("shows the newest ones and how to see earlier ones", async () => {
    await using home = await createCommandHome();
    for (let count = 1; count <= 25; count++) await home.say(`/new number ${count}`);
    const lines = ((await home.type("/windows")) ?? "").split("\n");
    expect(lines[0]).toMatch(/^6\. .*number 6 /);
    expect(lines.at(-1)).toBe("Earlier ones: /windows 6");
    expect(((await home.type("/windows 6")) ?? "").split("\n")).toHaveLength(5);
  });

  it("lists a window whose transcript is missing or hostile", async () => {
    await using home = await createCommandHome();
    const { sessionFile } = await home.say("one");
    await home.say("/new \u001b]0;title\u0007 <@99>");
    await unlink(sessionFile ?? "");
    const answer = await home.type("/windows");
    expect(answer).toContain("damaged: the file is missing");
    expect(answer).toContain("\\u001b]0;title\\u0007 < @99>");
  });
});

describe("going back", () => {
  it.each(["/back 1", "/resume 1", "/resume tomatoes", "/resume Plant TOM"])("works with %s", async (text) => {
    await using home = await createCommandHome();
    const [first] = await threeWindows(home);
    expect(await home.type(text)).toBe(`Back in window ${first?.slice(0, 8)}: plant tomatoes`);
    expect((await home.entry())?.sessionId).toBe(first);
    expect(await home.agent.store.windows(KEY)).toHaveLength(3);
  });

  it("accepts a prefix of an id in any case", async () => {
    await using home = await createCommandHome();
    const [, second] = await threeWindows(home);
    await home.type(`/back ${second?.slice(0, 8).toUpperCase()}`);
    expect((await home.entry())?.sessionId).toBe(second);
  });

  it("asks if the window is unclear", async () => {
    await using home = await createCommandHome();
    const ids = await threeWindows(home);
    for (const text of ["/back", "/back 9", "/back 0", "/back zzzz"]) {
      expect(await home.type(text)).toBe("Which window? /windows lists the numbers.");
    }
    expect(await home.type("/back 3")).toBe("You are in that window already.");
    const several = ((await home.type("/resume fence")) ?? "").split("\n");
    expect(several[0]).toBe('Several windows are about "fence":');
    expect(several).toHaveLength(4);
    expect(await home.type("/resume submarine")).toContain('No window is about "submarine".');
    expect(((await home.type("/resume")) ?? "").split("\n")).toHaveLength(5);
    expect((await home.entry())?.sessionId).toBe(ids[2]);
  });

  it("is done once, even if the command is repeated after a crash", async () => {
    await using home = await createCommandHome();
    const [first] = await threeWindows(home);
    const answer = await home.type("/back 1", { turnId: "turn-1" });
    // The window is now the last of the list, and number 1 is another one.
    expect(await home.type("/back 1", { turnId: "turn-1" })).toBe(answer);
    expect((await home.entry())?.sessionId).toBe(first);
    await home.type("/back 1", { turnId: "turn-2" });
    expect((await home.entry())?.sessionId).not.toBe(first);
  });

  it("refuses if the transcript is missing, and stays in the window", async () => {
    await using home = await createCommandHome();
    const { sessionFile } = await home.say("one");
    const { sessionId } = await home.say("/new two");
    await unlink(sessionFile ?? "");
    expect(await home.type("/back 1")).toContain("is gone");
    expect((await home.entry())?.sessionId).toBe(sessionId);
  });
});
