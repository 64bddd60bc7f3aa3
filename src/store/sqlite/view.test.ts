import { readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { silentLogger } from "../../base/log.ts";
import { agentLayout } from "../../config/layout.ts";
import type { Store } from "../store.ts";
import { type SqliteStoreOptions, createSqliteStore, createView } from "./sqlite-store.ts";

const viewIn = (folder: TemporaryFolder) => agentLayout(folder.path, "main").sessionsFile;

async function openIn(folder: TemporaryFolder, more: Partial<SqliteStoreOptions> = {}): Promise<Store> {
  const { database, sessionsFile } = agentLayout(folder.path, "main");
  return await createSqliteStore({ path: database, viewPath: sessionsFile, agentId: "main", ...more });
}

describe("the view sessions.json", () => {
  it.each(["inline", "thread"] as const)("shows whole entries in OpenClaw's layout (%s)", async (execution) => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder, { execution });
    const entries = {
      "agent:main:main": {
        sessionId: "s-1",
        updatedAt: 1,
        displayName: "line\nbreak",
        skillsSnapshot: { prompt: "p".repeat(3_000), skills: [{ name: "a" }] },
      },
      "agent:main:telegram:group:7": { sessionId: "s-2", updatedAt: 2, deliveryContext: { channel: "telegram" } },
    };
    for (const [key, entry] of Object.entries(entries)) await store.update(key, () => entry);
    await store.close();
    expect(await readFile(viewIn(folder), "utf8")).toBe(JSON.stringify(entries, null, 2));
  });

  it("follows changes without being asked", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder);
    await store.update("main", () => ({ sessionId: "s-1", updatedAt: 1 }));
    await vi.waitFor(async () => expect(await readFile(viewIn(folder), "utf8")).toContain("s-1"), 10_000);
    await store.delete("main");
    await store.close();
    expect(await readFile(viewIn(folder), "utf8")).toBe("{}");
  });

  it("is not rewritten when nothing it shows has changed, and never read back", async () => {
    await using folder = await temporaryFolder();
    const first = await openIn(folder);
    await first.update("main", () => ({ sessionId: "s-1", updatedAt: 1 }));
    await first.close();
    await writeFile(viewIn(folder), "{}");
    const second = await openIn(folder);
    await second.leases.acquire("main", { ttlMs: 1_000 });
    expect((await second.list()).total).toBe(1);
    await second.close();
    expect(await readFile(viewIn(folder), "utf8")).toBe("{}");
  });

  it("shows the changes of every process, whichever closes last", async () => {
    await using folder = await temporaryFolder();
    const [one, two] = [await openIn(folder), await openIn(folder)];
    await one.update("one", () => ({ sessionId: "s-1", updatedAt: 1 }));
    await two.update("two", () => ({ sessionId: "s-2", updatedAt: 2 }));
    await Promise.all([two.close(), one.close()]);
    expect(Object.keys(JSON.parse(await readFile(viewIn(folder), "utf8")) as object)).toEqual([
      "agent:main:one",
      "agent:main:two",
    ]);
  });

  it("is brought up to date by a long-running process after another was killed", async () => {
    await using folder = await temporaryFolder();
    const killed = await openIn(folder, { viewPath: undefined });
    await killed.update("main", () => ({ sessionId: "s-1", updatedAt: 1 }));
    const store = await openIn(folder, { execution: "thread" });
    await store.close();
    await killed.close();
    expect(await readFile(viewIn(folder), "utf8")).toContain("s-1");
  });

  it("is not written without a path for it", async () => {
    await using folder = await temporaryFolder();
    const store = await openIn(folder, { viewPath: undefined });
    await store.update("main", () => ({ sessionId: "s-1", updatedAt: 1 }));
    await store.close();
    await expect(stat(viewIn(folder))).rejects.toThrow("ENOENT");
  });
});

describe("createView", () => {
  it("makes one rewrite of many changes, and one more for a change during the rewrite", async () => {
    let writes = 0;
    const view = createView(async () => {
      writes++;
      if (writes === 1) view.touch();
      await Promise.resolve();
    }, silentLogger);
    for (let index = 0; index < 100; index++) view.touch();
    await view.flush();
    expect(writes).toBe(1);
    await view.flush();
    await view.flush();
    expect(writes).toBe(2);
  });

  it("logs a failure and continues", async () => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    let isBroken = true;
    let writes = 0;
    const view = createView(async () => {
      await Promise.resolve();
      if (isBroken) throw new Error("disk full");
      writes++;
    }, logger);
    view.touch();
    await view.flush();
    expect(warnings).toHaveLength(1);
    isBroken = false;
    view.touch();
    await view.flush();
    expect(writes).toBe(1);
  });
});
