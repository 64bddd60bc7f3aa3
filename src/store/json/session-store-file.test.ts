import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { chmod, readFile, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assert, asyncProperty, dictionary, jsonValue, string } from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { type FaultPoint, installFaultAction } from "../../base/faults.ts";
import { resolveHome } from "../../config/layout.ts";
import type { SessionEntry } from "../session-entry.ts";
import {
  type SessionMap,
  clearSessionStoreCacheForTest,
  loadSessionStore,
  saveSessionStore,
  updateSessionStore,
  updateSessionStoreEntry,
  withSessionStoreLock,
  resolveDefaultSessionStorePath,
  resolveSessionTranscriptsDirForAgent,
  resolveStorePath,
} from "./session-store-file.ts";

const SAMPLES = ["v2026.1.30", "v2026.1.30/after-rpc", "v2026.2.26"];

function sample(name: string): string {
  const url = new URL(`../../../test/fixtures/openclaw/${name}/sessions.json`, import.meta.url);
  return readFileSync(fileURLToPath(url), "utf8");
}

function entry(sessionId: string, more: object = {}): SessionEntry {
  return { sessionId, updatedAt: 1000, ...more };
}

const increment = (store: SessionMap): number => {
  const tokens = (store["k"]?.inputTokens ?? 0) + 1;
  store["k"] = entry("s", { inputTokens: tokens });
  return tokens;
};

function countFaultPoints(): Map<FaultPoint, number> {
  const counts = new Map<FaultPoint, number>();
  installFaultAction((point) => counts.set(point, (counts.get(point) ?? 0) + 1));
  return counts;
}

beforeEach(clearSessionStoreCacheForTest);
afterEach(() => {
  installFaultAction(undefined);
  delete process.env["HOLDFAST_SESSION_CACHE_TTL_MS"];
  delete process.env["OPENCLAW_SESSION_CACHE_TTL_MS"];
});

describe("real OpenClaw files", () => {
  it.each(SAMPLES)("%s round-trips unchanged", async (name) => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const text = sample(name);
    await writeFile(path, text);
    expect(JSON.parse(JSON.stringify(loadSessionStore(path)))).toEqual(JSON.parse(text));
    await updateSessionStore(path, (store) => {
      store["agent:main:new"] = entry("s-new");
    });
    await updateSessionStore(path, (store) => {
      delete store["agent:main:new"];
    });
    expect(await readFile(path, "utf8")).toBe(text);
  });
});

describe("a damaged file", () => {
  const whole = sample("v2026.1.30/after-rpc");
  const DAMAGED: Record<string, string | Buffer> = {
    empty: "",
    "white space": " \n\t\n",
    truncated: whole.slice(0, whole.length / 2),
    "cut in its last byte": whole.slice(0, -1),
    "zero bytes": Buffer.alloc(4096),
    binary: Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d]),
    "invalid UTF-8 in a string": Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
    "an array": "[]",
    "a string": '"sessions"',
    null: "null",
    "two values": "{}{}",
  };

  it.each(Object.keys(DAMAGED))("is an error and stays unchanged: %s", async (name) => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const content = Buffer.from(DAMAGED[name] ?? "");
    await writeFile(path, content);
    const refused = expect.objectContaining({
      kind: "corrupt",
      message: expect.stringContaining(path) as string,
      hint: expect.stringContaining("holdfast doctor") as string,
    }) as Error;
    expect(() => loadSessionStore(path)).toThrow(refused);
    await expect(updateSessionStore(path, increment)).rejects.toThrow(refused);
    await expect(saveSessionStore(path, {})).rejects.toThrow(refused);
    const update = updateSessionStoreEntry({ storePath: path, sessionKey: "k", update: () => ({ model: "m" }) });
    await expect(update).rejects.toThrow(refused);
    expect(await readFile(path)).toEqual(content);
    expect(await readdir(folder.path)).toEqual(["sessions.json"]);
  });

  it("is noticed despite the cache", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    await updateSessionStore(path, increment);
    expect(loadSessionStore(path)["k"]?.inputTokens).toBe(1);
    await writeFile(path, "");
    expect(() => loadSessionStore(path)).toThrow("is empty");
    await expect(updateSessionStore(path, increment)).rejects.toThrow("is empty");
  });
});

