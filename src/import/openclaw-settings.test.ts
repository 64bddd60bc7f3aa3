import { chmod, mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type OpenClawHome, createOpenClawHome } from "../../test/support/openclaw-home.ts";
import { mergeRegistered, readRegistries, saveSession } from "../claude/registry/registry.ts";
import { loadConfig } from "../config/load.ts";
import { loadHooks } from "../hooks/enabled-hooks.ts";
import type { ImportItem, ImportReport } from "./report.ts";

async function put({ from }: OpenClawHome, files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(from, path)), { recursive: true });
    await writeFile(join(from, path), content);
  }
}

function outcomes({ items }: ImportReport, kind: ImportItem["kind"]): Record<string, string> {
  return Object.fromEntries(items.filter((item) => item.kind === kind).map(({ name, outcome }) => [name, outcome]));
}

describe("settings", () => {
  it("are taken where we have them too, and reported where not", async () => {
    await using openClaw = await createOpenClawHome();
    await put(openClaw, {
      "openclaw.json": `{ // JSON5
        session: { dmScope: "per-peer", reset: { mode: "idle", idleMinutes: 90 }, store: "~/x.json", resetTriggers: ["/new"],
          mainKey: "main", identityLinks: { ada: ["telegram:1"] }, sendPolicy: { default: "perhaps" } },
        agents: { defaults: { subagents: { claudeCode: { enabled: true, maxBudgetUsd: 4, sessionSelection: { resumeThreshold: 0.7 } } } },
          list: [{ id: "work", subagents: { claudeCode: { maxBudgetUsd: 2 } } }] },
        channels: { telegram: { botToken: "secret" } } }`,
      "../holdfast/config.json": `{ "session": { "resetTriggers": ["/fresh"] } }`,
    });
    const report = await openClaw.run();
    expect(outcomes(report, "setting")).toEqual({
      "session.dmScope": "taken",
      "session.reset.mode": "taken",
      "session.reset.idleMinutes": "taken",
      "session.store": "left",
      "session.resetTriggers": "left",
      "session.mainKey": "here",
      "session.identityLinks.ada": "taken",
      "session.sendPolicy.default": "left",
      "claudeCode.enabled": "left",
      "claudeCode.maxBudgetUsd": "taken",
      "claudeCode.sessionSelection.resumeThreshold": "taken",
      "agents.work.claudeCode.maxBudgetUsd": "taken",
      agents: "left",
      channels: "left",
    });
    const { config } = await loadConfig({ env: {}, cwd: openClaw.from, home: openClaw.home });
    expect(config.session).toMatchObject({
      dmScope: "per-peer",
      resetTriggers: ["/fresh"],
      reset: { mode: "idle", idleMinutes: 90 },
    });
    expect(config.agents["work"]?.claudeCode?.maxBudgetUsd).toBe(2);
    const before = await readFile(join(openClaw.home, "config.json"), "utf8");
    expect(before).not.toContain("secret");
    expect((await openClaw.run()).counts).toMatchObject({ settings: { taken: 0, here: 8 } });
    expect(await readFile(join(openClaw.home, "config.json"), "utf8")).toBe(before);
  });

  it("name the main session before sessions are taken", async () => {
    await using openClaw = await createOpenClawHome({ with: ["files"] });
    await put(openClaw, { "openclaw.json": '{"session": {"mainKey": "home"}}' });
    await openClaw.run();
    await using agent = await openClaw.open();
    expect((await agent.store.get("agent:main:home"))?.sessionId).toBe("3ff36eb3-0993-4fd1-8649-5a4ec0f983aa");
  });

  it("in a file that cannot be read are reported; the rest is imported", async () => {
    await using openClaw = await createOpenClawHome({ with: ["files"] });
    await put(openClaw, { "openclaw.json": "{ session: " });
    const report = await openClaw.run();
    expect(report).toMatchObject({ ok: false, counts: { sessions: { taken: 4 } } });
  });
});

