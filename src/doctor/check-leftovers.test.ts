/** Leftovers of ended processes. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEY, examine, soundHome } from "../../test/support/doctor-checks.ts";
import { abandonedLock, endedPid, startChild } from "../../test/support/child.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { fileExists } from "../base/files.ts";

describe.each(STORE_KINDS)("leftovers on %s", (kind) => {
  it("releases the lease of a process that has ended", async () => {
    await using home = await soundHome(kind);
    await startChild("store", { task: "die-with-lease", kind, home: home.home, leased: KEY }).ended();
    expect(await fileExists(`${home.layout.database}-wal`)).toBe(kind === "sqlite");
    expect(await examine(home, "leases")).toMatchObject({ key: KEY, message: expect.stringContaining("has ended") });
    await home.use(async (agent) => expect(await agent.store.leases.list()).toEqual([]));
  });

  it("releases abandoned locks and claims, but not those of live processes", async () => {
    await using home = await soundHome(kind);
    const pid = await endedPid();
    const stale = join(home.layout.sessionsFolder, "sessions.json.lock");
    const claim = join(home.layout.sessionsFolder, "x.jsonl.lock.claim-0123456789abcdef");
    const live = join(home.layout.sessionsFolder, "y.jsonl.lock");
    await writeFile(stale, abandonedLock(pid, "holdfast"), { mode: 0o600 });
    await writeFile(claim, abandonedLock(pid, "holdfast"), { mode: 0o600 });
    await writeFile(live, JSON.stringify({ pid: process.pid, startedAt: 1 }), { mode: 0o600 });
    const { findings } = await home.doctor();
    expect(findings.map(({ path }) => path)).toEqual([stale, claim]);
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 2 });
    expect(await home.doctor()).toMatchObject({ ok: true, findings: [] });
    expect(await fileExists(live)).toBe(true);
  });

  it("removes unfinished writes of dead processes only", async () => {
    await using home = await soundHome(kind);
    const left = `${home.layout.sessionsFile}.${await endedPid()}.0123456789ab.tmp`;
    const busy = join(home.layout.root, `x.${process.pid}.0123456789ab.tmp`);
    for (const path of [left, busy]) await writeFile(path, "{", { mode: 0o600 });
    expect(await examine(home, "leftovers")).toMatchObject({ path: left });
    expect(await fileExists(left)).toBe(false);
    expect(await fileExists(busy)).toBe(true);
  });

  it("lists files set aside earlier only with --deep, as info", async () => {
    await using home = await soundHome(kind);
    const name = `${home.sessionIds[0]}.jsonl.bak.2026-01-01T00-00-00.000Z`;
    await writeFile(join(home.layout.sessionsFolder, name), "x", { mode: 0o600 });
    expect((await home.doctor()).findings).toEqual([]);
    const { ok, findings } = await home.doctor({ deep: true });
    expect(ok).toBe(true);
    expect(findings).toMatchObject([{ severity: "info", path: join(home.layout.sessionsFolder, name) }]);
  });
});
