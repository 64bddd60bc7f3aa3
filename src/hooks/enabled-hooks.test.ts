/** An agent can write into its workspace. It must not be able to run anything in Holdfast that way. */
import { mkdir, readFile, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HookHome, hookHead, createHookHome } from "../../test/support/hook-home.ts";
import { enabledHooksFile, hookCopiesFolder } from "../config/layout.ts";
import { keepEnabledHook, readHookContent } from "./enabled-hooks.ts";

const REQUEST = { sessionKey: "agent:main:main", context: {} };
const ENABLED = { entries: { own: { enabled: true } } };
const CHANGED = "changed since you enabled it; run `holdfast hooks enable own` again";

async function addOwn(home: HookHome, where: "home" | "workspace" = "workspace", says = where): Promise<string> {
  return await home.add(where, "own", {
    "HOOK.md": hookHead("own", "command:new"),
    "handler.ts": `import { WORD } from "./word.ts"; export default (event: any) => { event.messages.push(WORD); };`,
    "word.ts": `export const WORD: string = "${says}";`,
  });
}

async function enable(home: HookHome, folder: string): Promise<void> {
  const { digest } = await readHookContent(folder);
  await keepEnabledHook(home.home, folder, { name: "own", digest, enabledAt: "2026-11-15T12:00:00.000Z" });
}

describe("a workspace hook", () => {
  it("does not run until the person has enabled its current content", async () => {
    await using home = await createHookHome();
    const folder = await addOwn(home);
    const asItCame = await home.open();
    expect(asItCame.list()).toMatchObject([{ name: "own", state: "off", enabled: false }]);
    expect((await asItCame.fire("command:new", REQUEST)).messages).toEqual([]);
    // An agent may choose a name that the configuration happens to turn on.
    expect((await home.open({ hooks: ENABLED })).list()).toMatchObject([{ state: "off" }]);

    await enable(home, folder);
    expect((await home.open()).list()).toMatchObject([{ state: "off" }]);
    const runner = await home.open({ hooks: ENABLED });
    expect(runner.list()).toMatchObject([{ state: "ready", enabled: true }]);
    expect((await runner.fire("command:new", REQUEST)).messages).toEqual(["workspace"]);
    expect((await stat(enabledHooksFile(home.home))).mode & 0o777).toBe(0o600);
  });

  it.each([
    [
      "a file is changed",
      async (folder: string) => await writeFile(join(folder, "word.ts"), "export const WORD = 'x'"),
    ],
    ["a file is added", async (folder: string) => await writeFile(join(folder, "handler.mts"), "")],
    ["a file is removed", async (folder: string) => await rm(join(folder, "word.ts"))],
  ])("is refused once %s, in the running process and the next", async (_, change) => {
    await using home = await createHookHome();
    const folder = await addOwn(home);
    await enable(home, folder);
    const runner = await home.open({ hooks: ENABLED });
    await change(folder);
    expect((await runner.fire("command:new", REQUEST)).failures).toEqual([{ hook: "own", reason: CHANGED }]);
    const next = await home.open({ hooks: ENABLED });
    expect(next.list()).toMatchObject([{ state: "changed", problem: CHANGED }]);
    expect(await next.fire("command:new", REQUEST)).toEqual({ messages: [], bootstrapFiles: [], failures: [] });
    // After it is enabled again, the running process uses its current content.
    await addOwn(home);
    await rm(join(folder, "handler.mts"), { force: true });
    await enable(home, folder);
    expect((await runner.fire("command:new", REQUEST)).messages).toEqual(["workspace"]);
  });

  it("is refused if it contains a link", async () => {
    await using home = await createHookHome();
    const folder = await addOwn(home);
    await enable(home, folder);
    await rm(join(folder, "word.ts"));
    await writeFile(home.folder.join("word.ts"), 'export const WORD = "workspace";');
    await symlink(home.folder.join("word.ts"), join(folder, "word.ts"));
    const runner = await home.open({ hooks: ENABLED });
    expect(runner.list()).toMatchObject([{ state: "changed", problem: '"word.ts" is not a plain file' }]);
  });

  it("runs from a private copy, without the files next to it", async () => {
    await using home = await createHookHome();
    await mkdir(join(home.workspace, "lib"), { recursive: true });
    await writeFile(join(home.workspace, "lib/word.js"), 'export const WORD = "free to change";');
    const folder = await home.add("workspace", "own", {
      "HOOK.md": hookHead("own", "command:new"),
      "handler.js": `export default async (event) => { event.messages.push((await import("../../lib/word.js")).WORD); };`,
    });
    await enable(home, folder);
    const runner = await home.open({ hooks: ENABLED });
    const { messages, failures } = await runner.fire("command:new", REQUEST);
    expect(messages).toEqual([]);
    expect(failures).toMatchObject([{ reason: expect.stringContaining("Cannot find module") as string }]);
    const [copy = ""] = await readdir(hookCopiesFolder(home.home));
    expect(copy).toBe((await readHookContent(folder)).digest);
    // The copy is derived: it is made again when deleted.
    await rm(hookCopiesFolder(home.home), { recursive: true });
    expect((await runner.fire("command:new", REQUEST)).failures).toHaveLength(1);
    expect(await readdir(hookCopiesFolder(home.home))).toEqual([copy]);
  });

  it("overrides the person's hook of that name only if enabled", async () => {
    await using home = await createHookHome();
    await addOwn(home, "home");
    const folder = await addOwn(home);
    const before = await home.open({ hooks: ENABLED });
    expect(before.list().map(({ source, state }) => `${source} ${state}`)).toEqual(["home ready", "workspace off"]);
    expect((await before.fire("command:new", REQUEST)).messages).toEqual(["home"]);
    await enable(home, folder);
    const after = await home.open({ hooks: ENABLED });
    expect(after.list().map(({ source, state }) => `${source} ${state}`)).toEqual([
      "home overridden",
      "workspace ready",
    ]);
    expect((await after.fire("command:new", REQUEST)).messages).toEqual(["workspace"]);
    await writeFile(join(folder, "word.ts"), "");
    expect((await (await home.open({ hooks: ENABLED })).fire("command:new", REQUEST)).messages).toEqual(["home"]);
  });

  it("is off if hooks.json is unreadable, until one is enabled again", async () => {
    await using home = await createHookHome();
    const folder = await addOwn(home);
    await enable(home, folder);
    await writeFile(enabledHooksFile(home.home), '{"version": 1, "workspaceHooks": {"');
    expect((await home.open({ hooks: ENABLED })).list()).toMatchObject([{ state: "off" }]);
    await enable(home, folder);
    expect((await home.open({ hooks: ENABLED })).list()).toMatchObject([{ state: "ready" }]);
    await keepEnabledHook(home.home, folder, undefined);
    expect(JSON.parse(await readFile(enabledHooksFile(home.home), "utf8"))).toEqual({
      version: 1,
      workspaceHooks: {},
    });
  });

  it("has a limit on its size", async () => {
    await using home = await createHookHome();
    const folder = await addOwn(home);
    await writeFile(join(folder, "large.bin"), Buffer.alloc(6 * 1024 * 1024));
    await expect(readHookContent(folder)).rejects.toMatchObject({ message: "it has more than 5 MB" });
  });
});

