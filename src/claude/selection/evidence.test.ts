/** Evidence from real repos, and from plain data where real git would be slow. */
import { mkdirSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { NOON, discoveredSession } from "../../../test/support/claude-samples.ts";
import { createTestRepo } from "../../../test/support/git-repo.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { gatherEvidence } from "./evidence.ts";
import type { EvidenceSources } from "./selection.ts";

describe("a real repo", () => {
  it("distinguishes merged, deleted and open branches", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    repo.commit("start");
    for (const branch of ["merged", "open"]) {
      repo.git("switch", "--quiet", "--create", branch, "main");
      repo.commit(branch, `${branch}.txt`);
    }
    repo.git("switch", "--quiet", "main");
    repo.git("merge", "--quiet", "--no-ff", "--message", "merge it", "merged");
    const sessions = ["merged", "open", "gone", "main", "HEAD", ""].map((branch) => {
      return discoveredSession({ sessionId: branch, branch, branches: [branch], cwds: [repo.path] });
    });
    const found = await gatherEvidence(sessions, { repoPath: repo.path, currentBranch: "main", now: NOON });
    expect(Object.fromEntries(found)).toEqual({
      merged: [{ kind: "branch-merged", text: "its branch merged is merged", forcesFresh: true }],
      gone: [{ kind: "branch-deleted", text: "its branch gone was deleted", forcesFresh: false }],
      open: [],
      main: [],
      HEAD: [],
      "": [],
    });
  });

  it("reports edited files that changed since, without forcing a fresh session", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    repo.commit("start", "src/a.ts");
    const session = discoveredSession({
      cwds: [repo.path],
      lastModified: new Date(Date.now() - 3_600_000),
      filesTouched: [
        { path: `${repo.path}/src/a.ts`, edited: true },
        { path: `${repo.path}/src/read-only.ts`, edited: false },
      ],
    });
    expect(await evidenceOf(session, { repoPath: repo.path })).toEqual([
      { kind: "files-changed", text: "src/a.ts, which it edited, changed since", forcesFresh: false },
    ]);
    const later = { ...session, lastModified: new Date(Date.now() + 3_600_000) };
    expect(await evidenceOf(later, { repoPath: repo.path })).toEqual([]);
  });

  it("reports a missing worktree, but not a removed folder", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    repo.commit("start");
    const worktree = folder.join("elsewhere");
    repo.git("worktree", "add", "--quiet", "-b", "side", worktree);
    mkdirSync(`${repo.path}/sub`);
    const kindsIn = async (cwd: string, sources: Partial<EvidenceSources> = {}) => {
      const session = discoveredSession({ cwds: [cwd, repo.path], repoPath: cwd });
      return (await evidenceOf(session, { repoPath: repo.path, ...sources })).map(({ kind }) => kind);
    };
    expect(await kindsIn(worktree)).toEqual([]);
    expect(await kindsIn(`${repo.path}/sub`)).toEqual([]);
    rmSync(worktree, { recursive: true });
    rmSync(`${repo.path}/sub`, { recursive: true });
    expect(await kindsIn(worktree)).toEqual(["worktree-gone"]);
    expect(await kindsIn(`${worktree}/deep/inside`)).toEqual(["worktree-gone"]);
    expect(await kindsIn(`${repo.path}/sub`)).toEqual([]);
    expect(await kindsIn(`${repo.path}/.claude/worktrees/side`)).toEqual(["worktree-gone"]);
    const listed = { path: `${repo.path}/trees/side`, isMain: false, isBare: false, isGone: true };
    expect(await kindsIn(`${repo.path}/trees/side`, { worktrees: [listed] })).toEqual(["worktree-gone"]);
  });
});

describe("as plain data", () => {
  it.each([
    ["merged", "side", "main", true],
    ["merged", "side", undefined, true],
    ["merged", "side", "side", false],
    ["merged", "side", "both", false],
    ["deleted", "side", "main", false],
    ["deleted", "side", "both", false],
  ] as const)("a %s branch %s on %s forces fresh: %s", async (state, branch, currentBranch, forcesFresh) => {
    const session = discoveredSession({ branch, branches: ["both", branch] });
    const branchStates = async () => Promise.resolve(new Map([[branch, state]]));
    expect(await evidenceOf(session, { currentBranch, branchStates })).toMatchObject([{ forcesFresh }]);
  });

  it.each([
    [1, 40, "a line of its transcript cannot be read", false],
    [39, 40, "39 lines of its transcript cannot be read", false],
    [40, 40, "40 lines of its transcript cannot be read", true],
  ])("%i damaged lines beside %i good ones", async (damagedLines, messageCount, text, forcesFresh) => {
    const found = await evidenceOf(discoveredSession({ damagedLines, messageCount }));
    expect(found).toEqual([{ kind: "damaged-transcript", text, forcesFresh }]);
  });

  it.each([
    ["claude-sonnet-4-5", "resuming re-caches 84,000 tokens (about $0.32)"],
    ["a-model-of-no-known-price", "resuming re-caches 84,000 tokens"],
  ])("the context of %s costs a new cache write, unless it is still cached", async (model, text) => {
    const session = discoveredSession({ contextTokens: 84_000, models: ["claude-opus-4", model] });
    const found = await evidenceOf(session, { now: NOON + 600_000 });
    expect(found).toEqual([{ kind: "context-cost", text, forcesFresh: false }]);
    expect(await evidenceOf(session, { now: NOON + 60_000 })).toEqual([]);
  });

  it("reports an open hand-off", async () => {
    expect(await evidenceOf(discoveredSession(), { hasOpenHandOff: () => true })).toMatchObject([
      { kind: "open-hand-off", forcesFresh: false },
    ]);
    expect(await evidenceOf(discoveredSession())).toEqual([]);
  });

  it("makes outside names safe to print", async () => {
    const branch = "\u001b]0;title\u0007\nx";
    const branchStates = async () => Promise.resolve(new Map([[branch, "deleted" as const]]));
    const [found] = await evidenceOf(discoveredSession({ branch, branches: [] }), { branchStates });
    expect(found?.text).toBe("its branch \\u001b]0;title\\u0007 x was deleted");
  });

  it("checks the files of the best sessions only", async () => {
    const asked: string[] = [];
    const sessions = Array.from({ length: 50 }, (_, index) => {
      return discoveredSession({ sessionId: `s${index}`, filesTouched: [{ path: `f${index}`, edited: true }] });
    });
    const changedSince = async (_since: Date, files: readonly string[]) => {
      asked.push(...files);
      return Promise.resolve([...files]);
    };
    const found = await gatherEvidence(sessions, { ...PLAIN, changedSince, maxFileChecks: 3 });
    expect(asked).toEqual(["f0", "f1", "f2"]);
    expect(found.size).toBe(50);
  });
});

const PLAIN: EvidenceSources = {
  repoPath: "/repo",
  currentBranch: "main",
  now: NOON,
  branchStates: async () => Promise.resolve(new Map()),
  changedSince: async () => Promise.resolve([]),
  folderExists: async () => Promise.resolve(true),
};

async function evidenceOf(session: DiscoveredSession, special: Partial<EvidenceSources> = {}) {
  const real = special.repoPath !== undefined;
  const sources = real ? { currentBranch: "main", now: NOON, repoPath: "", ...special } : { ...PLAIN, ...special };
  return (await gatherEvidence([session], sources)).get(session.sessionId) ?? [];
}
