import { expect, it } from "vitest";
import { KEY, createHandoffHome } from "../../../test/support/handoff-home.ts";
import { transcriptPath } from "../../session/agent-handle.ts";
import { withSessionLease } from "../../session/lease.ts";
import { changesProject } from "../../session/patch.ts";
import { readTranscript } from "../../transcript/reader.ts";
import { patchFromOutside } from "./change-session.ts";

async function marksIn(path: string): Promise<unknown[]> {
  const marks: unknown[] = [];
  for await (const item of readTranscript(path)) {
    if (item.kind !== "entry" || item.entry.type !== "custom") continue;
    if (item.entry.customType === "holdfast.project") marks.push(item.entry.data);
  }
  return marks;
}

it("assigns earlier messages to the previous project", async () => {
  await using home = await createHandoffHome();
  const { agent } = home;
  await home.open();
  await home.say(["We decided to use Redis for the queue instead of Postgres."]);
  expect(await patchFromOutside(home, KEY, { project: "invoices" })).toMatchObject({ project: "invoices" });
  await patchFromOutside(home, KEY, { project: "invoices", label: "work" });
  await home.say(["We decided to store invoices as PDF files."]);
  const entry = await patchFromOutside(home, KEY, { project: null, projectFolder: agent.workspace });
  expect(entry).not.toHaveProperty("project");
  await home.say(["We decided to water the plants on Mondays."]);

  const state = await home.handoff.capture({ kind: "session", sessionKey: KEY }, "messages");
  const decisions = state?.patterns.filter(({ type }) => type === "decision") ?? [];
  expect(decisions.map(({ project, content }) => [project, /Redis|PDF|plants/.exec(content)?.[0]])).toEqual([
    ["webhooks", "Redis"],
    ["invoices", "PDF"],
    ["main", "plants"],
  ]);
  expect(await marksIn(await transcriptPath(agent, entry))).toEqual([
    { before: "webhooks", project: "invoices", folder: agent.workspace },
    { before: "invoices", project: "main", folder: agent.workspace },
  ]);
});

it("marks nothing without a change, or for a stale request", async () => {
  await using home = await createHandoffHome();
  const entry = await home.open();
  await patchFromOutside(home, KEY, { project: "webhooks" });
  await expect(patchFromOutside(home, KEY, { project: "x" }, { expectedSessionId: "gone" })).rejects.toMatchObject({
    code: "session-moved",
  });
  await expect(patchFromOutside(home, "agent:main:nobody", { project: "x" })).rejects.toMatchObject({
    code: "session-not-found",
  });
  expect(await marksIn(await transcriptPath(home.agent, entry))).toEqual([]);
});

it.each([
  [{ project: "invoices" }, true],
  [{ project: null }, true],
  [{ projectFolder: null, label: "work" }, true],
  [{ label: "work", project: undefined as never }, false],
])("knows whether %o changes the project", (patch, isAbout) => {
  expect(changesProject(patch)).toBe(isAbout);
});

it("does not wait for other settings, or without hand-off", async () => {
  await using home = await createHandoffHome();
  await home.open();
  const { agent } = home;
  await withSessionLease(agent, KEY, {}, async () => {
    expect(await patchFromOutside(home, KEY, { label: "work" })).toMatchObject({ label: "work" });
    expect(await patchFromOutside({ agent }, KEY, { project: "invoices" })).toMatchObject({ project: "invoices" });
  });
});
