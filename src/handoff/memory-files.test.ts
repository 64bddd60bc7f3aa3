import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { relatedMemoryFiles } from "./memory-files.ts";

describe("memory files about a project", () => {
  it("are those that mention it, newest first, up to a limit", async () => {
    await using folder = await temporaryFolder();
    mkdirSync(folder.join("memory"));
    writeFileSync(folder.join("MEMORY.md"), "The API of Shop-Floor is old.");
    writeFileSync(folder.join("memory", "2026-11-01-shop-floor.md"), "");
    writeFileSync(folder.join("memory", "2026-11-02.md"), "workshop-floors");
    writeFileSync(folder.join("memory", "2026-11-03.md"), "(shop-floor)");
    writeFileSync(folder.join("memory", "shop-floor.txt"), "shop-floor");
    expect(await relatedMemoryFiles(folder.path, { project: "shop-floor", agentId: "main" })).toEqual([
      "MEMORY.md",
      "memory/2026-11-03.md",
      "memory/2026-11-01-shop-floor.md",
    ]);
    for (let day = 10; day < 30; day++) writeFileSync(folder.join("memory", `2026-10-${day}.md`), "shop-floor");
    expect(await relatedMemoryFiles(folder.path, { project: "shop-floor", agentId: "main" })).toHaveLength(5);
  });

  it("are not found without a project or folder, or through a link", async () => {
    await using folder = await temporaryFolder();
    mkdirSync(folder.join("a", "memory"), { recursive: true });
    writeFileSync(folder.join("secret.md"), "general shop");
    symlinkSync(folder.join("secret.md"), folder.join("a", "memory", "link.md"));
    symlinkSync(folder.join("secret.md"), folder.join("a", "MEMORY.md"));
    expect(await relatedMemoryFiles(folder.join("a"), { project: "shop", agentId: "main" })).toEqual([]);
    expect(await relatedMemoryFiles(folder.join("a"), { project: "general", agentId: "main" })).toEqual([]);
    expect(await relatedMemoryFiles(folder.join("gone"), { project: "shop", agentId: "main" })).toEqual([]);
  });

  it("do not include everything if the project is named like the agent or a part of every key", async () => {
    await using folder = await temporaryFolder();
    mkdirSync(folder.join("memory"));
    const note = (name: string, text: string): void => {
      writeFileSync(folder.join("memory", name), `# Notes\n- Session Key: agent:main:telegram:dm:1\n${text}\n`);
    };
    note("2026-11-01.md", "The main reason is that Main, the agent, has merged into main.");
    note("2026-11-02.md", "In project `main` the parser is done.");
    note("2026-11-03.md", "## Main\nThe lexer is next.");
    note("2026-11-04.md", "The bot of Telegram is slow.");
    note("2026-11-05-main.md", "");
    const related = async (project: string): Promise<string[]> =>
      await relatedMemoryFiles(folder.path, { project, agentId: "main" });
    expect(await related("main")).toEqual([
      "memory/2026-11-05-main.md",
      "memory/2026-11-03.md",
      "memory/2026-11-02.md",
    ]);
    expect(await related("telegram")).toEqual(["memory/2026-11-04.md"]);
    expect(await related("Main")).toEqual(await related("main"));
    const elsewhere = await relatedMemoryFiles(folder.path, { project: "main", agentId: "work" });
    expect(elsewhere).toContain("memory/2026-11-01.md");
  });
});
