import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { runSelftest } from "../../src/selftest/selftest.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

const PATIENCE_MS = 120_000;

test("the selftest refuses a missing folder", async () => {
  await using folder = await temporaryFolder();
  const run = runSelftest({ folder: folder.join("missing"), seed: "1", minutes: 1 });
  await expect(run).rejects.toMatchObject({ kind: "usage", code: "folder-missing" });
});

test(
  "the selftest runs crash and lease tests and cleans up",
  async () => {
    await using folder = await temporaryFolder();
    let told = 0;
    const result = await runSelftest({
      folder: folder.path,
      seed: "1",
      minutes: 1,
      rounds: 4,
      takeovers: 4,
      onProgress: () => told++,
    });
    expect(result).toMatchObject({ ok: true, seed: "1", crashes: { failures: [] } });
    // Of four processes that contend for a session, one takes over from a killed or paused holder, and the paused one is
    // rejected when it resumes.
    expect(result.leases).toMatchObject([
      { kind: "sqlite", killed: 2, paused: 2, problems: [] },
      { kind: "json", killed: 2, paused: 2, problems: [] },
    ]);
    for (const { acknowledged } of result.leases) expect(acknowledged).toBeGreaterThan(0);
    expect(told).toBeGreaterThanOrEqual(result.crashes.kills);
    expect(await readdir(folder.path)).toEqual([]);
  },
  PATIENCE_MS,
);
