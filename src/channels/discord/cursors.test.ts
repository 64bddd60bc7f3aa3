import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { silentLogger } from "../../base/log.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { openCursors } from "./cursors.ts";

it("knows a channel on disk before its first message counts, and never moves back", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("deep", "cursors.json");
  const cursors = await openCursors(path, silentLogger);
  await cursors.know("1", "100");
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ version: 1, channels: { "1": "99" } });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  cursors.advance("1", "120");
  cursors.advance("1", "110");
  await cursors.know("1", "5");
  await cursors.flush();
  expect((await openCursors(path, silentLogger)).get("1")).toBe("120");
});

it("goes on when the disk refuses, and writes everything when it no longer does", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("cursors.json");
  const cursors = await openCursors(path, silentLogger);
  await mkdir(path);
  cursors.advance("1", "10");
  cursors.advance("2", "20");
  await expect(cursors.know("3", "30")).rejects.toMatchObject({ name: "HoldfastError" });
  await rm(path, { recursive: true });
  await cursors.flush();
  const again = await openCursors(path, silentLogger);
  expect(Object.fromEntries(again.all())).toEqual({ "1": "10", "2": "20", "3": "29" });
});

it("refuses a file of another version and drops entries that are no ids", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("cursors.json");
  await writeFile(path, JSON.stringify({ version: 2, channels: {} }));
  await expect(openCursors(path, silentLogger)).rejects.toMatchObject({ code: "discord-cursors-unreadable" });
  await writeFile(path, JSON.stringify({ version: 1, channels: { "1": "2", x: "3", "4": "../5" } }));
  expect(Object.fromEntries((await openCursors(path, silentLogger)).all())).toEqual({ "1": "2" });
});
