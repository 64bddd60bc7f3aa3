import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { editJson } from "../base/json-places.ts";
import { DEFAULT_CONFIG } from "./config.ts";
import { getConfigValue, setConfigValue, unsetConfigValue } from "./edit.ts";

const COMMENTED = `// Mine.
{
  // Who answers.
  defaultAgent: 'ops', // not main
  session: {
    /* people */ mainKey: "home",
    reset: { mode: "daily", atHour: 4 }, // early
  },
  // The end.
}
`;

describe("getConfigValue", () => {
  const config = { ...DEFAULT_CONFIG, models: { "openai/gpt-4.1": { alias: "gpt" } } };

  it.each([
    ["session.dmScope", "per-channel-peer"],
    ["session", DEFAULT_CONFIG.session],
    ["session.resetTriggers[1]", "/reset"],
    ["session.resetTriggers.0", "/new"],
    ['models["openai/gpt-4.1"].alias', "gpt"],
    ["models['openai/gpt-4.1']", { alias: "gpt" }],
    ["session.reset.atHour", undefined],
    ["agents.nobody.name", undefined],
  ])("reads %s", async (key, expected) => {
    expect(await getConfigValue(config, key)).toEqual(expected);
  });

  it.each([
    ["session.dmscope", 'Unknown key "session.dmscope" (did you mean "session.dmScope"?)'],
    ["dmScope", 'Unknown key "dmScope" (did you mean "session.dmScope"?)'],
    ["session.__proto__", 'Unknown key "session.__proto__"'],
    ["constructor", 'Unknown key "constructor"'],
    ["session.resetTriggers.length", 'Unknown key "session.resetTriggers.length"'],
    ["session.mainKey.length", 'Unknown key "session.mainKey.length"'],
  ])("refuses %s", async (key, message) => {
    await expect(getConfigValue(config, key)).rejects.toMatchObject({
      kind: "usage",
      code: "unknown-config-key",
      message,
    });
  });

  it.each(["", " ", ".", "a..b", "a.", "a[", 'a["b', "a]b"])("rejects %j as a key", async (key) => {
    await expect(getConfigValue(config, key)).rejects.toMatchObject({ kind: "usage", code: "invalid-config-key" });
  });
});