describe("skills and hooks", () => {
  it("are copied, hooks disabled, and never over others", async () => {
    await using openClaw = await createOpenClawHome();
    const hook = `---\nname: NAME\ndescription: d\nmetadata: {"openclaw": {"events": ["command:new"]}}\n---\n`;
    await put(openClaw, {
      "skills/tides/SKILL.md": "---\nname: tides\n---\nWhen",
      "skills/tides/run.sh": "#!/bin/sh\n",
      "skills/not-a-skill/notes.txt": "x",
      "workspace/skills/own/SKILL.md": "own",
      "hooks/greet/HOOK.md": hook.replace("NAME", "greet"),
      "hooks/greet/handler.js": "export default () => {};",
      "hooks/memory/HOOK.md": hook.replace("NAME", "session-handoff"),
      "hooks/memory/handler.js": "export default () => {};",
      "workspace/hooks/local/HOOK.md": hook.replace("NAME", "local"),
      "workspace/hooks/local/handler.js": "export default () => {};",
      "workspace/skills/linked/SKILL.md": "x",
    });
    await chmod(join(openClaw.from, "skills/tides/run.sh"), 0o755);
    await symlink("/etc/passwd", join(openClaw.from, "workspace/skills/linked/passwd"));
    const report = await openClaw.run();
    expect(outcomes(report, "skill")).toEqual({ tides: "taken", own: "taken", linked: "left" });
    expect(outcomes(report, "hook")).toEqual({ greet: "taken", "session-handoff": "left", local: "taken" });
    const workspace = join(openClaw.home, "agents/main/workspace");
    expect((await stat(join(workspace, "skills/tides/run.sh"))).mode & 0o777).toBe(0o755);
    const { config } = await loadConfig({ env: {}, cwd: openClaw.from, home: openClaw.home });
    const hooks = await loadHooks({ home: openClaw.home, workspace, config, env: {} });
    expect(hooks.filter(({ source }) => source !== "bundled").map(({ name, state }) => [name, state])).toEqual([
      ["greet", "off"],
      ["local", "off"],
    ]);
    expect((await openClaw.run()).counts).toMatchObject({
      skills: { taken: 0, here: 2 },
      hooks: { taken: 0, here: 2 },
    });
    await writeFile(join(workspace, "skills/tides/SKILL.md"), "changed here");
    expect(outcomes(await openClaw.run(), "skill")).toMatchObject({ tides: "left" });
    expect(await readFile(join(workspace, "skills/tides/SKILL.md"), "utf8")).toBe("changed here");
  });
});

function record(sessionId: string, totalCostUsd: number, label?: string): object {
  const createdAt = "2026-01-01T00:00:00.000Z";
  return { sessionId, createdAt, totalCostUsd, totalTurns: 3, taskHistory: ["t"], label, extra: 1 };
}

async function costs({ home, from }: OpenClawHome): Promise<Record<string, number | undefined>> {
  const { registries } = await readRegistries({ home, openClawHome: from });
  return Object.fromEntries([...mergeRegistered(registries)].map(([id, { totalCostUsd }]) => [id, totalCostUsd]));
}

describe("registries of Claude Code sessions", () => {
  it("are added with costs and labels, counted once, also while OpenClaw's file grows", async () => {
    await using openClaw = await createOpenClawHome();
    const write = async (cost: number): Promise<void> =>
      await put(openClaw, {
        "agents/main/claude-code-sessions.json": JSON.stringify({
          sessions: { "/repo": record("s1", cost), "/repo::docs": record("s2", 1, "docs"), "/odd": { label: {} } },
        }),
      });
    await saveSession({ home: openClaw.home, agentId: "main" }, { repoPath: "/repo", sessionId: "own" });
    await write(2.5);
    expect((await openClaw.run()).counts).toMatchObject({ claudeCodeSessions: { found: 3, taken: 2, left: 1 } });
    expect(await costs(openClaw)).toEqual({ own: 0, s1: 2.5, s2: 1 });
    await write(4);
    // Not imported yet, but OpenClaw's file is read in place.
    expect(await costs(openClaw)).toEqual({ own: 0, s1: 4, s2: 1 });
    expect((await openClaw.run()).counts).toMatchObject({ claudeCodeSessions: { taken: 1, here: 1 } });
    expect(await costs(openClaw)).toEqual({ own: 0, s1: 4, s2: 1 });
    expect((await openClaw.run()).counts).toMatchObject({ claudeCodeSessions: { taken: 0, here: 2 } });
    const { registries } = await readRegistries({ home: openClaw.home });
    const sessions = registries[0]?.sessions ?? [];
    expect(sessions.map(({ sessionId, current, label, repoPath }) => [sessionId, current, label, repoPath])).toEqual([
      ["own", true, undefined, "/repo"],
      ["s2", true, "docs", "/repo"],
      ["s1", false, undefined, "/repo"],
    ]);
  });
});
