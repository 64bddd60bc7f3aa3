/** Searches over the bridge in archived sessions. */
import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import { callTool, createMcpHome } from "../../test/support/mcp-home.ts";
import { createNativeHome, testSessionId } from "../../test/support/native-home.ts";
import { archiveNativeSessions } from "../claude/archive/archive-sessions.ts";
import { searchIndexFile } from "../config/layout.ts";
import { searchSourcesOf } from "./bridge-search.ts";

it("finds archived sessions of the repo, once, with an index of any age", async () => {
  await using home = await createMcpHome();
  const { native, repo } = home;
  const cwds = [repo.path];
  const paths = [
    native.session({ id: "a", cwds, prompts: ["[openclaw:agent=main]\nMend the heron parser"] }),
    native.session({ id: "b", cwds, prompts: ["Feed the heron"] }),
    native.session({ id: "c", cwds, prompts: ["[openclaw:agent=other]\nHide the heron"] }),
    native.session({ id: "d", cwds: [native.join("elsewhere")], prompts: ["A heron far away"] }),
  ];
  const search = async (): Promise<string[]> => {
    const { sessions } = await callTool(await home.connect(), "openclaw_session_search", { query: "heron" });
    return (sessions as { sessionId: string; passages: unknown[] }[])
      .map(({ sessionId, passages }) => `${sessionId} ${passages.length}`)
      .toSorted();
  };
  const expected = [`${testSessionId("a")} 1`, `${testSessionId("b")} 1`];
  expect(await search()).toEqual(expected);
  await native.index.refresh();
  await archiveNativeSessions({ ...native, daysBefore: Number.POSITIVE_INFINITY, redact: false });
  expect(await search()).toEqual(expected);
  for (const path of paths) rmSync(path);
  expect(await search()).toEqual(expected);
  rmSync(searchIndexFile(native.home));
  expect(await search()).toEqual(expected);
});

it("reads only the requested sessions of the archive", async () => {
  await using native = await createNativeHome();
  const archived = ["a", "b"].map(testSessionId);
  for (const id of ["a", "b"]) native.session({ id, cwds: [native.join(id)] });
  await native.index.refresh();
  await archiveNativeSessions({ ...native, daysBefore: Number.POSITIVE_INFINITY, redact: false });
  const bringTranscripts = async () => ({ sessions: native.join("sessions"), archive: native.join("archive") });
  const places = { ...native, agentId: "main", workspace: native.join("workspace"), bringTranscripts };
  const wanted = async (ids: string[]): Promise<(string | undefined)[] | undefined> => {
    const { native } = await searchSourcesOf(places, { nativeFolders: [], archived: ids });
    return native?.archive?.sessions.map(({ sessionId }) => sessionId);
  };
  expect(await wanted(archived.slice(1))).toEqual(archived.slice(1));
  expect(await wanted([testSessionId("c")])).toEqual([]);
});
