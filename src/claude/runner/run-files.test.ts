import { readdir, stat, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { endedPid } from "../../../test/support/child.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { currentProcess } from "../../base/processes.ts";
import { createRunRecord, type RunRecord, isInLane, readRuns, toLiveSession } from "./run-files.ts";

const RUN = "11111111-2222-4333-8444-555555555555";
const OTHER = "99999999-2222-4333-8444-555555555555";

function record(more: Partial<RunRecord> = {}): RunRecord {
  return {
    schema: 1,
    runId: RUN,
    agentId: "main",
    worktree: "/repo",
    task: "fix it",
    persistent: false,
    state: "starting",
    startedAt: "2026-01-01T00:00:00.000Z",
    host: currentProcess(),
    ...more,
  };
}

it("lists runs of living processes, shows updates, and never restores a removed record", async () => {
  await using folder = await temporaryFolder();
  const run = await createRunRecord(folder.path, record());
  expect((await stat(folder.join(`run-${RUN}.json`))).mode & 0o777).toBe(0o600);
  const changes = [run.update({ sessionId: OTHER }), run.update({ state: "busy" }), run.update({ pid: 17 })];
  await Promise.all(changes);
  const [seen] = (await readRuns(folder.path)).map(toLiveSession);
  expect(seen).toMatchObject({ sessionId: OTHER, state: "busy", pid: 17, isLocal: true, repoPath: "/repo" });
  const removed = run.remove();
  await run.update({ state: "idle" });
  await removed;
  expect(await readdir(folder.path)).toEqual([]);
});

it("removes the files of dead processes and ignores files that are not records", async () => {
  await using folder = await temporaryFolder();
  const dead = { ...currentProcess(), pid: await endedPid() };
  const socket = folder.join("host-abc.sock");
  await createRunRecord(folder.path, record({ host: dead, socket }));
  await createRunRecord(folder.path, record({ runId: OTHER, host: dead, socket: folder.join("precious.txt") }));
  await writeFile(socket, "");
  await writeFile(folder.join("precious.txt"), "");
  await writeFile(folder.join(`mcp-${RUN}.json`), "{}");
  await writeFile(folder.join(`run-${RUN}.json.${dead.pid}.0123456789ab.tmp`), "{half");
  await writeFile(folder.join("run-00000000-2222-4333-8444-555555555555.json"), "{half");
  expect(await readRuns(folder.path)).toEqual([]);
  expect((await readdir(folder.path)).sort()).toEqual([
    "precious.txt",
    "run-00000000-2222-4333-8444-555555555555.json",
  ]);
});

it("distinguishes lanes by worktree and label", () => {
  expect(isInLane(record(), { worktree: "/repo" })).toBe(true);
  expect(isInLane(record(), { worktree: "/repo", label: "docs" })).toBe(false);
  expect(isInLane(record({ label: "docs" }), { worktree: "/repo", label: "docs" })).toBe(true);
  expect(isInLane(record(), { worktree: "/other" })).toBe(false);
});