describe("reading", () => {
  it("treats a missing file as a new store and does not create it", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("agents", "main", "sessions.json");
    expect(loadSessionStore(path)).toEqual({});
    expect(await updateSessionStore(path, (store) => Object.keys(store))).toEqual([]);
    expect(await readdir(folder.join("agents", "main"))).toEqual([]);
  });

  it("accepts JSON5 and keeps it until something changes", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const text = `\ufeff{ // by hand\n 'k': {sessionId: 's', updatedAt: 1, inputTokens: +4,}, }`;
    await writeFile(path, text);
    expect(loadSessionStore(path)).toEqual({ k: { sessionId: "s", updatedAt: 1, inputTokens: 4 } });
    await updateSessionStore(path, (store) => store["k"]?.model);
    expect(await readFile(path, "utf8")).toBe(text);
    await updateSessionStore(path, increment);
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ k: entry("s", { inputTokens: 5 }) });
  });

  it("returns copies", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    await saveSessionStore(path, { k: entry("s", { origin: { label: "l" } }) });
    const mine = loadSessionStore(path);
    delete mine["other"];
    if (mine["k"]?.origin) mine["k"].origin.label = "changed";
    mine["new"] = entry("s-2");
    expect(loadSessionStore(path)).toEqual({ k: entry("s", { origin: { label: "l" } }) });
  });

  it("sees every change by another program, even of the same size at the same instant", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    // As coarse file times would have it; in the future, so that a slow machine makes no difference.
    const instant = new Date(Date.now() + 10_000);
    for (let tokens = 10; tokens < 20; tokens++) {
      writeFileSync(path, JSON.stringify({ k: entry("s", { inputTokens: tokens }) }));
      utimesSync(path, instant, instant);
      expect(loadSessionStore(path)["k"]?.inputTokens).toBe(tokens);
    }
  });

  it("does not reread a file that looks unchanged, unless asked", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const anHourAgo = new Date(Date.now() - 3_600_000);
    const change = async (tokens: number) => {
      await writeFile(path, JSON.stringify({ k: entry("s", { inputTokens: tokens }) }));
      await utimes(path, anHourAgo, anHourAgo);
    };
    const tokens = (options?: { skipCache?: boolean }) => loadSessionStore(path, options)["k"]?.inputTokens;
    await change(1);
    expect(tokens()).toBe(1);
    await change(2);
    expect(tokens()).toBe(1);
    expect(tokens({ skipCache: true })).toBe(2);
    await change(3);
    process.env["OPENCLAW_SESSION_CACHE_TTL_MS"] = "0";
    expect(tokens()).toBe(3);
    process.env["HOLDFAST_SESSION_CACHE_TTL_MS"] = "1";
    expect(tokens()).toBe(3);
    await change(4);
    await delay(5);
    expect(tokens()).toBe(4);
    process.env["HOLDFAST_SESSION_CACHE_TTL_MS"] = "nonsense";
    await change(5);
    expect(tokens()).toBe(4);
    expect(await updateSessionStore(path, increment)).toBe(6);
  });
});

describe("writing", () => {
  it("writes an indented private file and leaves no temporary file", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    await writeFile(path, "{}");
    await chmod(path, 0o644);
    await updateSessionStore(path, increment);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, "utf8")).toBe(JSON.stringify({ k: entry("s", { inputTokens: 1 }) }, null, 2));
    expect(await readdir(folder.path)).toEqual(["sessions.json"]);
  });

  it("keeps unknown data", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const text = `{
  "__proto__": { "sessionId": "p", "updatedAt": 1, "__proto__": { "polluted": true } },
  "number": 5,
  "list": [1, null],
  "k": { "sessionId": "s", "updatedAt": 1, "snowflake": 1234567890123456789, "huge": 1e400, "half": 0.1, "x": "\\ud800" }
}`;
    await writeFile(path, text);
    await updateSessionStore(path, (store) => {
      expect(Object.keys(store)).toEqual(["__proto__", "number", "list", "k"]);
      store["k"] = { ...entry("s"), ...store["k"], model: "m" };
    });
    const written = await readFile(path, "utf8");
    expect(written).toContain('"snowflake": 1234567890123456789,');
    expect(written).toContain('"huge": 1e400,');
    const expected = JSON.parse(text) as SessionMap;
    Object.assign(expected["k"] as object, { model: "m" });
    expect(JSON.parse(written)).toEqual(expected);
    expect(loadSessionStore(path)["__proto__"]?.sessionId).toBe("p");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("round-trips any JSON", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    await assert(
      asyncProperty(dictionary(string(), jsonValue()), async (record) => {
        const expected = JSON.parse(JSON.stringify(record)) as unknown;
        await saveSessionStore(path, record as unknown as SessionMap);
        expect(JSON.parse(JSON.stringify(loadSessionStore(path, { skipCache: true })))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("commits waiting updates together, in order", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const counts = countFaultPoints();
    const results = await Promise.all(Array.from({ length: 200 }, () => updateSessionStore(path, increment)));
    expect(results).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(loadSessionStore(path)["k"]?.inputTokens).toBe(200);
    expect(counts.get("json.written")).toBeLessThanOrEqual(2);
  });

  it("keeps other updates when one mutator fails midway", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    await saveSessionStore(path, { a: entry("a", { origin: { label: "l" } }), b: entry("b") });
    const results = await Promise.allSettled([
      updateSessionStore(path, increment),
      updateSessionStore(path, async (store) => {
        if (store["a"]?.origin) store["a"].origin.label = "spoilt";
        delete store["b"];
        store["c"] = entry("c");
        await Promise.resolve();
        throw new Error("half way");
      }),
      updateSessionStore(path, (store) => {
        store["d"] = entry("d", { foreign: 5n });
      }),
      updateSessionStore(path, increment),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(loadSessionStore(path)).toEqual({
      a: entry("a", { origin: { label: "l" } }),
      b: entry("b"),
      k: entry("s", { inputTokens: 2 }),
    });
  });

  it("rejects all updates of a failed write, changes nothing and keeps working", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    await updateSessionStore(path, increment);
    installFaultAction((point) => {
      if (point === "file.temp-written") throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    });
    const results = await Promise.allSettled([
      updateSessionStore(path, increment),
      updateSessionStore(path, increment),
    ]);
    installFaultAction(undefined);
    expect(results).toMatchObject([
      { status: "rejected", reason: { code: "disk-full" } },
      { status: "rejected", reason: { code: "disk-full" } },
    ]);
    expect(loadSessionStore(path)["k"]?.inputTokens).toBe(1);
    expect(await readdir(folder.path)).toEqual(["sessions.json"]);
    expect(await updateSessionStore(path, increment)).toBe(2);
  });

  it("is not affected by later changes to a mutator's objects", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const mine = entry("s", { model: "m" });
    const returned = await updateSessionStore(path, (store) => (store["k"] = mine));
    mine.model = "changed";
    returned.model = "changed too";
    expect(loadSessionStore(path)["k"]?.model).toBe("m");
  });

  it("refuses an update inside an update instead of deadlocking", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const nested = updateSessionStore(path, async () => await updateSessionStore(path, increment));
    await expect(nested).rejects.toMatchObject({ code: "lock-reentered" });
    const inLock = withSessionStoreLock(path, async () => await saveSessionStore(path, {}));
    await expect(inLock).rejects.toMatchObject({ code: "lock-reentered" });
    expect(await updateSessionStore(path, increment)).toBe(1);
  });

  it("waits for the holder of the lock", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sessions.json");
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    const holding = withSessionStoreLock(path, async () => {
      held.resolve();
      await delay(30);
      order.push("lock");
    });
    await held.promise;
    const updating = updateSessionStore(path, () => order.push("update"));
    await Promise.all([holding, updating]);
    expect(order).toEqual(["lock", "update"]);
  });
});

