/** Indexes damaged in the middle, which ordinary use does not notice. */
import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, it } from "vitest";
import { only, soundHome } from "../../test/support/doctor-checks.ts";
import { createNativeIndex } from "../claude/index/create-native-index.ts";
import { fileExists } from "../base/files.ts";
import { claudeLayout } from "../config/layout.ts";

it("finds an index that is damaged in the middle, and deletes it", async () => {
  await using home = await soundHome("sqlite");
  const path = claudeLayout(home.home).index;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  createNativeIndex({ path, claudeHome: `${home.home}-claude`, threads: 0 }).close();
  expect(await home.doctor()).toMatchObject({ ok: true });
  {
    await using handle = await open(path, "r+");
    await handle.write(Buffer.alloc(16_384, 0xa5), 0, 16_384, Math.floor((await stat(path)).size / 32_768) * 16_384);
  }
  expect(only(await home.doctor(), "indexes")).toMatchObject({ severity: "error", path });
  expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 1 });
  expect(await fileExists(path)).toBe(false);
});
