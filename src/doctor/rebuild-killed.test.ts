/** Rebuilds that were killed midway, and the adoption of an OpenClaw folder. */
import { cp, mkdir, readdir, truncate } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startChild } from "../../test/support/child.ts";
import { createDoctorHome, openDoctorHome } from "../../test/support/doctor-home.ts";
import { fill, idOf, repair, sessionIds, snapshot } from "../../test/support/doctor-checks.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import type { FaultPoint } from "../base/faults.ts";
import { fileExists } from "../base/files.ts";

const SET_ASIDE: [FaultPoint, number][] = [1, 2, 3].map((occurrence) => ["doctor.set-aside", occurrence]);
const BEFORE_RENAME: [FaultPoint, number][] = [["file.temp-synced", 1]];

describe.each(STORE_KINDS)("a killed rebuild on %s", (kind) => {
  const steps: [FaultPoint, number][] = [
    ["doctor.rebuilt", 1],
    ...(kind === "sqlite" ? SET_ASIDE : BEFORE_RENAME),
    ["doctor.replaced", 1],
  ];
  it.each(steps)("at %s (%i) is finished by the next run", async (point, occurrence) => {
    await using home = await createDoctorHome(kind);
    const before = await fill(home, 3);
    await truncate(kind === "sqlite" ? home.layout.database : home.layout.sessionsFile, 100);
    const child = startChild("home", { task: "doctor", home: home.home, kind, point, occurrence });
    expect(await child.ended()).toBe("SIGKILL");
    const killed = await home.doctor();
    expect(killed.findings.some(({ check }) => check === "store")).toBe(point !== "doctor.replaced");
    await home.doctor({ fix: true });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    const after = await snapshot(home);
    expect(after.windows).toEqual(before.windows);
    expect(sessionIds(after)).toEqual(sessionIds(before));
    const leftovers = await readdir(home.home, { recursive: true });
    expect(leftovers.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe.each(STORE_KINDS)("an OpenClaw folder with the %s store", (kind) => {
  const FIXTURE = fileURLToPath(new URL("../../test/fixtures/openclaw/v2026.1.30/after-rpc", import.meta.url));

  it("is adopted with every conversation", async () => {
    await using folder = await temporaryFolder();
    const home = openDoctorHome(folder.path, kind);
    await mkdir(home.layout.root, { recursive: true });
    await cp(FIXTURE, home.layout.sessionsFolder, { recursive: true });
    await repair(home);
    const { entries, windows } = await snapshot(home);
    expect(Object.fromEntries(Object.entries(windows).map(([key, list]) => [key, list.map(idOf).toSorted()]))).toEqual({
      "agent:main:main": ["0ce85868-7b98-4541-abaf-87da3fa6f579", "3ff36eb3-0993-4fd1-8649-5a4ec0f983aa"],
      "agent:main:discord:channel:123": ["bb3f1609-cb60-42d5-b31c-f5a2695be5ca"],
      "agent:main:recovered:11111111": ["11111111-1111-4111-8111-111111111111"],
      "agent:main:recovered:b083ce80": ["b083ce80-7643-4db8-b061-b135059208d6"],
    });
    expect(entries["agent:main:discord:channel:123"]).toHaveProperty("skillsSnapshot");
    const names = await readdir(home.layout.sessionsFolder);
    expect(names).toContain("d13a7928-dab7-48a0-a8c3-776cea07037a.jsonl.deleted.2026-11-15T18-06-39.971Z");
    expect(await fileExists(home.layout.sessionsFile)).toBe(true);
  });
});