describe("updateSessionStoreEntry", () => {
  it("merges a patch into an existing entry", async () => {
    await using folder = await temporaryFolder();
    const storePath = folder.join("sessions.json");
    await saveSessionStore(storePath, { k: entry("s", { model: "m", label: "l" }) });
    const before = Date.now();
    const updated = await updateSessionStoreEntry({
      storePath,
      sessionKey: "k",
      update: async (current) => {
        await Promise.resolve();
        return { model: `${current.model}2` };
      },
    });
    expect(updated).toMatchObject({ sessionId: "s", model: "m2", label: "l" });
    expect(updated?.updatedAt).toBeGreaterThanOrEqual(before);
    expect(loadSessionStore(storePath)["k"]).toEqual(updated);
  });

  it("changes nothing without an entry or without a patch", async () => {
    await using folder = await temporaryFolder();
    const storePath = folder.join("sessions.json");
    await saveSessionStore(storePath, { k: entry("s") });
    const text = await readFile(storePath, "utf8");
    const missing = await updateSessionStoreEntry({ storePath, sessionKey: "none", update: () => ({ model: "m" }) });
    expect(missing).toBeNull();
    const unchanged = await updateSessionStoreEntry({ storePath, sessionKey: "k", update: () => null });
    expect(unchanged).toEqual(entry("s"));
    expect(await readFile(storePath, "utf8")).toBe(text);
  });
});

it("loads and changes a store of 100,000 entries", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sessions.json");
  const many: SessionMap = {};
  for (let index = 0; index < 100_000; index++) many[`agent:main:telegram:dm:${index}`] = entry(`s-${index}`);
  await writeFile(path, JSON.stringify(many));
  await updateSessionStore(path, increment);
  const loaded = loadSessionStore(path);
  expect(Object.keys(loaded)).toHaveLength(100_001);
  expect(loaded["agent:main:telegram:dm:99999"]).toEqual(entry("s-99999"));
});

describe("store paths", () => {
  it("are in the agent's folder", () => {
    const folder = join(resolveHome(), "agents", "my-agent", "sessions");
    expect(resolveSessionTranscriptsDirForAgent("My Agent")).toBe(folder);
    expect(resolveDefaultSessionStorePath("My Agent")).toBe(join(folder, "sessions.json"));
    expect(resolveStorePath(undefined, { agentId: "My Agent" })).toBe(join(folder, "sessions.json"));
  });

  it("include agent and home, and an agent's name cannot escape them", () => {
    expect(resolveStorePath("/data/{agentId}/s.json", { agentId: "../../etc" })).toBe("/data/etc/s.json");
    expect(resolveStorePath("~/s.json")).toBe(join(process.env["HOME"] ?? "", "s.json"));
  });
});
