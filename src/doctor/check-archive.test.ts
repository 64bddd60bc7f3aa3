/** Leftovers of interrupted archiving and restoring. */
import { readFile, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KEY, examine, only, soundHome } from "../../test/support/doctor-checks.ts";
import { STORE_KINDS } from "../../test/support/agent-home.ts";
import { HoldfastError } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import { archiveSession, archiveWindow, restoreSession } from "../session/archive.ts";
import { foldersOf } from "../../test/support/stores.ts";

describe.each(STORE_KINDS)("the archive on %s", (kind) => {
  it("sets an unreadable manifest aside and restores its conversations", async () => {
    await using home = await soundHome(kind);
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

  it("finishes archiving after the session left the store", async () => {
    await using home = await soundHome(kind);
    const name = `${home.sessionIds[0]}.jsonl`;
    await home.use(async (agent) => void (await archiveSession(agent, KEY)));
    await rename(join(home.layout.archiveFolder, name), join(home.layout.sessionsFolder, name));
    expect(await examine(home, "archive")).toMatchObject({ key: KEY, fix: "move it to the archive" });
    expect(await fileExists(join(home.layout.archiveFolder, name))).toBe(true);
  });

  it("keeps a session in use whose archiving or restoring was interrupted", async () => {
    await using home = await soundHome(kind);
    const { id, content } = await home.use(async (agent) => {
      const record = await archiveSession(agent, KEY);
      const path = join(foldersOf(agent).archive, `${record.id}.json`);
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
    await using home = await soundHome(kind);
    const name = `${home.sessionIds[0]}.jsonl`;
    await home.use(async (agent) => {
      const [window] = await agent.store.windows(KEY);
      if (window !== undefined) await archiveWindow(agent, window);
    });
    await rename(join(home.layout.archiveFolder, name), join(home.layout.sessionsFolder, name));
    expect(await examine(home, "archive")).toMatchObject({ key: KEY });
    expect(await fileExists(join(home.layout.archiveFolder, name))).toBe(true);
  });
});