describe("home hooks", () => {
  it("count as workspace hooks if the agent can write them", async () => {
    await using home = await createHookHome();
    await addOwn(home, "home");
    await mkdir(home.workspace);
    await rename(join(home.home, "hooks"), join(home.workspace, "my-hooks"));
    await symlink(join(home.workspace, "my-hooks"), join(home.home, "hooks"));
    const runner = await home.open({ hooks: ENABLED });
    expect(runner.list()).toMatchObject([{ source: "workspace", state: "off" }]);
    expect((await runner.fire("command:new", REQUEST)).messages).toEqual([]);
  });

  it("run unless disabled, override bundled ones, and check their requirements", async () => {
    await using home = await createHookHome();
    await home.add("bundled", "own", { "HOOK.md": hookHead("own", "command:new") });
    await addOwn(home, "home");
    const head = "---\nname: needy\nevents: command:new\nrequires: {bins: [no-such-program-here], anyBins: [a-a, b-b],";
    await home.add("home", "needy", {
      "HOOK.md": `${head} env: [NOT_SET], config: [handoff.model], os: [beos]}\n---\n`,
      "handler.js": "",
    });
    const bundled = [{ name: "own", handle: async () => await Promise.reject(new Error("must not run")) }];
    const runner = await home.open({ bundled });
    expect(runner.list().map(({ name, source, state }) => `${name} ${source} ${state}`)).toEqual([
      "own bundled overridden",
      "needy home missing",
      "own home ready",
    ]);
    expect(runner.list()[1]?.missing).toEqual([
      `system beos, not ${process.platform}`,
      "program no-such-program-here",
      "program a-a or b-b",
      "environment variable NOT_SET",
      "setting handoff.model",
    ]);
    expect(await runner.fire("command:new", REQUEST)).toEqual({ messages: ["home"], bootstrapFiles: [], failures: [] });
    const off = await home.open({ bundled, hooks: { entries: { own: { enabled: false } } } });
    expect(off.listens("command:new")).toBe(false);
  });
});
