import { afterEach, describe, expect, test } from "vitest";
import { installFaultAction } from "../../src/base/faults.ts";
import { archiveSession, restoreSession } from "../../src/session/archive.ts";
import { openWindow, resetSession } from "../../src/session/window.ts";
import { STORE_KINDS, testAgent } from "../support/test-agent.ts";

const KEY = "agent:main:test:dm:ada";

afterEach(() => installFaultAction(undefined));

describe.each(STORE_KINDS)("a restore that fails half way (%s)", (kind) => {
  // Each number stops the restore at another of its writes; the highest lets it through.
  test.each([1, 2, 3, 4])("never shows a session without its windows, and can be repeated (%i)", async (write) => {
    await using fixture = await testAgent(kind);
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
});

function failWrite(point: "sqlite.batch.begun" | "json.loaded", hit: number): void {
  let hits = 0;
  installFaultAction((reached) => {
    if (reached === point && ++hits === hit) throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
  });
}
