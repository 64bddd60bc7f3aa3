/** Windows without their transcripts, and transcripts without a window. */
import { chmod, mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEY, examine, only, soundHome } from "../../test/support/doctor-checks.ts";
import { reset } from "../../test/support/doctor-home.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { HEADER, messageLine, writeLines } from "../../test/support/transcripts.ts";
import { fileExists } from "../base/files.ts";
import { transcriptPath } from "../session/agent-handle.ts";
import { runDoctor } from "./run-doctor.ts";
import { foldersOf } from "../../test/support/stores.ts";

describe.each(STORE_KINDS)("windows on %s", (kind) => {
  it("archives a transcript that a crash left between the two phases of a reset", async () => {
    await using home = await soundHome(kind);
    const orphan = await home.use(async (agent) => {
      const sessionId = await reset(agent, KEY);
      const window = (await agent.store.windows(KEY)).at(-2);
      // As if the key had never moved.
      await agent.store.update(
        KEY,
        (entry) => entry && withSession(entry, window?.sessionId ?? "", foldersOf(agent).sessions),
      );
      await agent.store.removeWindow(KEY, sessionId);
      return `${sessionId}.jsonl`;
    });
    // Nothing was lost, so it is not a problem.
    const found = await home.doctor({ fix: true });
    expect(found).toMatchObject({ ok: true, fixed: 1, findings: [{ check: "orphans", severity: "info" }] });
    expect(await fileExists(join(home.layout.archiveFolder, orphan))).toBe(true);
    await home.use(async (agent) => expect(await agent.store.windows(KEY)).toHaveLength(2));
  });

  it("gives a conversation back to its session as a closed window", async () => {
    await using home = await soundHome(kind);
    await home.use(async (agent) => void (await agent.store.removeWindow(KEY, home.sessionIds[0] ?? "")));
    expect(await examine(home, "orphans")).toMatchObject({ key: KEY });
    await home.use(async (agent) => {
      const windows = await agent.store.windows(KEY);
      expect(windows.map(({ sessionId }) => sessionId)).toEqual(home.sessionIds);
      expect(windows[0]).toMatchObject({ reason: "initial", closedAt: expect.any(Number) });
    });
  });

  it("creates sessions for conversations without one", async () => {
    await using home = await soundHome(kind);
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

  it("moves the transcript of an open window back from the archive", async () => {
    await using home = await soundHome(kind);
    const name = `${home.sessionIds[0]}.jsonl`;
    await mkdir(home.layout.archiveFolder, { mode: 0o700 });
    await rename(join(home.layout.sessionsFolder, name), join(home.layout.archiveFolder, name));
    expect(await examine(home, "windows")).toMatchObject({ key: KEY });
    expect(await fileExists(join(home.layout.sessionsFolder, name))).toBe(true);
  });

  it("restores a session from its windows", async () => {
    await using home = await soundHome(kind);
    await home.use(async ({ store }) => {
      const [window] = (await store.delete(KEY))?.windows ?? [];
      if (window !== undefined) await store.putWindow({ ...window, closedAt: window.openedAt });
    });
    const found = await home.doctor();
    expect(only(found, "windows")).toMatchObject({ key: KEY, message: "Windows of a session that does not exist" });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true });
    expect(await home.doctor({ fix: true })).toMatchObject({ ok: true, fixed: 0 });
    await home.use(async ({ store }) => {
      const windows = await store.windows(KEY);
      expect(windows.map(({ sessionId }) => sessionId).toSorted()).toEqual(home.sessionIds.toSorted());
    });
  });

  it("ignores young transcripts, whose window may still be opening", async () => {
    await using home = await soundHome(kind);
    const path = join(home.layout.sessionsFolder, "opening.jsonl");
    await writeLines(path, [{ ...HEADER, id: "opening" }]);
    await chmod(path, 0o600);
    const options = { home: home.home, fix: true, agents: [await home.scope()] };
    expect(await runDoctor(options)).toMatchObject({ ok: true, findings: [] });
    expect(await home.doctor({ fix: true })).toMatchObject({ fixed: 1 });
  });

  it("finds the current transcript by the entry", async () => {
    await using home = await soundHome(kind);
    await home.use(async (agent) => {
      const entry = await agent.store.get(KEY);
      if (entry === undefined) throw new Error("no entry");
      const path = await transcriptPath(agent, entry);
      const elsewhere = { ...entry, sessionFile: `/another/machine/${basename(path)}` };
      await agent.store.update(KEY, () => elsewhere);
    });
    expect((await home.doctor()).findings.filter(({ check }) => check !== "view")).toEqual([]);
  });
});

function withSession<Entry extends { sessionId: string }>(entry: Entry, sessionId: string, folder: string): Entry {
  return { ...entry, sessionId, sessionFile: join(folder, `${sessionId}.jsonl`) };
}
