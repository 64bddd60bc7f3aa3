import { chmod, lstat, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { type InstallOptions, installHooks, uninstallHooks } from "./install.ts";
import { CLAUDE_HOOK_EVENTS } from "./hook-call.ts";

const MINE =
  '\uFEFF{\r\n\t"env": {"TOKEN": "sk-secret"}, // mine\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},\r\n}';

interface Fixture extends AsyncDisposable {
  path: string;
  claude: string;
  folder: string;
  options: InstallOptions;
  write(text: string): Promise<void>;
  read(): Promise<string>;
}

async function fixture(): Promise<Fixture> {
  const root = await temporaryFolder();
  const claude = join(root.path, "claude");
  const path = join(claude, "settings.json");
  const folder = join(root.path, "home", "claude", "hooks");
  await mkdir(claude);
  return {
    path,
    claude,
    folder,
    options: { settings: { path }, folder },
    write: async (text) => await writeFile(path, text),
    read: async () => await readFile(path, "utf8"),
    [Symbol.asyncDispose]: async () => await root[Symbol.asyncDispose](),
  };
}

describe("hooks in Claude Code's settings", () => {
  it("are added once and removed byte for byte, with the mode kept", async () => {
    await using at = await fixture();
    await at.write(MINE);
    await chmod(at.path, 0o640);
    expect(await installHooks(at.options)).toMatchObject({ outcome: "installed", isPlainJson: false });
    const installed = await at.read();
    expect(CLAUDE_HOOK_EVENTS.every((event) => installed.includes(`hook ${event} ||`))).toBe(true);
    const before = await stat(at.path);
    expect(before.mode & 0o777).toBe(0o640);
    expect(await installHooks(at.options)).toMatchObject({ outcome: "unchanged" });
    expect((await stat(at.path)).ino).toBe(before.ino);
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "restored" });
    expect(await at.read()).toBe(MINE);
    expect((await stat(at.path)).mode & 0o777).toBe(0o640);
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "unchanged" });
    expect(await readdir(at.claude)).toEqual(["settings.json"]);
  });

  it("are the only thing removed if the file was changed since", async () => {
    await using at = await fixture();
    await at.write(MINE);
    await installHooks(at.options);
    await at.write((await at.read()).replace('"TOKEN"', '"OTHER": "x", "TOKEN"'));
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "removed" });
    expect(await at.read()).toBe(MINE.replace('"TOKEN"', '"OTHER": "x", "TOKEN"'));
  });

  it("create a private file if there is none, and remove it with its folder", async () => {
    await using at = await fixture();
    await rm(at.claude, { recursive: true });
    expect(await installHooks(at.options)).toMatchObject({ outcome: "installed", isPlainJson: true });
    expect((await stat(at.path)).mode & 0o777).toBe(0o600);
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "restored" });
    await expect(lstat(at.claude)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("keep a created file that others have changed", async () => {
    await using at = await fixture();
    await installHooks(at.options);
    await at.write((await at.read()).replace("{", '{\n  "model": "opus",'));
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "removed" });
    expect(JSON.parse(await at.read())).toEqual({ model: "opus" });
  });

  it("of another installation are updated, and the original can still be restored", async () => {
    await using at = await fixture();
    await at.write(MINE);
    await installHooks({ ...at.options, home: "/another place" });
    expect(await installHooks(at.options)).toMatchObject({ outcome: "updated" });
    expect(await at.read()).not.toContain("/another place");
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "restored" });
    expect(await at.read()).toBe(MINE);
  });

  it("can be installed in parallel", async () => {
    await using at = await fixture();
    await at.write(MINE);
    const outcomes = await Promise.all(Array.from({ length: 8 }, async () => await installHooks(at.options)));
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual([
      "installed",
      ...Array<string>(7).fill("unchanged"),
    ]);
    expect((await at.read()).match(/holdfast\.js hook Stop/g)).toHaveLength(1);
    await uninstallHooks(at.options);
    expect(await at.read()).toBe(MINE);
  });

  it("keep the original private", async () => {
    await using at = await fixture();
    await at.write(MINE);
    await installHooks(at.options);
    const [name = ""] = await readdir(at.folder);
    expect((await stat(join(at.folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(at.folder)).mode & 0o777).toBe(0o700);
    await uninstallHooks(at.options);
    expect(await readdir(at.folder)).toEqual([]);
  });

  it("leave no copy of the settings after their removal", async () => {
    await using at = await fixture();
    await at.write(MINE);
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "unchanged" });
    await expect(stat(at.folder)).rejects.toThrow("ENOENT");
    await installHooks(at.options);
    expect(await readdir(at.folder)).toHaveLength(1);
    await at.write(MINE);
    expect(await uninstallHooks(at.options)).toMatchObject({ outcome: "unchanged" });
    expect(await readdir(at.folder)).toEqual([]);
    expect(await at.read()).toBe(MINE);
  });

  it("follow a link to its target", async () => {
    await using at = await fixture();
    const target = join(at.claude, "..", "dotfiles.json");
    await writeFile(target, MINE);
    await symlink(target, at.path);
    await installHooks(at.options);
    expect((await lstat(at.path)).isSymbolicLink()).toBe(true);
    expect(await readFile(target, "utf8")).toContain("hook SessionStart");
    await uninstallHooks(at.options);
    expect(await readFile(target, "utf8")).toBe(MINE);
  });

  it("are refused where a repo's file points outside the repo", async () => {
    await using at = await fixture();
    const target = join(at.claude, "..", "other.json");
    await writeFile(target, "{}");
    await symlink(target, at.path);
    const options = { ...at.options, settings: { path: at.path, within: at.claude } };
    await expect(installHooks(options)).rejects.toThrow(/points outside the repo/);
    expect(await readFile(target, "utf8")).toBe("{}");
  });

  it.each<[string, (at: Fixture) => Promise<unknown>, RegExp]>([
    ["broken", async (at) => await at.write('{"env": {"A": sk-secret'), /not valid JSON \(line 1/],
    ["no object", async (at) => await at.write("[]"), /not a JSON object/],
    ["a folder", async (at) => await mkdir(at.path), /it is not a file/],
    ["a link that leads nowhere", async (at) => await symlink("/nowhere/at/all", at.path), /dangling link/],
    ["a link to itself", async (at) => await symlink(at.path, at.path), /dangling link/],
    ["not UTF-8", async (at) => await writeFile(at.path, Buffer.from([0x7b, 0xff, 0x7d])), /UTF-8/],
    [
      "read-only",
      async (at) => {
        await at.write("{}");
        await chmod(at.path, 0o444);
      },
      /read-only/,
    ],
  ])("are refused by a file that is %s, and nothing changes", async (_, make, message) => {
    await using at = await fixture();
    await make(at);
    const before = await lstat(at.path);
    const failure = await installHooks(at.options).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "claude-settings-refused",
      hint: expect.stringContaining("Nothing was changed"),
    });
    expect(String(failure)).toMatch(message);
    expect(String(failure)).not.toContain("sk-secret");
    const { ino, ctimeMs } = await lstat(at.path);
    expect([ino, ctimeMs]).toEqual([before.ino, before.ctimeMs]);
    expect(await readdir(at.claude)).toEqual(["settings.json"]);
  });
});
