import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { relatedMemoryFiles } from "./memory-files.ts";

describe("memory files about a project", () => {
  it("are those that name it, newest first and not too many", async () => {
    await using folder = await temporaryFolder();
    mkdirSync(folder.join("memory"));
    writeFileSync(folder.join("MEMORY.md"), "The API of Shop-Floor is old.");
    writeFileSync(folder.join("memory", "2026-11-01-shop-floor.md"), "");
    writeFileSync(folder.join("memory", "2026-11-02.md"), "workshop-floors");
    writeFileSync(folder.join("memory", "2026-11-03.md"), "(shop-floor)");
    writeFileSync(folder.join("memory", "shop-floor.txt"), "shop-floor");
    expect(await relatedMemoryFiles(folder.path, "shop-floor")).toEqual([
      "MEMORY.md",
      "memory/2026-11-03.md",
      "memory/2026-11-01-shop-floor.md",
    ]);
    for (let day = 10; day < 30; day++) writeFileSync(folder.join("memory", `2026-10-${day}.md`), "shop-floor");
    expect(await relatedMemoryFiles(folder.path, "shop-floor")).toHaveLength(5);
  });

  it("are none without a project, a folder, or behind a link", async () => {
    await using folder = await temporaryFolder();
    mkdirSync(folder.join("a", "memory"), { recursive: true });
    writeFileSync(folder.join("secret.md"), "general shop");
    symlinkSync(folder.join("secret.md"), folder.join("a", "memory", "link.md"));
    symlinkSync(folder.join("secret.md"), folder.join("a", "MEMORY.md"));
    expect(await relatedMemoryFiles(folder.join("a"), "shop")).toEqual([]);
    expect(await relatedMemoryFiles(folder.join("a"), "general")).toEqual([]);
    expect(await relatedMemoryFiles(folder.join("gone"), "shop")).toEqual([]);
  });
});
