import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { installFaultAction } from "../../src/base/faults.ts";
import {
  archiveSession,
  deleteSession,
  deletedWindows,
  listArchives,
  restoreSession,
} from "../../src/session/archive.ts";
import { openWindow, resetSession } from "../../src/session/window.ts";
import { STORE_KINDS, createAgentHome } from "../support/agent-home.ts";
import { foldersOf } from "../support/stores.ts";

const KEY = "agent:main:test:dm:ada";

afterEach(() => installFaultAction(undefined));

describe.each(STORE_KINDS)("a restore that fails midway (%s)", (kind) => {
  // Each number stops the restore at another of its writes; the highest lets it through.
  test.each([1, 2, 3, 4])("never shows a session without its windows, and can be repeated (%i)", async (write) => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await openWindow(agent, { key: KEY, previous: undefined, reason: "initial" });
    for (let count = 0; count < 2; count++) await resetSession(agent, KEY);
    const windows = (await agent.store.windows(KEY)).map(({ sessionId }) => sessionId);
    const { id } = await archiveSession(agent, KEY);

    failWrite(kind === "sqlite" ? "sqlite.batch.begun" : "json.loaded", write);
    await restoreSession(agent, id).catch(() => undefined);
    installFaultAction(undefined);

    const listed = async (): Promise<string[]> =>
      (await agent.store.windows(KEY)).map(({ sessionId }) => sessionId).toSorted();
    if ((await agent.store.get(KEY)) === undefined) await restoreSession(agent, id);
    expect(await listed()).toEqual(windows.toSorted());
  });

  test.each([1, 2, 3, 4])("never shows a session without its hand-off, and can be finished (%i)", async (write) => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    const { handoffs } = agent.store;
    await openWindow(agent, { key: KEY, previous: undefined, reason: "initial" });
    const { entry } = await resetSession(agent, KEY);
    const left = { previousSessionId: entry.sessionId };
    await handoffs.update(KEY, () => left);
    const { id } = await deleteSession(agent, KEY);

    failWrite(kind === "sqlite" ? "sqlite.batch.begun" : "json.loaded", write);
    await restoreSession(agent, id).catch(() => undefined);
    installFaultAction(undefined);

    const isThere = (await agent.store.get(KEY)) !== undefined;
    expect(isThere && (await handoffs.get(KEY)) === undefined).toBe(false);
    // A starting gateway deletes hand-offs without a session.
    expect((await deletedWindows(agent, 0)).has(entry.sessionId)).toBe(!isThere);
    if ((await listArchives(agent)).length > 0) await restoreSession(agent, id);
    expect(await handoffs.get(KEY)).toEqual(left);
    expect((await agent.store.get(KEY))?.sessionId).toBe(entry.sessionId);
    expect(await agent.store.windows(KEY)).toHaveLength(2);
  });

  test("can be finished when only the archive remains to be cleared", async () => {
    await using fixture = await createAgentHome(kind);
    const { agent } = fixture;
    await openWindow(agent, { key: KEY, previous: undefined, reason: "initial" });
    const { id, entry } = await deleteSession(agent, KEY);
    const manifest = join(foldersOf(agent).archive, `${id}.json`);
    const content = await readFile(manifest);
    await restoreSession(agent, id);
    await agent.store.update(KEY, (current) => current && { ...current, label: "work" });
    // The state after a restore that died before its last step.
    await writeFile(manifest, content);

    await restoreSession(agent, id);
    expect(await agent.store.get(KEY)).toMatchObject({ sessionId: entry.sessionId, label: "work" });
    expect(await listArchives(agent)).toEqual([]);
  });
});

function failWrite(point: "sqlite.batch.begun" | "json.loaded", hit: number): void {
  let hits = 0;
  installFaultAction((reached) => {
    if (reached === point && ++hits === hit) throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
  });
}
