/** Doctor on a whole home: permissions, ownership and homes without problems. */
import { chmod, mkdir, readFile, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEY, soundHome } from "../../test/support/doctor-checks.ts";
import { createDoctorHome, fingerprint } from "../../test/support/doctor-home.ts";
import { abandonedLock, endedPid } from "../../test/support/child.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { claudeLayout } from "../config/layout.ts";

describe.each(STORE_KINDS)("doctor on %s", (kind) => {
  it("finds no problems in a sound home and changes nothing", async () => {
    await using home = await soundHome(kind);
    const before = await fingerprint(home.home);
    expect(await home.doctor({ deep: true })).toEqual({
      ok: true,
      fixed: 0,
      findings: [],
      checked: { agents: 1, sessions: 1, transcripts: 2 },
    });
    expect(await fingerprint(home.home)).toBe(before);
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    expect(await fingerprint(home.home)).toBe(before);
  });

  it("does not report an agent without sessions as lost", async () => {
    await using home = await createDoctorHome(kind);
    await mkdir(home.layout.root, { recursive: true, mode: 0o700 });
    await chmod(join(home.home, "agents"), 0o700);
    const before = await fingerprint(home.home);
    expect(await home.doctor()).toMatchObject({ ok: true, checked: { sessions: 0 } });
    expect(await fingerprint(home.home)).toBe(before);
  });

  it("makes folders and files private again", async () => {
    await using home = await soundHome(kind);
    await chmod(home.layout.sessionsFolder, 0o755);
    await chmod(home.layout.sessionsFile, 0o644);
    const found = await home.doctor();
    expect(found.findings.map(({ check }) => check)).toEqual(["permissions", "permissions"]);
    await home.doctor({ fix: true });
    expect((await stat(home.layout.sessionsFolder)).mode & 0o777).toBe(0o700);
    expect((await stat(home.layout.sessionsFile)).mode & 0o777).toBe(0o600);
    expect(await home.doctor()).toMatchObject({ ok: true });
  });

  it("checks the files about Claude Code's sessions too", async () => {
    await using home = await soundHome(kind);
    const { root, locksFolder, archiveFolder } = claudeLayout(home.home);
    for (const folder of [root, locksFolder, archiveFolder]) await mkdir(folder, { recursive: true, mode: 0o755 });
    const copy = join(archiveFolder, "copy.json");
    await writeFile(copy, "{}", { mode: 0o644 });
    const lock = join(locksFolder, "session-1.lock");
    await writeFile(lock, abandonedLock(await endedPid(), "holdfast"), { mode: 0o600 });
    const { findings } = await home.doctor({ fix: true });
    expect(findings.map(({ check, path }) => `${check} ${path}`)).toEqual([
      `permissions ${root}`,
      `permissions ${locksFolder}`,
      `permissions ${archiveFolder}`,
      `permissions ${archiveFolder}`,
      `locks ${lock}`,
    ]);
    expect((await stat(locksFolder)).mode & 0o777).toBe(0o700);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
    expect(await home.doctor()).toMatchObject({ ok: true, findings: [] });
  });

  it("reports keys of other agents and invalid entries", async () => {
    await using home = await soundHome(kind);
    const sessions = JSON.parse(String(await readFile(home.layout.sessionsFile))) as Record<string, unknown>;
    const strange = { "agent:other:main": sessions[KEY], "agent:main:x": [], "TELEGRAM:dm:7": sessions[KEY] };
    await writeFile(home.layout.sessionsFile, JSON.stringify({ ...sessions, ...strange }));
    const { findings } = await home.doctor();
    expect(findings.filter(({ check }) => check === "keys")).toMatchObject([
      { severity: "warning", key: "agent:other:main" },
      { severity: "warning", key: "agent:main:x" },
      { severity: "info", key: "TELEGRAM:dm:7" },
    ]);
    expect(findings.some(({ check }) => check === "view")).toBe(kind === "sqlite");
    const report = await home.doctor({ fix: true });
    expect(report.ok).toBe(false);
    const names = await readdir(home.layout.sessionsFolder);
    const kept = names.find((name) => name.includes(".replaced-")) ?? "sessions.json";
    expect(JSON.parse(String(await readFile(join(home.layout.sessionsFolder, kept))))).toMatchObject(strange);
  });
});
