/** Every check on real damaged folders: what is found, what is mended, and that nothing is left. */
import { appendFile, chmod, mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import { claudeLayout } from "../config/layout.ts";
import { archiveSession, archiveWindow, restoreSession } from "../session/archive.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import { type DoctorHome, doctorHome, fingerprint, reset, say } from "../../test/support/doctor-home.ts";
import { abandonedLock, endedPid } from "../../test/support/run-lock-child.ts";
import { runStoreChild } from "../../test/support/run-store-child.ts";
import { STORE_KINDS } from "../../test/support/test-agent.ts";
import { HEADER, messageLine, writeLines } from "../../test/support/transcripts.ts";
import type { CheckName, Finding } from "./finding.ts";
import { type DoctorReport, runDoctor } from "./run-doctor.ts";

const KEY = "agent:main:telegram:dm:7";

describe.each(STORE_KINDS)("doctor on %s", (kind) => {
  /** A home in which one session with two windows is in order. */
  async function soundHome(): Promise<DoctorHome & { sessionIds: string[] }> {
    const home = await doctorHome(kind);
    const sessionIds = await home.use(async (agent) => {
      const first = await say(agent, KEY, "one");
      home.clock.advance(1000);
      const second = await reset(agent, KEY);
      await say(agent, KEY, "two");
      return [first, second];
    });
    return { ...home, sessionIds };
  }

  it("finds nothing wrong with what is in order, and changes nothing", async () => {
    await using home = await soundHome();
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

  it("makes folders and files private again", async () => {
    await using home = await soundHome();
    await chmod(home.layout.sessionsFolder, 0o755);
    await chmod(home.layout.sessionsFile, 0o644);
    const found = await home.doctor();
    expect(found.findings.map(({ check }) => check)).toEqual(["permissions", "permissions"]);
    await home.doctor({ fix: true });
    expect((await stat(home.layout.sessionsFolder)).mode & 0o777).toBe(0o700);
    expect((await stat(home.layout.sessionsFile)).mode & 0o777).toBe(0o600);
    expect(await home.doctor()).toMatchObject({ ok: true });
  });

  it("looks at what is kept of Claude Code's sessions as well", async () => {
    await using home = await soundHome();
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

  it("sets a torn tail aside", async () => {
    await using home = await soundHome();
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[1]}.jsonl`);
    const whole = await readFile(path, "utf8");
    await appendFile(path, '{"type":"mess');
    expect(await examine(home, "transcripts")).toMatchObject({
      key: KEY,
      path,
      message: expect.stringContaining("13 bytes"),
    });
    expect(await readFile(path, "utf8")).toBe(whole);
    const names = await readdir(home.layout.sessionsFolder);
    expect(names.filter((name) => name.includes(".torn-"))).toHaveLength(1);
  });

  it("leaves a torn tail alone while somebody writes the session", async () => {
    await using home = await soundHome();
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[1]}.jsonl`);
    await appendFile(path, '{"type":"mess');
    await home.use(async (agent) => {
      const { acquired } = await agent.store.leases.acquire(KEY, { ttlMs: 600_000 });
      expect(acquired).toBe(true);
      const report = await home.doctor({ fix: true });
      expect(report.findings.filter(({ check }) => check === "transcripts")).toEqual([]);
      expect(await readFile(path, "utf8")).toMatch(/mess$/);
    });
  });

  it("gives an empty transcript its header", async () => {
    await using home = await soundHome();
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    await writeFile(path, "");
    expect(await examine(home, "transcripts")).toMatchObject({ message: "Has no header" });
    expect(JSON.parse(String(await readFile(path)))).toMatchObject({ type: "session", id: home.sessionIds[0] });
  });

  it("reports a transcript of garbage and leaves it as it is", async () => {
    await using home = await soundHome();
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    await writeFile(path, Buffer.from([0, 1, 2, 10, 255, 254, 10]));
    const report = await home.doctor({ fix: true });
    expect(only(report, "transcripts").fix).toBeUndefined();
    expect(report.ok).toBe(false);
    expect(await readFile(path)).toEqual(Buffer.from([0, 1, 2, 10, 255, 254, 10]));
  });

  it("reads every line only when asked to, and tells which are wrong", async () => {
    await using home = await soundHome();
    const path = join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`);
    await writeLines(path, [
      { ...HEADER, id: home.sessionIds[0] },
      messageLine("00000001", null, "one"),
      "no JSON",
      messageLine("00000001", null, "another"),
      messageLine("00000003", "00000009", "lost"),
      messageLine("00000004", "00000004", "itself"),
      messageLine("00000005", "00000004", "fine"),
    ]);
    await chmod(path, 0o600);
    expect(await home.doctor()).toMatchObject({ ok: true });
    const { ok, findings } = await home.doctor({ deep: true });
    expect(ok).toBe(false);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Line 3: invalid JSON/),
      expect.stringMatching(/^Line 4: entry 00000001 has the id of an earlier/),
      expect.stringMatching(/^Line 5: parent 00000009 of entry 00000003 is missing/),
      expect.stringMatching(/^Line 6: entry 00000004 is its own parent/),
    ]);
  });

  it("archives a transcript that a crash left between the two phases of a reset", async () => {
    await using home = await soundHome();
    const orphan = await home.use(async (agent) => {
      const sessionId = await reset(agent, KEY);
      const window = (await agent.store.windows(KEY)).at(-2);
      // As if the key had never moved.
      await agent.store.update(
        KEY,
        (entry) => entry && withSession(entry, window?.sessionId ?? "", agent.sessionsFolder),
      );
      await agent.store.removeWindow(KEY, sessionId);
      return `${sessionId}.jsonl`;
    });
    expect(await examine(home, "orphans")).toMatchObject({ fix: "move it to the archive" });
    expect(await fileExists(join(home.layout.archiveFolder, orphan))).toBe(true);
    await home.use(async (agent) => expect(await agent.store.windows(KEY)).toHaveLength(2));
  });

  it("gives a conversation back to its session as a closed window", async () => {
    await using home = await soundHome();
    await home.use(async (agent) => void (await agent.store.removeWindow(KEY, home.sessionIds[0] ?? "")));
    expect(await examine(home, "orphans")).toMatchObject({ key: KEY });
    await home.use(async (agent) => {
      const windows = await agent.store.windows(KEY);
      expect(windows.map(({ sessionId }) => sessionId)).toEqual(home.sessionIds);
      expect(windows[0]).toMatchObject({ reason: "initial", closedAt: expect.any(Number) });
    });
  });

  it("makes a session for conversations that have none", async () => {
    await using home = await soundHome();
    await home.use(async (agent) => void (await agent.store.delete(KEY)));
    const path = join(home.layout.sessionsFolder, "abcdef12-3456.jsonl");
    await writeLines(path, [{ ...HEADER, id: "abcdef12-3456" }, messageLine("00000001", null, "from another tool")]);
    await chmod(path, 0o600);
    const found = await home.doctor();
    expect(found.findings.filter(({ check }) => check === "orphans")).toHaveLength(3);
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 3 });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    await home.use(async (agent) => {
      expect((await agent.store.windows(KEY)).map(({ sessionId }) => sessionId)).toEqual(home.sessionIds);
      expect(await agent.store.get("agent:main:recovered:abcdef12")).toMatchObject({ sessionId: "abcdef12-3456" });
    });
  });

  it("reports a window whose transcript is missing, and cannot help", async () => {
    await using home = await soundHome();
    await rm(join(home.layout.sessionsFolder, `${home.sessionIds[0]}.jsonl`));
    const report = await home.doctor({ fix: true });
    expect(only(report, "windows")).toMatchObject({ severity: "error", key: KEY });
    expect(only(report, "windows").fix).toBeUndefined();
    expect(report.ok).toBe(false);
  });

  it("brings a transcript back that lies in the archive although its window is in use", async () => {
    await using home = await soundHome();
    const name = `${home.sessionIds[0]}.jsonl`;
    await mkdir(home.layout.archiveFolder, { mode: 0o700 });
    await rename(join(home.layout.sessionsFolder, name), join(home.layout.archiveFolder, name));
    expect(await examine(home, "windows")).toMatchObject({ key: KEY });
    expect(await fileExists(join(home.layout.sessionsFolder, name))).toBe(true);
  });

  it("releases the lease of a process that has ended", async () => {
    await using home = await soundHome();
    await runStoreChild({ task: "die-with-lease", kind, home: home.home, key: KEY });
    expect(await fileExists(`${home.layout.database}-wal`)).toBe(kind === "sqlite");
    expect(await examine(home, "leases")).toMatchObject({ key: KEY, message: expect.stringContaining("has ended") });
    await home.use(async (agent) => expect(await agent.store.leases.list()).toEqual([]));
  });

  it("releases abandoned locks and claims, and leaves those of live processes", async () => {
    await using home = await soundHome();
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
    await using home = await soundHome();
    const left = `${home.layout.sessionsFile}.${await endedPid()}.0123456789ab.tmp`;
    const busy = join(home.layout.root, `x.${process.pid}.0123456789ab.tmp`);
    for (const path of [left, busy]) await writeFile(path, "{", { mode: 0o600 });
    expect(await examine(home, "leftovers")).toMatchObject({ path: left });
    expect(await fileExists(left)).toBe(false);
    expect(await fileExists(busy)).toBe(true);
  });

  it("sets an unreadable manifest aside and brings its conversations back", async () => {
    await using home = await soundHome();
    const manifest = await home.use(async (agent) => (await archiveSession(agent, KEY)).id);
    await writeFile(join(home.layout.archiveFolder, `${manifest}.json`), "{");
    const found = await home.doctor();
    expect(found.findings.map(({ check }) => check)).toEqual(["archive", "archive", "archive"]);
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    const names = await readdir(home.layout.archiveFolder);
    expect(names).toEqual([expect.stringContaining(".json.corrupt-")]);
    await home.use(async (agent) => {
      expect((await agent.store.windows(KEY)).map(({ sessionId }) => sessionId)).toEqual(home.sessionIds);
    });
  });

  it("finishes archiving when the store had let go of the session", async () => {
    await using home = await soundHome();
    const name = `${home.sessionIds[0]}.jsonl`;
    await home.use(async (agent) => void (await archiveSession(agent, KEY)));
    await rename(join(home.layout.archiveFolder, name), join(home.layout.sessionsFolder, name));
    expect(await examine(home, "archive")).toMatchObject({ key: KEY, fix: "move it to the archive" });
    expect(await fileExists(join(home.layout.archiveFolder, name))).toBe(true);
  });

  it("keeps a session in use whose archiving or restoring was interrupted", async () => {
    await using home = await soundHome();
    const { id, content } = await home.use(async (agent) => {
      const record = await archiveSession(agent, KEY);
      const path = join(agent.archiveFolder, `${record.id}.json`);
      const text = await readFile(path);
      await restoreSession(agent, record.id);
      await agent.store.removeWindow(KEY, home.sessionIds[0] ?? "");
      return { id: record.id, content: text };
    });
    await writeFile(join(home.layout.archiveFolder, `${id}.json`), content, { mode: 0o600 });
    const found = await home.doctor();
    expect(only(found, "archive")).toMatchObject({ key: KEY });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    await home.use(async (agent) => {
      expect((await agent.store.windows(KEY)).map(({ sessionId }) => sessionId)).toEqual(home.sessionIds);
      await expect(restoreSession(agent, id)).rejects.toThrow(HoldfastError);
    });
  });

  it("finishes moving the transcript of an archived window", async () => {
    await using home = await soundHome();
    const name = `${home.sessionIds[0]}.jsonl`;
    await home.use(async (agent) => {
      const [window] = await agent.store.windows(KEY);
      if (window !== undefined) await archiveWindow(agent, window);
    });
    await rename(join(home.layout.archiveFolder, name), join(home.layout.sessionsFolder, name));
    expect(await examine(home, "archive")).toMatchObject({ key: KEY });
    expect(await fileExists(join(home.layout.archiveFolder, name))).toBe(true);
  });

  it("lists what was set aside earlier only with --deep, and as no problem", async () => {
    await using home = await soundHome();
    const name = `${home.sessionIds[0]}.jsonl.bak.2026-01-01T00-00-00.000Z`;
    await writeFile(join(home.layout.sessionsFolder, name), "x", { mode: 0o600 });
    expect((await home.doctor()).findings).toEqual([]);
    const { ok, findings } = await home.doctor({ deep: true });
    expect(ok).toBe(true);
    expect(findings).toMatchObject([{ severity: "info", path: join(home.layout.sessionsFolder, name) }]);
  });

  it("does not take a folder without any session for a lost store", async () => {
    await using home = await doctorHome(kind);
    await mkdir(home.layout.root, { recursive: true, mode: 0o700 });
    await chmod(join(home.home, "agents"), 0o700);
    const before = await fingerprint(home.home);
    expect(await home.doctor()).toMatchObject({ ok: true, checked: { sessions: 0 } });
    expect(await fingerprint(home.home)).toBe(before);
  });

  it("brings back a session of which only windows are left", async () => {
    await using home = await soundHome();
    await home.use(async ({ store }) => {
      const [window] = (await store.delete(KEY))?.windows ?? [];
      if (window !== undefined) await store.putWindow({ ...window, closedAt: window.openedAt });
    });
    const found = await home.doctor();
    expect(only(found, "windows")).toMatchObject({ key: KEY, message: "Windows of a session that is not there" });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    await home.use(async ({ store }) => {
      const windows = await store.windows(KEY);
      expect(windows.map(({ sessionId }) => sessionId).toSorted()).toEqual(home.sessionIds.toSorted());
    });
  });

  it("does not take a transcript for an orphan while its window may still be opening", async () => {
    await using home = await soundHome();
    const path = join(home.layout.sessionsFolder, "opening.jsonl");
    await writeLines(path, [{ ...HEADER, id: "opening" }]);
    await chmod(path, 0o600);
    const options = { home: home.home, fix: true, agents: [await home.scope()] };
    expect(await runDoctor(options)).toMatchObject({ ok: true, findings: [] });
    expect(await home.doctor({ fix: true })).toMatchObject({ fixed: 1 });
  });

  it("reports keys that are not this agent's, and values that are no entries", async () => {
    await using home = await soundHome();
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

  it("names transcripts of the current window by what the entry says", async () => {
    await using home = await soundHome();
    await home.use(async (agent) => {
      const entry = await agent.store.get(KEY);
      if (entry === undefined) throw new Error("no entry");
      const path = transcriptPath(agent, entry);
      const elsewhere = { ...entry, sessionFile: `/another/machine/${basename(path)}` };
      await agent.store.update(KEY, () => elsewhere);
    });
    expect((await home.doctor()).findings.filter(({ check }) => check !== "view")).toEqual([]);
  });
});

/** Looks, which must change nothing; mends; looks again, when nothing may be left. */
async function examine(home: DoctorHome, check: CheckName, options: { deep?: boolean } = {}): Promise<Finding> {
  const before = await fingerprint(home.home);
  const found = await home.doctor(options);
  expect(await fingerprint(home.home)).toBe(before);
  expect(found.ok).toBe(false);
  const mended = await home.doctor({ fix: true, ...options });
  expect(mended.findings.filter(({ failure }) => failure !== undefined)).toEqual([]);
  expect(mended).toMatchObject({ ok: true });
  expect(await home.doctor({ fix: true, ...options })).toMatchObject({ ok: true, fixed: 0 });
  return only(found, check);
}

function only({ findings }: DoctorReport, check: CheckName): Finding {
  const found = findings.filter((finding) => finding.check === check);
  expect(found).toHaveLength(1);
  const [finding] = found;
  if (finding === undefined) throw new Error("no finding");
  return finding;
}

function withSession<Entry extends { sessionId: string }>(entry: Entry, sessionId: string, folder: string): Entry {
  return { ...entry, sessionId, sessionFile: join(folder, `${sessionId}.jsonl`) };
}