describe("setConfigValue", () => {
  it("changes one value and keeps every comment", async () => {
    await using file = await configFile(COMMENTED);
    expect(await file.set("session.reset.atHour", "6")).toBe(6);
    expect(await file.text()).toBe(COMMENTED.replace("atHour: 4", "atHour: 6"));
    await file.set("session.mainKey", "work");
    expect(await file.text()).toBe(COMMENTED.replace("atHour: 4", "atHour: 6").replace('"home"', '"work"'));
  });

  it("adds keys and their parents in the style of the file", async () => {
    await using file = await configFile(COMMENTED);
    await file.set("store.kind", "json");
    await file.set("session.resetByType.group", "{mode: 'idle', idleMinutes: 120}");
    const text = await file.text();
    for (const line of COMMENTED.split("\n").filter((each) => each.includes("//") || each.includes("/*"))) {
      expect(text).toContain(line.replace(/^.*?(\/[/*])/, "$1").replace(/,$/, ""));
    }
    expect(JSON5.parse(text)).toEqual({
      defaultAgent: "ops",
      session: {
        mainKey: "home",
        reset: { mode: "daily", atHour: 4 },
        resetByType: { group: { mode: "idle", idleMinutes: 120 } },
      },
      store: { kind: "json" },
    });
  });

  it.each([
    ["session.mainKey", "123", "123"],
    ["session.mainKey", "'quoted'", "quoted"],
    ["session.mainKey", "two words", "two words"],
    ["store.view", "false", false],
    ["maintenance.maxSessions", "0x10", 16],
    ["session.resetTriggers", '["/neu"]', ["/neu"]],
    ['models["openai/gpt-4.1"].alias', "gpt", "gpt"],
    ["agents.constructor.name", "C", "C"],
  ])("reads the value of %s from %j", async (key, rawValue, value) => {
    await using file = await configFile("{}");
    expect(await file.set(key, rawValue)).toEqual(value);
    expect(await file.get(key)).toEqual(value);
  });

  it("creates a missing file, readable for its owner only", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("new", "config.json");
    await setConfigValue({ path, key: "log.level", rawValue: "info" });
    expect(await readFile(path, "utf8")).toBe('{\n  "log": {\n    "level": "info"\n  }\n}\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder.join("new"))).mode & 0o777).toBe(0o700);
    expect(await readdir(folder.join("new"))).toEqual(["config.json"]);
  });

  it("does not touch a file that already has the value", async () => {
    await using file = await configFile(COMMENTED);
    const before = await stat(file.path);
    expect(await file.set("defaultAgent", "ops")).toBe("ops");
    expect((await stat(file.path)).ino).toBe(before.ino);
  });

  it.each([
    ["session.dmscope", "main", 'Unknown key "session.dmscope" (did you mean "session.dmScope"?)'],
    ["session.dmScope", "per-peeer", 'config.json: invalid value for "session.dmScope": expected one of'],
    [
      "session.reset.atHour",
      "24",
      'config.json: invalid value for "session.reset.atHour": expected at most 23, found 24',
    ],
    [
      "session.reset.atHour",
      "four",
      'config.json: invalid value for "session.reset.atHour": expected a number, found text',
    ],
    ["session", "{ mainkey: 'x' }", 'config.json: unknown key "session.mainkey" (did you mean "session.mainKey"?)'],
    ["agents.Bad", "{}", 'config.json: invalid name "agents.Bad"'],
    ["agents.__proto__.name", "evil", 'Unknown key "agents.__proto__.name"'],
    ["agents", '{ "__proto__": { name: "evil" } }', 'config.json: unknown key "agents.__proto__"'],
    [
      "session.mainKey",
      "",
      'config.json: invalid value for "session.mainKey": expected at least 1 character, found none',
    ],
  ])("refuses %s = %s and changes nothing", async (key, rawValue, message) => {
    await using file = await configFile(COMMENTED);
    await expect(file.set(key, rawValue)).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringContaining(message),
    });
    expect(await file.text()).toBe(COMMENTED);
    expect(await readdir(file.folder)).toEqual(["config.json"]);
  });

  it("refuses an invalid file, and keeps it", async () => {
    await using file = await configFile("{ broken");
    await expect(file.set("log.level", "info")).rejects.toMatchObject({
      code: "invalid-config",
      message: expect.stringContaining("config.json: syntax error at line 1, column 9"),
      hint: expect.stringContaining(`Correct ${file.path}.`),
    });
    expect(await file.text()).toBe("{ broken");
  });

  it("can fix an invalid value, but not write next to one", async () => {
    await using file = await configFile('{ log: { level: "loud" } } // hm');
    await expect(file.set("defaultAgent", "x")).rejects.toMatchObject({ code: "invalid-config" });
    await file.set("log.level", "info");
    expect(await file.text()).toBe('{ log: { level: "info" } } // hm');
  });

  it("changes the file that a link points at", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("dotfiles"));
    await writeFile(folder.join("dotfiles", "holdfast.json"), "{}\n");
    const path = folder.join("config.json");
    await symlink(folder.join("dotfiles", "holdfast.json"), path);
    await setConfigValue({ path, key: "log.level", rawValue: "info" });
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(JSON5.parse(await readFile(folder.join("dotfiles", "holdfast.json"), "utf8"))).toEqual({
      log: { level: "info" },
    });
  });

  it("loses none of the changes that processes make at the same time", async () => {
    await using file = await configFile("{\n  // shared\n}\n");
    const module = fileURLToPath(new URL("edit.ts", import.meta.url));
    const children = ["a", "b", "c"].map((name) => {
      const script = `
        const { setConfigValue } = await import(${JSON.stringify(module)});
        for (let n = 0; n < 5; n++) {
          await setConfigValue({ path: ${JSON.stringify(file.path)}, key: "agents.${name}" + n + ".name", rawValue: "x" });
        }`;
      return spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
    });
    const codes = await Promise.all(children.map(async (child) => (await once(child, "exit"))[0] as number));
    expect(codes).toEqual([0, 0, 0]);
    const { agents } = JSON5.parse<{ agents: object }>(await file.text());
    expect(Object.keys(agents)).toHaveLength(15);
    expect(await file.text()).toContain("// shared");
    expect(await readdir(file.folder)).toEqual(["config.json"]);
  });
});

describe("unsetConfigValue", () => {
  it.each([
    ["{\n  a: 1, // one\n  // two\n  b: 2\n}\n", "b", "{\n  a: 1 // one\n  // two\n}\n"],
    ["{\n  a: 1, // one\n  // two\n  b: 2,\n}\n", "a", "{\n   // one\n  // two\n  b: 2,\n}\n"],
    ["{\n  a: 1,\n  b: 2\n}\n", "a", "{\n  b: 2\n}\n"],
    ['{"a": {"b": 1}}', "a", "{}"],
    ['{"a": {"b": 1}, "c": 2}', "a.b", '{"a": {}, "c": 2}'],
    ["{\r\n  a: 1,\r\n  b: {\r\n    c: 1\r\n  },\r\n}\r\n", "b", "{\r\n  a: 1,\r\n}\r\n"],
    ["{ a /* , */ : 1 /* , */ , b: ',' }", "b", "{ a /* , */ : 1 /* , */ }"],
    ["{ a: '🦀🦀', b: 1, c: 2 }", "b", "{ a: '🦀🦀', c: 2 }"],
  ])("cuts only the value out of %j", (text, path, expected) => {
    const wanted = JSON5.parse<Record<string, Record<string, unknown>>>(text);
    const [first = "", second] = path.split(".");
    if (second === undefined) delete wanted[first];
    else delete wanted[first]?.[second];
    expect(editJson(text, wanted)).toBe(expected);
  });

  it("removes one value and keeps the rest of the file", async () => {
    await using file = await configFile(COMMENTED);
    expect(await file.unset("session.reset")).toBe(true);
    expect(await file.text()).toBe(
      COMMENTED.replace('    reset: { mode: "daily", atHour: 4 }, // early', "     // early"),
    );
  });

  it("removes keys that are not allowed", async () => {
    await using file = await configFile('{ sesion: {}, log: { level: "info" } }');
    await file.unset("sesion");
    expect(await file.text()).toBe('{ log: { level: "info" } }');
  });

  it("does nothing if the key is not set, and rejects unknown keys", async () => {
    await using file = await configFile(COMMENTED);
    expect(await file.unset("log.level")).toBe(false);
    await expect(file.unset("log.levle")).rejects.toThrow('Unknown key "log.levle" (did you mean "log.level"?)');
    expect(await file.text()).toBe(COMMENTED);
  });

  it("does not create a missing file", async () => {
    await using folder = await temporaryFolder();
    await unsetConfigValue({ path: folder.join("config.json"), key: "log.level" });
    expect(await readdir(folder.path)).toEqual([]);
  });
});

async function configFile(content: string) {
  const folder = await temporaryFolder();
  const path = folder.join("config.json");
  await writeFile(path, content);
  await chmod(path, 0o600);
  const text = async () => await readFile(path, "utf8");
  return {
    path,
    folder: folder.path,
    text,
    set: async (key: string, rawValue: string) => await setConfigValue({ path, key, rawValue }),
    unset: async (key: string) => await unsetConfigValue({ path, key }),
    get: async (key: string) => await getConfigValue(JSON5.parse(await text()), key),
    [Symbol.asyncDispose]: async () => await folder[Symbol.asyncDispose](),
  };
}
