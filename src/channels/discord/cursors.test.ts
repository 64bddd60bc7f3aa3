import { dirname } from "node:path";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { silentLogger } from "../../base/log.ts";
import { openCursors, planCatchUp } from "./cursors.ts";
import { createDocumentFiles } from "../../store/document-files.ts";

it("stores a channel before its first message, and never moves back", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("deep", "cursors.json");
  const cursors = await openCursors(createDocumentFiles(dirname(path)), silentLogger);
  await cursors.know("1", "100");
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ version: 1, channels: { "1": "99" } });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  cursors.advance("1", "120");
  cursors.advance("1", "110");
  await cursors.know("1", "5");
  await cursors.flush();
  expect((await openCursors(createDocumentFiles(dirname(path)), silentLogger)).get("1")).toBe("120");
});

it("continues after a failed write, and writes everything later", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("cursors.json");
  const cursors = await openCursors(createDocumentFiles(dirname(path)), silentLogger);
  await mkdir(path);
  cursors.advance("1", "10");
  cursors.advance("2", "20");
  await expect(cursors.know("3", "30")).rejects.toMatchObject({ name: "HoldfastError" });
  await rm(path, { recursive: true });
  await cursors.flush();
  const again = await openCursors(createDocumentFiles(dirname(path)), silentLogger);
  expect(Object.fromEntries(again.all())).toEqual({ "1": "10", "2": "20", "3": "29" });
});

it("refuses a file of another version and skips invalid entries", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("cursors.json");
  await writeFile(path, JSON.stringify({ version: 2, channels: {} }));
  await expect(openCursors(createDocumentFiles(dirname(path)), silentLogger)).rejects.toMatchObject({
    code: "discord-cursors-unreadable",
  });
  await writeFile(path, JSON.stringify({ version: 1, channels: { "1": "2", x: "3", "4": "../5" } }));
  expect(Object.fromEntries((await openCursors(createDocumentFiles(dirname(path)), silentLogger)).all())).toEqual({
    "1": "2",
  });
});

it("starts at the end when no cursor is known", () => {
  const plan = planCatchUp(new Map(), [
    { id: "10", lastMessageId: "50" },
    { id: "20", lastMessageId: undefined },
  ]);
  expect(plan.fetch).toEqual([]);
  expect(plan.seeds).toEqual([
    { channelId: "10", at: "50" },
    { channelId: "20", at: "20" },
  ]);
});

it("fetches only channels with new messages", () => {
  const cursors = new Map([
    ["10", "50"],
    ["11", "60"],
    ["12", "9"],
  ]);
  const plan = planCatchUp(cursors, [
    { id: "10", lastMessageId: "55" },
    { id: "11", lastMessageId: "60" },
    // Longer numbers are newer, whatever their first digit.
    { id: "12", lastMessageId: "10" },
  ]);
  expect(plan.fetch).toEqual([
    { channelId: "10", after: "50" },
    { channelId: "12", after: "9" },
  ]);
  expect(plan.seeds).toEqual([]);
});

it("fetches all of a channel created meanwhile, and nothing of an old one that became visible", () => {
  const plan = planCatchUp(new Map([["10", "50"]]), [
    { id: "10", lastMessageId: "50" },
    { id: "70", lastMessageId: "75" },
    { id: "30", lastMessageId: "75" },
    { id: "80", lastMessageId: undefined },
  ]);
  expect(plan.fetch).toEqual([{ channelId: "70", after: "70" }]);
  expect(plan.seeds).toEqual([{ channelId: "30", at: "75" }]);
});

it("fetches the most recent private chats and counts the rest", () => {
  const cursors = new Map(Array.from({ length: 130 }, (_, index) => [String(1000 + index), String(5000 + index)]));
  const plan = planCatchUp(cursors, []);
  expect(plan.fetch).toHaveLength(100);
  expect(plan.fetch[0]).toEqual({ channelId: "1129", after: "5129" });
  expect(plan.skipped).toBe(30);
});
