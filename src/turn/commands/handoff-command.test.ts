import { expect, it } from "vitest";
import { type CommandHome, KEY, createCommandHome } from "../../../test/support/command-home.ts";
import { listen } from "../../../test/support/hook-home.ts";
import { agentLayout } from "../../config/layout.ts";
import { createHandoff } from "../../handoff/create-handoff.ts";

const BLOCKED = "I'm blocked: the release fails with a missing certificate.";

async function createHandoffHome(): Promise<CommandHome> {
  const fixture = await createCommandHome();
  const { home, agent, config, parts } = fixture;
  const { handoff: layout, workspace: defaultWorkspace } = agentLayout(home, agent.agentId);
  const handoff = createHandoff({ agent, layout, defaultWorkspace, config: config.handoff });
  parts.handoff = handoff;
  return {
    ...fixture,
    [Symbol.asyncDispose]: async () => {
      await handoff.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

it("says that hand-off is turned off in the configuration", async () => {
  await using home = await createCommandHome();
  expect(await home.type("/handoff")).toContain("handoff.enabled is false");
});

it("captures and shows lines with their entries; clears; turns off and on", async () => {
  await using home = await createHandoffHome();
  expect(await home.type("/handoff")).toBe("There is no hand-off of this conversation yet.");
  await home.say(BLOCKED);
  const shown = (await home.type("/handoff")) ?? "";
  expect(shown).toMatch(/^Hand-off of window [0-9a-f]{8}, project main, 2026-\d\d-\d\d \d\d:\d\d:\n/);
  expect(shown).toMatch(/\nBlocked by: .*missing certificate\. \[[0-9a-f]{8}\]\n/);
  expect(shown).toMatch(/Captured .*, when asked for\. Offered to the next window until 2026-/);
  expect(await home.type("/handoff status")).toContain("missing certificate");
  expect(await home.type("/handoff clear")).toContain("is deleted");
  expect(await home.type("/handoff clear")).toBe("There was no hand-off.");
  expect(await home.type("/handoff")).toBe("There is no hand-off of this conversation yet.");
  expect(await home.type("/handoff off")).toContain("Hand-off is off");
  expect((await home.entry())?.handoff).toBe("off");
  expect(await home.type("/handoff")).toContain("/handoff on turns it on");
  expect(await home.type("/resume")).not.toContain("with your next message");
  expect(await home.type("/handoff on")).toContain("Hand-off is on");
  expect(await home.type("/handoff sideways")).toContain('does not know "sideways"');
});

it("/resume uses the hand-off and lists windows; an expired one by name", async () => {
  await using home = await createHandoffHome();
  await home.say(BLOCKED);
  await home.say("/new something else");
  expect(await home.type("/resume")).toMatch(
    /missing certificate[^]*The agent gets it with your next message[^]*Recent windows:\n1\. /,
  );
  expect((await home.parts.handoff?.get(KEY))?.forced).toBe(true);
  home.clock.advance(25 * 3_600_000);
  expect(await home.type("/resume")).toContain("has expired. /resume main uses it anyway.");
  expect(await home.type("/resume MAIN")).toContain("The agent gets it with your next message");
  // The number of the window still works.
  expect(await home.type("/resume 1")).toContain("Back in window");
});

it("/handoff and /resume show the hand-off of the current project", async () => {
  await using home = await createHandoffHome();
  await home.type("/project red");
  await home.say(BLOCKED);
  await home.type("/project blue");
  await home.say("We decided to store invoices as PDF files.");
  expect(await home.type("/handoff")).toMatch(/project blue[^]*invoices as PDF/);
  await home.say("/new hi");
  expect(await home.type("/handoff")).toMatch(/project blue[^]*invoices as PDF/);
  await home.type("/project red");
  for (const command of ["/handoff", "/resume"]) {
    const shown = await home.type(command);
    expect(shown).toMatch(/project red[^]*missing certificate/);
    expect(shown).not.toContain("Decided: ");
  }
});

it("a project name is one line; earlier messages belong to the previous project", async () => {
  await using home = await createHandoffHome();
  expect(await home.type(`/project ${"x".repeat(101)}`)).toContain("at most 100 characters");
  await home.say(BLOCKED);
  expect(await home.type("/project")).toContain("Project main, from the folder");
  expect(await home.type("/project shop")).toContain("Project shop, set by you");
  const { patterns = [] } = (await home.parts.handoff?.get(KEY)) ?? {};
  expect(new Set(patterns.map(({ project }) => project))).toEqual(new Set(["main"]));
  // Also when the transcript is read again without a stored state.
  await home.parts.agent.store.handoffs.delete(KEY);
  await home.say("Please paint the shop window.");
  const entry = await home.parts.agent.store.get(KEY);
  const again = await home.parts.handoff?.capture(
    { kind: "session", sessionKey: KEY, ...(entry && { entry }) },
    "asked",
  );
  expect(new Set(again?.patterns.map(({ project }) => project))).toContain("main");
  expect(again?.summary).toMatchObject({ blockers: [], inProgress: ["Please paint the shop window."] });
  expect(await home.type("/project default")).toContain("Project main, from the folder");
  expect(await home.type("/project /no/such/folder")).toBe("There is no folder /no/such/folder.");
  const stranger = { Provider: "telegram", SenderId: "7" };
  expect(await home.type("/project /tmp", { ctx: stranger })).toContain("Only the owner");
});

it("/stop and /back call hooks and show their messages", async () => {
  await using home = await createCommandHome();
  const { called } = await listen({ parts: home.parts, fixture: home }, ["command:stop", "session:end"], (event) => {
    event.messages.push(`heard ${event.action}`);
  });
  await home.say("one");
  const { sessionId } = await home.say("/new two");
  expect(await home.type("/stop")).toBe("Nothing is running.\nheard stop");
  expect(await home.type("/back 1")).toMatch(/^heard end\nBack in window/);
  expect(called.map(({ event, context }) => [event, context.sessionId, context.reason])).toEqual([
    ["command:stop", sessionId, undefined],
    ["session:end", sessionId, "restore"],
  ]);
});
