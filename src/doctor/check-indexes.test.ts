/** Indexes that are damaged where ordinary use does not notice it, or cannot be opened. */
import { mkdir, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { only, soundHome } from "../../test/support/doctor-checks.ts";
import { createNativeIndex } from "../claude/index/create-native-index.ts";
import { fileExists } from "../base/files.ts";
import { claudeLayout } from "../config/layout.ts";

const DAMAGES: [string, (path: string) => Promise<void>][] = [
  ["is damaged in the middle", overwriteMiddle],
  ["is a folder", replaceByFolder],
];

it.each(DAMAGES)("finds an index that %s, and deletes it", async (_what, damage) => {
  await using home = await soundHome("sqlite");
  const path = claudeLayout(home.home).index;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  createNativeIndex({ path, claudeHome: `${home.home}-claude`, threads: 0 }).close();
  expect(await home.doctor()).toMatchObject({ ok: true });
  await damage(path);
  expect(only(await home.doctor(), "indexes")).toMatchObject({ severity: "error", path });
  expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 1 });
  expect(await fileExists(path)).toBe(false);
});

async function overwriteMiddle(path: string): Promise<void> {
  await using handle = await open(path, "r+");
  await handle.write(Buffer.alloc(16_384, 0xa5), 0, 16_384, Math.floor((await stat(path)).size / 32_768) * 16_384);
}

async function replaceByFolder(path: string): Promise<void> {
  await rm(path);
  await mkdir(path, { mode: 0o700 });
}
