/** Hooks that really run, as processes and from files, including everything a handler can do wrong. */
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type HookHome, hookHead, createHookHome } from "../../test/support/hook-home.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import type { HookEventName, HookOutcome } from "./hook.ts";

const REQUEST = { sessionKey: "agent:main:main", context: { sessionId: "s1", commandSource: "telegram" } };

/** One hook for `/new`, fired once. */
async function fireOnce(home: HookHome, handler: string, timeoutSeconds = 20): Promise<HookOutcome> {
  await home.add("home", "one", { "HOOK.md": hookHead("one", "command:new"), "handler.ts": handler });
  const runner = await home.open({ hooks: { timeoutSeconds } });
  return await runner.fire("command:new", REQUEST);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const NOTHING = { messages: [], bootstrapFiles: [] };

describe("a hook", () => {
  it("runs TypeScript with the event, and adds a message", async () => {
    await using home = await createHookHome();
    const outcome = await fireOnce(
      home,
      `interface E { messages: string[]; timestamp: string; context: Record<string, unknown> }
       export default async (event: E): Promise<void> => {
         console.log("printed by the hook");
         const { timestamp, messages, ...rest } = event;
         event.messages.push(JSON.stringify(rest), typeof timestamp as string);
       };`,
    );
    expect(outcome.failures).toEqual([]);
    expect(JSON.parse(outcome.messages[0] ?? "")).toEqual({
      type: "command",
      action: "new",
      sessionKey: "agent:main:main",
      context: { sessionId: "s1", commandSource: "telegram", agentId: "main", workspaceDir: home.workspace },
    });
    expect(outcome.messages[1]).toBe("string");
    await expect.poll(() => home.log.join("")).toContain("printed by the hook");
  });

  it("listens only to its events; hooks of one event run in order", async () => {
    await using home = await createHookHome();
    const file = home.folder.join("order");
    const handler = (name: string, pause: number): string =>
      `const { appendFileSync } = require("node:fs");
       module.exports = async (event) => {
         appendFileSync(${JSON.stringify(file)}, "${name} begins\\n");
         await new Promise((resolve) => setTimeout(resolve, ${pause}));
         appendFileSync(${JSON.stringify(file)}, "${name} ends\\n");
         event.messages.push("${name}");
       };`;
    await home.add("home", "b", { "HOOK.md": hookHead("b", "command:reset"), "handler.js": handler("b", 0) });
    await home.add("home", "a", { "HOOK.md": hookHead("a", "command:reset"), "handler.js": handler("a", 80) });
    const runner = await home.open();
    expect([runner.listens("command:reset"), runner.listens("command:new")]).toEqual([true, false]);
    expect(await runner.fire("command:new", REQUEST)).toEqual({ ...NOTHING, failures: [] });
    expect((await runner.fire("command:reset", REQUEST)).messages).toEqual(["a", "b"]);
    expect(readFileSync(file, "utf8")).toBe("a begins\na ends\nb begins\nb ends\n");
  });

  it("changes and replaces bootstrap files, sees what earlier hooks did, and changes nothing else", async () => {
    await using home = await createHookHome();
    const events: HookEventName[] = ["agent:bootstrap", "command:new"];
    await home.add("home", "a", {
      "HOOK.md": hookHead("a", ...events),
      "index.js": `export default (event) => {
        event.sessionKey = "agent:other:main";
        const files = (event.context.bootstrapFiles ??= []);
        if (files[0]) files[0].content = "changed";
        files.unshift({ name: "A.md", path: "/x", content: "from a", missing: false });
      };`,
    });
    await home.add("home", "b", {
      "HOOK.md": hookHead("b", ...events),
      "handler.js": `export default (event) => {
        event.messages.push(event.sessionKey, JSON.stringify(event.context.bootstrapFiles ?? "none"));
        event.context.bootstrapFiles = [{ name: "B.md", content: "from b" }, event.context.bootstrapFiles?.[1]];
      };`,
    });
    const runner = await home.open();
    const given = [{ name: "AGENTS.md", content: "given" }];
    const changed = { name: "AGENTS.md", content: "changed" };
    const context = { bootstrapFiles: given };
    const outcome = await runner.fire("agent:bootstrap", { sessionKey: "agent:main:main", context });
    expect(outcome).toEqual({
      messages: ["agent:main:main", JSON.stringify([{ name: "A.md", content: "from a" }, changed])],
      bootstrapFiles: [{ name: "B.md", content: "from b" }, changed],
      failures: [],
    });
    expect(given).toEqual([{ name: "AGENTS.md", content: "given" }]);
    expect((await runner.fire("command:new", REQUEST)).bootstrapFiles).toEqual([]);
  });

  it("sees the session's entry and the configuration without secrets", async () => {
    await using home = await createHookHome();
    await home.add("home", "a", {
      "HOOK.md": hookHead("a", "agent:bootstrap"),
      "index.js": `export default ({ messages, context: { sessionEntry, cfg } }) => {
        messages.push(sessionEntry.label, cfg.defaultAgent, cfg.providers.own.baseUrl);
        cfg.defaultAgent = sessionEntry.label = "changed";
      };`,
    });
    const baseUrl = "https://me:hunter2secret@models.example.org/v1";
    const config = { ...DEFAULT_CONFIG, providers: { own: { baseUrl } } };
    const runner = await home.open({ config });
    const sessionEntry = { sessionId: "s1", updatedAt: 1, label: "garden" };
    const { messages, failures } = await runner.fire("agent:bootstrap", { ...REQUEST, context: { sessionEntry } });
    expect(failures).toEqual([]);
    expect(messages.slice(0, 2)).toEqual(["garden", "main"]);
    expect(messages[2]).not.toContain("hunter2secret");
    expect([sessionEntry.label, config.defaultAgent]).toEqual(["garden", "main"]);
  });

  it("gets the variables that it asks for, and no other secrets", async () => {
    await using home = await createHookHome();
    await home.add("home", "one", {
      "HOOK.md": "---\nname: one\nevents: command:new\nrequires:\n  env: [WANTED]\n---\n",
      "handler.js": `export default ({ messages }) => { messages.push(Object.keys(process.env).toSorted().join()); };`,
    });
    const runner = await home.open({ env: { PATH: "/bin", WANTED: "w", ANTHROPIC_API_KEY: "secret" } });
    const [names = ""] = (await runner.fire("command:new", REQUEST)).messages;
    expect(names.split(",")).toEqual(expect.arrayContaining(["PATH", "WANTED"]));
    expect(names).not.toContain("ANTHROPIC");
  });

  it("may finish its work after its answer", async () => {
    await using home = await createHookHome();
    const [go, file] = [home.folder.join("go"), home.folder.join("late")];
    await fireOnce(
      home,
      `import { existsSync, writeFileSync } from "node:fs";
       export default () => {
         const timer = setInterval(() => {
           if (!existsSync(${JSON.stringify(go)})) return;
           clearInterval(timer);
           writeFileSync(${JSON.stringify(file)}, "done");
         }, 10);
       };`,
    );
    expect(existsSync(file)).toBe(false);
    await writeFile(go, "");
    await expect.poll(() => existsSync(file), { timeout: 10_000 }).toBe(true);
  });
});

describe("a misbehaving hook", () => {
  it.each([
    ["loops for ever", "export default () => { for (;;); };", "took longer than 0.5 s and was ended"],
    [
      "waits for ever",
      "export default () => new Promise(() => setInterval(() => {}, 1000));",
      "took longer than 0.5 s",
    ],
    ["loops while it is loaded", "for (;;);", "took longer than 0.5 s"],
    [
      "waits for a program that keeps running",
      'import { execFileSync } from "node:child_process"; export default () => { execFileSync("sleep", ["60"]); };',
      /took longer than 0\.5 s|ETIMEDOUT/,
    ],
  ])("%s", async (_, handler, reason) => {
    await using home = await createHookHome();
    const begun = performance.now();
    const outcome = await fireOnce(home, handler, 0.5);
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(outcome).toMatchObject(NOTHING);
    expect(outcome.failures).toEqual([{ hook: "one", reason: expect.stringMatching(reason) as string }]);
  });

  it.each([
    ["exits", "export default () => { process.exit(7); };", "it called process\\.exit\\(7\\)"],
    ["exits well", "export default () => { process.exit(0); };", "it called process\\.exit\\(0\\)"],
    ["throws", 'export default () => { throw new TypeError("no"); };', "TypeError: no"],
    ["throws no error", "export default async () => { throw { toString: null }; };", "cannot be displayed"],
    ["throws nothing", "export default () => Promise.reject(undefined);", "threw undefined"],
    ["throws very much", 'export default () => { throw "x".repeat(1e7); };', /^threw x+…$/],
    ["never ends", "export default () => new Promise(() => {});", "it waits for a promise that never settles"],
    [
      "fails beside its answer",
      'export default async () => { queueMicrotask(() => { throw new Error("aside"); }); await new Promise((r) => setTimeout(r, 500)); };',
      "Error: aside",
    ],
    ["adds 100 MB", 'export default (event) => { event.messages.push("x".repeat(1e8)); };', "too much"],
    [
      "takes all memory",
      "export default () => { const m = new Map(); for (let i = 0; ; i++) m.set(i, Array(1e5).fill(i)); };",
      "256 MB",
    ],
    ["takes it in one go", "export default () => new Array(33e6).fill(1.5);", "256 MB"],
    ["ends itself", 'export default () => { process.kill(process.pid, "SIGKILL"); };', "ended by SIGKILL"],
    ["crashes", "export default () => { process.abort(); };", "ended by SIGABRT"],
    ["adds too many", "export default (event) => { event.messages.push(...Array(99).fill('x')); };", "more than 10"],
    ["adds garbage", "export default (event) => { event.messages = { length: 3 }; };", "must be a list of strings"],
    ["adds numbers", "export default (event) => { event.messages.push(1, 2); };", "must be a list of strings"],
    ["adds a circle", "export default (event) => { event.messages.push(event.messages); };", /call stack|JSON/],
    ["adds what JSON refuses", "export default (event) => { event.messages.push(1n); };", "not valid JSON"],
    ["takes the event apart", "export default (event) => { delete event.messages; };", "must be a list of strings"],
    ["has no handler", "export const handler = () => {};", "no function as default export"],
    ["cannot be parsed", "export default (", /SyntaxError/],
    ["needs more than erasing", "enum A { B } export default () => A;", /enum/i],
    ["imports what is not there", 'import "./nowhere.ts"; export default () => {};', /Cannot find module/],
  ])("%s", async (_, handler, reason) => {
    await using home = await createHookHome();
    const outcome = await fireOnce(home, handler);
    expect(outcome).toMatchObject(NOTHING);
    expect(outcome.failures).toEqual([{ hook: "one", reason: expect.stringMatching(reason) as string }]);
  });

  it("is counted and logged, and the next one runs", async () => {
    await using home = await createHookHome();
    await home.add("home", "a", {
      "HOOK.md": hookHead("a", "command:new"),
      "handler.js":
        'export default () => { throw new Error("key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"); };',
    });
    await home.add("home", "b", {
      "HOOK.md": hookHead("b", "command:new"),
      "handler.js": 'export default (event) => { event.messages.push("b"); };',
    });
    const runner = await home.open();
    await runner.fire("command:new", REQUEST);
    const { messages, failures } = await runner.fire("command:new", REQUEST);
    expect(messages).toEqual(["b"]);
    expect(failures).toHaveLength(1);
    expect(JSON.stringify(failures)).not.toContain("abcdefghijklmnop");
    expect(home.log.filter((line) => line.includes('"hook failed"'))).toHaveLength(2);
  });

  it("can change neither the prototypes of Holdfast's objects nor its own answer", async () => {
    await using home = await createHookHome();
    const outcome = await fireOnce(
      home,
      `Object.prototype.polluted = "yes";
       Array.prototype.push = () => { throw new Error("no push"); };
       JSON.stringify = () => '{"added":{"messages":["forged"],"bootstrapFiles":[]}}';
       process.stdout.write = () => {};
       export default (event) => { event.messages[0] = "mine"; };`,
    );
    expect(outcome).toEqual({ messages: ["mine"], bootstrapFiles: [], failures: [] });
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("is ended if it prints endlessly", async () => {
    await using home = await createHookHome();
    const outcome = await fireOnce(
      home,
      `const print = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
       export default async () => { for (;;) await print("x".repeat(10_000)); };`,
    );
    expect(outcome).toEqual({ ...NOTHING, failures: [{ hook: "one", reason: "it printed or added too much" }] });
  });

  it("leaves nothing running", async () => {
    await using home = await createHookHome();
    const outcome = await fireOnce(
      home,
      `import { spawn } from "node:child_process";
       export default (event) => {
         const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
         child.unref();
         event.messages.push(String(child.pid));
       };`,
    );
    const pid = Number(outcome.messages[0]);
    expect(pid).toBeGreaterThan(1);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it("may fail after its answer without harm", async () => {
    await using home = await createHookHome();
    const outcome = await fireOnce(
      home,
      `export default (event) => {
         setTimeout(() => { void Promise.reject(new Error("much later")); }, 700);
         event.messages.push("fine");
       };`,
    );
    expect(outcome).toEqual({ messages: ["fine"], bootstrapFiles: [], failures: [] });
    await expect.poll(() => home.log.join("")).toContain("much later");
  });
});

describe("the runner", () => {
  it("gives bundled hooks the same limits, in its own process", async () => {
    await using home = await createHookHome();
    await home.add("bundled", "slow", { "HOOK.md": hookHead("slow", "command:new") });
    await home.add("bundled", "own", { "HOOK.md": hookHead("own", "command:new") });
    const runner = await home.open({
      hooks: { timeoutSeconds: 0.1 },
      bundled: [
        { name: "slow", handle: async () => await delay(60_000, undefined, { ref: false }) },
        {
          name: "own",
          handle: async (event) => {
            await Promise.resolve();
            event.messages.push("own");
          },
        },
      ],
    });
    expect(await runner.fire("command:new", REQUEST)).toEqual({
      ...NOTHING,
      messages: ["own"],
      failures: [{ hook: "slow", reason: "took longer than 0.1 s" }],
    });
  });

  it("runs many sessions' hooks at once without losing one", async () => {
    await using home = await createHookHome();
    await home.add("home", "one", {
      "HOOK.md": hookHead("one", "command:new"),
      "handler.js": "export default (event) => { event.messages.push(event.sessionKey); };",
    });
    const runner = await home.open({ hooks: { timeoutSeconds: 30 } });
    const keys = Array.from({ length: 8 }, (_, index) => `agent:main:${index}`);
    const outcomes = await Promise.all(
      keys.map(async (sessionKey) => await runner.fire("command:new", { sessionKey, context: {} })),
    );
    expect(outcomes.map(({ messages }) => messages[0])).toEqual(keys);
  });

  it("ends running hooks when closed, and calls none afterwards", async () => {
    await using home = await createHookHome();
    await home.add("home", "one", {
      "HOOK.md": hookHead("one", "command:new"),
      "handler.js": "export default () => new Promise(() => setInterval(() => {}, 1000));",
    });
    const runner = await home.open({ hooks: { timeoutSeconds: 60 } });
    const fired = runner.fire("command:new", REQUEST);
    await delay(50);
    await runner.close();
    expect((await fired).failures).toHaveLength(1);
    expect(runner.listens("command:new")).toBe(false);
    expect(await runner.fire("command:new", REQUEST)).toEqual({ ...NOTHING, failures: [] });
  });
});
