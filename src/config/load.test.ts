import { spawnSync } from "node:child_process";
import { chmod, mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { HoldfastError } from "../base/errors.ts";
import { DEFAULT_CONFIG } from "./config.ts";
import { type LoadConfigOptions, loadConfig } from "./load.ts";

describe("loadConfig", () => {
  it("returns the defaults without any configuration, and creates nothing", async () => {
    await using folder = await temporaryFolder();
    const { config, sources } = await load(folder, { home: folder.join("nowhere") });
    expect(config).toEqual(DEFAULT_CONFIG);
    expect(sources).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("prefers environment to project file to user file to default", async () => {
    await using folder = await temporaryFolder();
    const user = `{ // JSON5
      defaultAgent: "user", log: { level: "error" }, store: { kind: "json", view: false },
      transcript: { durability: "entry" }, session: { mainKey: "user", dmScope: "main" } }`;
    await write(folder.join("home", "config.json"), user);
    await write(folder.join("repo", ".holdfast.json"), `{ defaultAgent: "project", session: { mainKey: "project" } }`);
    const { config, sources, origins } = await load(folder, {
      cwd: folder.join("repo"),
      env: { HOLDFAST_AGENT: "environment", HOLDFAST_STORE: "sqlite", HOLDFAST_LOG: "info", HOLDFAST_DURABILITY: " " },
    });
    expect(config).toEqual({
      ...DEFAULT_CONFIG,
      defaultAgent: "environment",
      log: { level: "info" },
      store: { kind: "sqlite", view: false },
      transcript: { durability: "entry" },
      session: { ...DEFAULT_CONFIG.session, mainKey: "project", dmScope: "main" },
    });
    expect(sources.map(({ kind }) => kind)).toEqual(["user", "project", ...Array(3).fill("environment")]);
    expect(origins.get("session.mainKey")).toBe(folder.join("repo", ".holdfast.json"));
    expect(origins.get("defaultAgent")).toBe("HOLDFAST_AGENT");
    expect(origins.has("session.scope")).toBe(false);
  });

  it("replaces ~ in paths, and only there", async () => {
    await using folder = await temporaryFolder();
    const user = `{ agents: { main: { name: "~/x", workspace: "~/agent", claudeCode: { repos: ["~/work/*", "/abs"] } } },
      channels: { telegram: { default: { tokenFile: "~/bot.token" } } }, store: { passwordFile: "~" },
      claudeCode: { command: "~/bin/claude", repos: ["~user/a"] } }`;
    await write(folder.join("home", "config.json"), user);
    const { config } = await load(folder, { env: { HOME: "/users/ada" } });
    expect(config.agents["main"]).toMatchObject({
      name: "~/x",
      workspace: "/users/ada/agent",
      claudeCode: { repos: ["/users/ada/work/*", "/abs"] },
    });
    expect(config.channels.telegram["default"]?.tokenFile).toBe("/users/ada/bot.token");
    expect(config.store.passwordFile).toBe("/users/ada");
    expect(config.claudeCode).toMatchObject({ command: "/users/ada/bin/claude", repos: ["~user/a"] });
  });

  it("does not let one configuration change the defaults of another", async () => {
    await using folder = await temporaryFolder();
    const { config } = await load(folder);
    config.session.resetTriggers.push("/oops");
    config.agents["x"] = {};
    expect((await load(folder)).config.session.resetTriggers).toEqual(["/new", "/reset"]);
    expect(DEFAULT_CONFIG.agents).toEqual({});
  });

  it("lists every problem of every source at once", async () => {
    await using folder = await temporaryFolder();
    const user = `{ session: { dmscope: "main", reset: { atHour: 24, idleMinutes: 1.5 } }, dmScope: "main", zzzzzz: 1,
      store: { kind: "sqlitee" }, agents: { "Bad Id": {} }, models: { gpt: {} }, log: "warn" }`;
    await write(folder.join("home", "config.json"), user);
    await write(folder.join("repo", ".holdfast.json"), `{ store: { kind: "json" }, sesion: {} }`);
    const error = await failure(
      load(folder, { cwd: folder.join("repo"), env: { HOLDFAST_DURABILITY: "entri", HOLDFAST_AGENT: "No Such!" } }),
    );
    expect(error).toMatchObject({ kind: "usage", code: "invalid-config" });
    expect(error.message.split("\n").toSorted()).toEqual(
      [
        'config.json: unknown key "session.dmscope" (did you mean "session.dmScope"?)',
        'config.json: unknown key "dmScope" (did you mean "session.dmScope"?)',
        'config.json: unknown key "zzzzzz"',
        'config.json: invalid value for "session.reset.atHour": expected at most 23, found 24',
        'config.json: invalid value for "session.reset.idleMinutes": expected a whole number, found 1.5',
        'config.json: invalid value for "store.kind": expected one of "sqlite", "json", "postgres", found "sqlitee" (did you mean "sqlite"?)',
        'config.json: invalid name "agents["Bad Id"]": an agent id consists of a-z, 0-9, _ and -, starts with a letter or digit, and has at most 64 characters',
        'config.json: invalid name "models.gpt": use the form provider/model',
        'config.json: invalid value for "log": expected an object, found text',
        '.holdfast.json: "store" may only be set in the user\'s own configuration, not by a project',
        '.holdfast.json: unknown key "sesion" (did you mean "session"?)',
        'HOLDFAST_DURABILITY: expected one of turn, entry, none, found "entri" (did you mean "entry"?)',
        'HOLDFAST_AGENT: not an agent id: "No Such!" (did you mean "no-such"?)',
      ].toSorted(),
    );
  });

  it.each([
    [
      "an unquoted word",
      "{\n  log: {\n    level: warn\n  }\n}",
      "syntax error at line 3, column 12: invalid character 'w'",
    ],
    ["an early end", "{ a: 1", "syntax error at line 1, column 7: invalid end of input"],
    ["a list", "[]", "invalid value for the file: expected an object, found a list"],
    ["null", "null", "invalid value for the file: expected an object, found null"],
    ["a comment alone", "// later", "syntax error at line 1, column 9: invalid end of input"],
    ["endless brackets", "[".repeat(100_000), "syntax error at line 1, column 100001: invalid end of input"],
    [
      "deep nesting",
      `{ log: ${"[".repeat(5000)}${"]".repeat(5000)} }`,
      'invalid value for "log": expected an object, found a list',
    ],
  ])("explains what is wrong with %s", async (_, text, message) => {
    await using folder = await temporaryFolder();
    await write(folder.join("home", "config.json"), text);
    expect((await failure(load(folder))).message).toBe(`config.json: ${message}`);
  });

  it.each([
    ["", "is empty"],
    [" \n\t", "is empty"],
    ["\ufeff", "is empty"],
    ["\0\0\0", "holds only zero bytes"],
    ["\0\n", "holds only zero bytes"],
  ])("rejects %j as a configuration in either file", async (text, reason) => {
    await using folder = await temporaryFolder();
    const paths = [folder.join("home", "config.json"), folder.join("repo", ".holdfast.json")];
    for (const path of paths) {
      await write(path, text);
      const error = await failure(load(folder, { cwd: folder.join("repo") }));
      expect(error).toMatchObject({ kind: "usage", code: "invalid-config", message: `${path} ${reason}` });
      expect(error.hint).toContain("Restore it from a backup, or delete it");
      await write(path, "{}");
    }
  });

  it("ignores a byte order mark", async () => {
    await using folder = await temporaryFolder();
    await write(folder.join("home", "config.json"), `\ufeff{ "$schema": "./x.json", defaultAgent: "bom" }`);
    expect((await load(folder)).config).toEqual({ ...DEFAULT_CONFIG, defaultAgent: "bom" });
  });

  it("rejects files that cannot be a configuration", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("home", "config.json");
    await write(path, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    expect((await failure(load(folder))).message).toContain("is not UTF-8 text");
    await write(path, `{ defaultAgent: "${"a".repeat(2_000_000)}" }`);
    expect((await failure(load(folder))).message).toContain("is larger than");
    await write(folder.join("home2", "config.json", "x"), "");
    const error = await failure(load(folder, { home: folder.join("home2") }));
    expect(error).toMatchObject({ kind: "usage", code: "invalid-config" });
    expect(error.message).toContain("is not a regular file");
  });

  it("says why a file cannot be read", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("home"));
    await symlink("config.json", folder.join("home", "config.json"));
    const error = await failure(load(folder));
    expect(error).toMatchObject({ kind: "usage", code: "invalid-config" });
    expect(error.message).toContain(`Cannot read ${folder.join("home", "config.json")}: ELOOP`);
    const inAFile = load(folder, { home: fileURLToPath(import.meta.url) });
    expect((await failure(inAFile)).hint).toContain("is a file, but must be a folder");
  });

  it.each([
    `{ "__proto__": { "defaultAgent": "evil" } }`,
    `{ session: { __proto__: { mainKey: "evil" } } }`,
    `{ agents: { "__proto__": { name: "evil" } } }`,
    `{ session: { identityLinks: { __proto__: ["x"] } } }`,
  ])("refuses prototype keys: %s", async (text) => {
    await using folder = await temporaryFolder();
    await write(folder.join("home", "config.json"), text);
    expect((await failure(load(folder))).message).toMatch(/^config.json: unknown key ".*__proto__"/);
    expect(({} as Record<string, unknown>)["name"]).toBeUndefined();
  });

  it("keeps names such as constructor as data", async () => {
    await using folder = await temporaryFolder();
    const text = `{ agents: { constructor: { name: "C" } }, session: { identityLinks: { toString: ["x:1"] } } }`;
    await write(folder.join("home", "config.json"), text);
    const { config } = await load(folder);
    expect(config.agents).toEqual({ constructor: { name: "C" } });
    expect(Object.keys(config.session.identityLinks)).toEqual(["toString"]);
    expect(Object.getPrototypeOf(config.agents)).toBe(Object.prototype);
  });
});

describe("the project file", () => {
  it("is searched up to the root of the repository, nearest first", async () => {
    await using folder = await temporaryFolder();
    await write(folder.join("repo", ".git", "HEAD"), "");
    await write(folder.join("repo", ".holdfast.json"), `{ defaultAgent: "root" }`);
    await write(folder.join(".holdfast.json"), `{ defaultAgent: "outside" }`);
    await mkdir(folder.join("repo", "a", "b"), { recursive: true });
    expect((await load(folder, { cwd: folder.join("repo", "a", "b") })).config.defaultAgent).toBe("root");
    await write(folder.join("repo", "a", ".holdfast.json"), `{ defaultAgent: "near" }`);
    expect((await load(folder, { cwd: folder.join("repo", "a", "b") })).config.defaultAgent).toBe("near");
  });

  it("is not searched beyond the repository or the user's home", async () => {
    await using folder = await temporaryFolder();
    await write(folder.join(".holdfast.json"), `{ defaultAgent: "outside" }`);
    await write(folder.join("repo", ".git", "HEAD"), "");
    await mkdir(folder.join("someone", "work"), { recursive: true });
    await mkdir(folder.join("shared", "work"), { recursive: true });
    expect((await load(folder, { cwd: folder.join("repo") })).config.defaultAgent).toBe("main");
    const env = { HOME: folder.join("someone") };
    expect((await load(folder, { cwd: folder.join("someone", "work"), env })).config.defaultAgent).toBe("main");
    expect((await load(folder, { cwd: folder.join("shared", "work"), env })).config.defaultAgent).toBe("main");
    expect((await load(folder, { cwd: folder.path, env })).config.defaultAgent).toBe("outside");
  });

  it.each(["agents", "store", "transcript", "models", "maintenance", "log"])("may not set %s", async (key) => {
    await using folder = await temporaryFolder();
    await write(folder.join(".holdfast.json"), JSON.stringify({ [key]: {} }));
    expect((await failure(load(folder))).message).toContain(`"${key}" may only be set in the user's own configuration`);
  });
});

describe("the cache", () => {
  const text = `{ defaultAgent: "cached", session: { identityLinks: { a: ["b:1"] } } }`;

  it("avoids loading json5 and zod, as does a missing file", async () => {
    await using folder = await temporaryFolder();
    expect(modulesLoaded(folder)).toEqual([]);
    await write(folder.join("home", "config.json"), text);
    expect(modulesLoaded(folder)).toEqual(["json5", "zod"]);
    expect(modulesLoaded(folder)).toEqual([]);
    await write(folder.join("home", "config.json"), `${text} `);
    expect(modulesLoaded(folder)).toEqual(["json5", "zod"]);
  });

  it("gives the same answer as the file, in a private place", async () => {
    await using folder = await temporaryFolder();
    await write(folder.join("home", "config.json"), text);
    const first = await load(folder);
    expect(await load(folder)).toEqual(first);
    const [name = ""] = await readdir(folder.join("home", "cache"));
    expect(name).toMatch(/^config-[0-9a-f]{32}\.json$/);
    expect((await stat(folder.join("home", "cache", name))).mode & 0o777).toBe(0o600);
    expect((await stat(folder.join("home", "cache"))).mode & 0o777).toBe(0o700);
  });

  it.each(["", "{", "null", "[]", "{}", `{"fingerprint":"x","layer":{"defaultAgent":"evil"}}`])(
    "is ignored when it holds %j",
    async (damage) => {
      await using folder = await temporaryFolder();
      await write(folder.join("home", "config.json"), text);
      await load(folder);
      const [name = ""] = await readdir(folder.join("home", "cache"));
      await writeFile(folder.join("home", "cache", name), damage);
      expect((await load(folder)).config.defaultAgent).toBe("cached");
      expect(JSON.parse(await readFile(folder.join("home", "cache", name), "utf8"))).toHaveProperty("fingerprint");
    },
  );

  it("is optional if it cannot be written", async () => {
    await using folder = await temporaryFolder();
    await write(folder.join("home", "config.json"), text);
    // A file in the place of the folder fails for root as well.
    await writeFile(folder.join("home", "cache"), "");
    expect((await load(folder)).config.defaultAgent).toBe("cached");
    await chmod(folder.join("home"), 0o500);
    expect((await load(folder)).config.defaultAgent).toBe("cached");
    await chmod(folder.join("home"), 0o700);
    expect((await readdir(folder.join("home"))).toSorted()).toEqual(["cache", "config.json"]);
  });

  it("never stores an invalid file", async () => {
    await using folder = await temporaryFolder();
    await write(folder.join("home", "config.json"), "{ nope: 1 }");
    await failure(load(folder));
    await failure(load(folder));
    expect(await readdir(folder.join("home"))).toEqual(["config.json"]);
  });
});

async function load(folder: TemporaryFolder, options: Partial<LoadConfigOptions> = {}) {
  return await loadConfig({ env: {}, cwd: folder.path, home: folder.join("home"), ...options });
}

async function failure(promise: Promise<unknown>): Promise<HoldfastError> {
  const error: unknown = await promise.catch((reason: unknown) => reason);
  if (!(error instanceof HoldfastError)) throw new Error("expected a HoldfastError", { cause: error });
  return error;
}

async function write(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

/** Which of the slow packages a fresh process imports in order to load the configuration. */
function modulesLoaded(folder: TemporaryFolder): string[] {
  const module = join(dirname(fileURLToPath(import.meta.url)), "load.ts");
  const script = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ resolve: (name, context, next) => (seen.add(name), next(name, context)) });
    const { loadConfig } = await import(${JSON.stringify(module)});
    await loadConfig({ env: {}, cwd: ${JSON.stringify(folder.path)}, home: ${JSON.stringify(folder.join("home"))} });
    console.log(JSON.stringify(["json5", "zod"].filter((name) => seen.has(name))));`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  return JSON.parse(child.stdout) as string[];
}
