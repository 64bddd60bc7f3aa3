import { execFileSync } from "node:child_process";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hookHead, createHookHome } from "../../test/support/hook-home.ts";
import { findHooks, readHookHead } from "./find-hooks.ts";

const hookOf = (name: string): string => hookHead(name, "command:new");
const HANDLER = { "handler.js": "export default () => {};" };

describe("the frontmatter of HOOK.md", () => {
  const wanted = {
    name: "notes",
    description: "Keeps notes: all of them.",
    events: ["command:new", "agent:bootstrap"],
    requires: { bins: ["git"], anyBins: ["gh", "glab"], env: ["TOKEN"], config: ["workspace.dir"], os: ["linux"] },
  };
  const body =
    '"events": ["command:new", "agent:bootstrap"], "requires": {"bins": ["git"], "anyBins": ["gh", "glab"], ' +
    '"env": ["TOKEN"], "config": ["workspace.dir"], "os": ["linux"]}';
  const start = `---\nname: notes\ndescription: "Keeps notes: all of them."\n`;

  it.each([
    ["JSON on one line", `${start}metadata: {"openclaw": {"emoji": "📝", ${body}}}\n---\n# Notes\n`],
    [
      "JSON5 below its name",
      `${start}metadata:\n  {\n    openclaw: {\n      // all\n      ${body},\n    },\n  }\n---\n`,
    ],
    ["JSON5 that ends at the margin", `${start}metadata: {\n  "clawdbot": { ${body} },\n}\n---\n`],
    [
      "lines",
      `${start}metadata:\n  openclaw:\n    events: [command:new, agent:bootstrap]\n    os: [linux]\n    requires:\n` +
        "      bins:\n        - git\n      anyBins: ['gh', \"glab\"]\n      env: TOKEN\n      config: [workspace.dir]\n---\n",
    ],
    [
      "lines without OpenClaw's name, with Windows' line ends",
      `${start}events:\n- command:new # at once\n- agent:bootstrap\nrequires:\n  bins: git\n  anyBins: gh, glab\n` +
        "  env: [TOKEN]\n  config: [workspace.dir]\n  os: [linux]\n---\n".replaceAll("\n", "\r\n"),
    ],
  ])("is read from %s", async (_, text) => {
    expect(await readHookHead(text, "folder")).toEqual(wanted);
  });

  it("treats an event name without an action as all actions", async () => {
    const { events } = await readHookHead("---\nevents: [command]\n---\n", "all");
    expect(events).toEqual(["command:new", "command:reset", "command:stop"]);
  });

  it.each([
    ["no head", "# Only text", "does not start with frontmatter"],
    ["no events", "---\nname: x\n---\n", "has no events"],
    ["a mistyped event", "---\nevents: [command:nwe]\n---\n", 'unknown event "command:nwe"; did you mean command:new?'],
    ["OpenClaw's longer event", "---\nevents: [session:compact:before]\n---\n", "did you mean session:compact?"],
    ["an event of elsewhere", "---\nevents: [tool:use]\n---\n", "known: command:new, "],
    ["broken JSON", '---\nmetadata: {"openclaw": {\n---\n', "is not valid JSON"],
    ["events that are none", '---\nmetadata: {"openclaw": {"events": [1]}}\n---\n', "must be a list of names"],
    ["requirements that are none", "---\nevents: command:new\nrequires: much\n---\n", "`requires` must hold lists"],
    ["a name that is a path", "---\nname: ../../x\nevents: command:new\n---\n", "is not a hook name"],
    ["a name that objects have", "---\nname: __proto__\nevents: command:new\n---\n", "is not a hook name"],
  ])("is refused for %s", async (_, text, problem) => {
    const head = await readHookHead(text, "folder");
    expect(head.problem).toContain(problem);
    expect(head.name === "folder" || head.name === "x").toBe(true);
  });
});

describe("finding hooks", () => {
  it("finds bundled, home and workspace hooks", async () => {
    await using home = await createHookHome();
    await home.add("home", "b", { "HOOK.md": hookHead("b", "command:new"), "handler.ts": "", "index.js": "" });
    await home.add("home", "a", { "HOOK.md": hookHead("a", "command:new"), "index.ts": "" });
    await home.add("workspace", "c", { "HOOK.md": hookHead("c", "command:new"), ...HANDLER });
    await home.add("home", "no-hook", { "README.md": "nothing" });
    await home.add("home", ".git", { "HOOK.md": hookHead("git", "command:new"), ...HANDLER });
    const found = await findHooks(home);
    expect(found.map(({ name, source, problem }) => [name, source, problem])).toEqual([
      ["session-handoff", "bundled", undefined],
      ["a", "home", undefined],
      ["b", "home", undefined],
      ["c", "workspace", undefined],
    ]);
    expect(found[0]?.events).toHaveLength(5);
    expect(found[2]?.handlerFile).toMatch(/b\/handler\.ts$/);
  });

  it("lists broken hooks with their problem, next to the others", async () => {
    await using home = await createHookHome();
    await home.add("home", "good", { "HOOK.md": hookOf("good"), ...HANDLER });
    await home.add("home", "no-handler", { "HOOK.md": hookOf("no-handler") });
    await home.add("home", "twin", { "HOOK.md": hookOf("good"), ...HANDLER });
    const linked = await home.add("home", "linked-handler", { "HOOK.md": hookOf("linked-handler") });
    await symlink("/etc/passwd", join(linked, "handler.js"));
    const linkedHead = await home.add("home", "linked-head", HANDLER);
    await symlink("/etc/passwd", join(linkedHead, "HOOK.md"));
    const pipe = await home.add("home", "pipe", HANDLER);
    execFileSync("mkfifo", [join(pipe, "HOOK.md")]);
    await mkdir(home.folder.join("elsewhere"));
    await writeFile(home.folder.join("elsewhere/HOOK.md"), hookOf("out"));
    await symlink(home.folder.join("elsewhere"), join(home.home, "hooks/out"));
    await symlink(home.folder.join("nowhere"), join(home.home, "hooks/dangling"));
    const found = await findHooks({ ...home, bundledFolder: home.folder.join("none") });
    const problems = Object.fromEntries(found.map(({ name, problem }, index) => [`${index} ${name}`, problem]));
    expect(problems).toEqual({
      "0 dangling": expect.stringContaining("ENOENT") as string,
      "1 good": undefined,
      "2 good": "good next to it has the same name",
      "3 linked-handler": "handler.js is not a plain file; replace it by the file",
      "4 linked-head": "HOOK.md is a link; replace it by the file",
      "5 no-handler": "there is no handler.ts or handler.js next to HOOK.md",
      "6 out": "it is a link to outside its folder",
      "7 pipe": "HOOK.md is not a file",
    });
  });

  it("says that TypeScript does not run below node_modules", async () => {
    await using home = await createHookHome();
    const folder = await home.add("home", "x", { "HOOK.md": hookHead("x", "command:new"), "handler.ts": "" });
    const modules = home.folder.join("node_modules/hooks");
    await mkdir(modules, { recursive: true });
    await rename(folder, join(modules, "x"));
    await rm(join(home.home, "hooks"), { recursive: true });
    await symlink(modules, join(home.home, "hooks"));
    const [hook] = await findHooks({ ...home, bundledFolder: home.folder.join("none") });
    expect(hook?.problem).toContain("where Node runs no TypeScript");
  });
});
