/** The output and exit codes of `holdfast hooks`, run as a separate process. docs/cli.md describes it. */
import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HookHome, hookHead, createHookHome } from "../../../test/support/hook-home.ts";
import { agentLayout } from "../../config/layout.ts";

const MAIN = new URL("../main.ts", import.meta.url).href;
const SCRIPT = `import { main } from ${JSON.stringify(MAIN)}; process.exitCode = await main(process.argv.slice(1));`;
const HANDLER = { "handler.ts": "export default (): void => {};" };
const EVENTS = ["command:new", "command:reset", "command:stop", "session:compact", "session:end"];
const TEXT = expect.any(String) as string;

function holdfast({ home }: HookHome, ...args: string[]) {
  const env = { ...process.env, HOLDFAST_HOME: home, NO_COLOR: "1" };
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", SCRIPT, "--", ...args], {
    env,
    cwd: "/",
    encoding: "utf8",
  });
  return { status, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
}

/** A hook in the workspace of the agent `main`. */
async function addToWorkspace(home: HookHome, name: string, files: Record<string, string>): Promise<string> {
  const folder = join(agentLayout(home.home, "main").workspace, "hooks", name);
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return folder;
}

describe("holdfast hooks", () => {
  it("lists hooks as text and as JSON", async () => {
    await using home = await createHookHome();
    await home.add("home", "bad", { "HOOK.md": "---\nevents: [command:nwe]\n---\n", ...HANDLER });
    const { status, stdout } = holdfast(home, "hooks", "list");
    expect(status).toBe(0);
    expect(stdout.split("\n").map((line) => line.trimEnd())).toEqual([
      expect.stringMatching(/^HOOK +FROM +STATE +EVENTS$/),
      expect.stringMatching(
        /^session-handoff +bundled +ready +command:new, .*session:end +Captures a hand-off for the next/,
      ),
      expect.stringMatching(/^bad +home +broken +unknown event "command:nwe"; did you mean command:new\?$/),
      "",
    ]);
    expect(holdfast(home, "hooks", "list", "--json").json()).toEqual({
      schema: 1,
      count: 2,
      hooks: [
        {
          name: "session-handoff",
          description: TEXT,
          events: EVENTS,
          source: "bundled",
          folder: TEXT,
          enabled: true,
          missing: [],
          variables: [],
          state: "ready",
        },
        {
          name: "bad",
          description: "",
          events: [],
          source: "home",
          folder: join(home.home, "hooks/bad"),
          handlerFile: join(home.home, "hooks/bad/handler.ts"),
          enabled: true,
          missing: [],
          variables: [],
          state: "broken",
          problem: 'unknown event "command:nwe"; did you mean command:new?',
        },
      ],
    });
  });

  it("turns hooks off and on, and keeps the comments of the configuration", async () => {
    await using home = await createHookHome();
    await mkdir(home.home, { recursive: true });
    const path = join(home.home, "config.json");
    await writeFile(path, "{\n  // mine\n  hooks: { timeoutSeconds: 5 },\n}\n");
    const disabled = holdfast(home, "hooks", "disable", "session-handoff", "--json");
    expect(disabled.json()).toEqual({ schema: 1, ok: true, path, name: "session-handoff" });
    expect(holdfast(home, "hooks", "list", "--json").json()).toMatchObject({
      hooks: [{ enabled: false, state: "off" }],
    });
    expect(await readFile(path, "utf8")).toContain("// mine");
    const enabled = holdfast(home, "hooks", "enable", "session-handoff");
    expect(enabled).toMatchObject({ status: 0, stdout: `session-handoff is turned on  (${path})\n` });
    expect(holdfast(home, "hooks", "check", "--json").json()).toMatchObject({ ok: true, hooks: [{ state: "ready" }] });
  });

  it("pins a workspace hook to its files and reports a change", async () => {
    await using home = await createHookHome();
    const files = { "HOOK.md": hookHead("own.notes", "command:new"), ...HANDLER };
    const folder = await addToWorkspace(home, "own", files);
    // No handler may run before that: this one would fail.
    await writeFile(join(folder, "handler.ts"), "process.exit(9);");
    const before = holdfast(home, "hooks", "check", "own.notes", "--json");
    expect(before).toMatchObject({ status: 0 });
    expect(before.json()).toMatchObject({ ok: true, hooks: [{ state: "off", enabled: false }] });

    await writeFile(join(folder, "handler.ts"), HANDLER["handler.ts"]);
    expect(holdfast(home, "hooks", "enable", "own.notes", "--json").json()).toEqual({
      schema: 1,
      ok: true,
      path: join(home.home, "config.json"),
      name: "own.notes",
      source: "workspace",
      folder,
      files: ["HOOK.md", "handler.ts"],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
    expect(holdfast(home, "hooks", "check", "own.notes", "--json").json()).toMatchObject({ ok: true, count: 1 });

    await writeFile(join(folder, "handler.ts"), "export default () => 1;");
    const changed = holdfast(home, "hooks", "check", "own.notes");
    expect(changed.status).toBe(5);
    expect(changed.stdout).toContain("changed since you enabled it; run `holdfast hooks enable own.notes` again");
    expect(changed.stderr).toBe("1 of 1 hooks is turned on but cannot run.\n");
    holdfast(home, "hooks", "disable", "own.notes");
    expect(JSON.parse(await readFile(join(home.home, "hooks.json"), "utf8"))).toMatchObject({ workspaceHooks: {} });
  });

  it("refuses an ambiguous name", async () => {
    await using home = await createHookHome();
    await addToWorkspace(home, "session-handoff", {
      "HOOK.md": hookHead("session-handoff", "command:new"),
      ...HANDLER,
    });
    const { status, stderr } = holdfast(home, "hooks", "enable", "session-handoff");
    expect(status).toBe(2);
    expect(stderr).toContain("--source bundled or --source workspace");
    const chosen = holdfast(home, "hooks", "enable", "session-handoff", "--source", "bundled", "--json");
    expect(chosen.json()).toMatchObject({ source: "bundled" });
    expect(holdfast(home, "hooks", "list", "--json").json()).toMatchObject({
      hooks: [
        { source: "bundled", state: "ready" },
        { source: "workspace", state: "off" },
      ],
    });
  });

  it("loads handlers to check them and reports problems", async () => {
    await using home = await createHookHome();
    await home.add("home", "fails", {
      "HOOK.md": hookHead("fails", "command:new"),
      "handler.js": "throw new Error('x')",
    });
    const { status, json } = holdfast(home, "hooks", "check", "--json");
    expect(status).toBe(5);
    expect(json()).toMatchObject({
      schema: 1,
      ok: false,
      count: 2,
      hooks: [
        { name: "session-handoff", ok: true },
        { name: "fails", ok: false, state: "broken", problem: "Error: x" },
      ],
    });
  });

  it("refuses unknown and broken hooks", async () => {
    await using home = await createHookHome();
    await home.add("home", "bad", { "HOOK.md": "no head", ...HANDLER });
    const unknown = holdfast(home, "hooks", "enable", "session-handof", "--json");
    expect(unknown.status).toBe(3);
    expect(JSON.parse(unknown.stderr)).toMatchObject({
      error: { code: "hook-not-found", hint: "Did you mean session-handoff?" },
    });
    const broken = holdfast(home, "hooks", "enable", "bad", "--json");
    expect(broken.status).toBe(1);
    expect(JSON.parse(broken.stderr)).toMatchObject({ error: { code: "hook-broken" } });
    expect(holdfast(home, "hooks", "disable", "nobody").status).toBe(3);
  });
});
