/** Which sessions belong to a repo, on real repos of every kind. */
import { mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createTestRepo, openTestRepo } from "../../../test/support/git-repo.ts";
import { type NativeHome, createNativeHome } from "../../../test/support/native-home.ts";
import { discover } from "./discover.ts";

async function discoverSessions(...args: Parameters<typeof discover>) {
  return (await discover(...args)).sessions;
}

/** The first letters of the session ids of a repo, sorted. */
async function lettersOf(home: NativeHome, repoPath: string): Promise<string> {
  const rows = await discoverSessions(repoPath, home);
  return rows
    .map(({ sessionId }) => sessionId.slice(0, 1))
    .toSorted()
    .join("");
}

/** The real path of a deleted worktree that git no longer knows. */
function removedWorktree(home: NativeHome, folder: string, branch: string): string {
  const repo = createTestRepo(home.join("app"));
  repo.commit("one", "src/file.ts");
  const path = home.join(folder);
  repo.git("worktree", "add", "--quiet", "-b", branch, path);
  const real = realpathSync(path);
  repo.git("worktree", "remove", "--force", path);
  expect(repo.git("worktree", "list", "--porcelain")).not.toContain(real);
  return real;
}

describe("a repo", () => {
  it("is its root, its worktrees and everything below, found from any of them", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one", "src/deep/file.ts");
    const linked = home.join("elsewhere", "app feature");
    repo.git("worktree", "add", "--quiet", "-b", "feature", linked);
    const inner = home.join("app", ".claude", "worktrees", "inner");
    repo.git("worktree", "add", "--quiet", "-b", "inner", inner);
    const gone = home.join("gone");
    repo.git("worktree", "add", "--quiet", "-b", "gone", gone);
    rmSync(gone, { recursive: true });
    home.session({ id: "a", cwds: [repo.path] });
    home.session({ id: "b", cwds: [home.join("app/src/deep")] });
    home.session({ id: "c", cwds: [linked] });
    home.session({ id: "d", cwds: [inner] });
    home.session({ id: "e", cwds: [gone] });
    home.session({ id: "f", cwds: [home.join("app/removed/long ago")] });
    home.session({ id: "0", cwds: [home.join("app-two")] });
    home.session({ id: "1", cwds: [home.root] });
    for (const path of [repo.path, home.join("app/src/deep"), linked, inner]) {
      expect(await lettersOf(home, path)).toBe("abcdef");
    }
    const rows = await discoverSessions(linked, home);
    expect(new Set(rows.map(({ repoPath }) => repoPath))).toEqual(new Set([repo.path]));
  });

  it("is found through symlinks, and so are its sessions", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one", "src/file.ts");
    const link = home.join("link");
    symlinkSync(repo.path, link);
    home.session({ id: "a", cwds: [repo.path] });
    home.session({ id: "b", cwds: [link] });
    home.session({ id: "c", cwds: [home.join("link/src")] });
    home.session({ id: "d", cwds: [home.join("link/src/gone")] });
    expect(await lettersOf(home, repo.path)).toBe("abcd");
    expect(await lettersOf(home, link)).toBe("abcd");
    expect(await lettersOf(home, home.join("link/src"))).toBe("abcd");
  });

  it("does not include a nested repo, a submodule or a worktree of another repo", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one");
    createTestRepo(home.join("lib")).commit("lib");
    repo.git("submodule", "--quiet", "add", home.join("lib"), "parts/lib");
    createTestRepo(home.join("app/nested")).commit("nested", "src/x.ts");
    openTestRepo(home.join("lib")).git("worktree", "add", "--quiet", "-b", "side", home.join("app/side"));
    home.session({ id: "a", cwds: [repo.path] });
    home.session({ id: "b", cwds: [home.join("app/nested/src")] });
    home.session({ id: "c", cwds: [home.join("app/parts/lib")] });
    home.session({ id: "d", cwds: [home.join("app/side")] });
    home.session({ id: "e", cwds: [repo.path, home.join("app/nested")] });
    home.session({ id: "f", cwds: [home.join("app/parts")] });
    expect(await lettersOf(home, repo.path)).toBe("aef");
    expect(await lettersOf(home, home.join("app/nested"))).toBe("be");
    expect(await lettersOf(home, home.join("app/parts/lib"))).toBe("c");
    expect(await lettersOf(home, home.join("lib"))).toBe("d");
  });

  it("may be bare with worktrees beside it", async () => {
    await using home = await createNativeHome();
    createTestRepo(home.join("first")).commit("one");
    openTestRepo(home.root).git("clone", "--quiet", "--bare", "first", "store.git");
    openTestRepo(home.join("store.git")).git("worktree", "add", "--quiet", home.join("tree"), "main");
    home.session({ id: "a", cwds: [home.join("tree")] });
    home.session({ id: "b", cwds: [home.join("store.git")] });
    expect(await lettersOf(home, home.join("tree"))).toBe("ab");
    expect(await lettersOf(home, home.join("store.git"))).toBe("ab");
    const rows = await discoverSessions(undefined, home);
    expect(rows.map(({ repoPath }) => repoPath).toSorted()).toEqual([home.join("store.git"), home.join("store.git")]);
  });

  it("may be missing: then the folder and everything below count", async () => {
    await using home = await createNativeHome();
    createTestRepo(home.join("plain/repo")).commit("one");
    home.session({ id: "a", cwds: [home.join("plain/notes")] });
    home.session({ id: "b", cwds: [home.join("plain/repo")] });
    home.session({ id: "c", cwds: [home.join("plainer")] });
    expect(await lettersOf(home, home.join("plain"))).toBe("ab");
    expect(await lettersOf(home, home.join("plainer"))).toBe("c");
    expect(await lettersOf(home, home.join("never was"))).toBe("");
  });

  it("shares no session with another repo whose project folder has the same name", async () => {
    await using home = await createNativeHome();
    createTestRepo(home.join("a-b")).commit("one");
    createTestRepo(home.join("a/b")).commit("one");
    home.session({ id: "a", cwds: [home.join("a-b")] });
    home.session({ id: "b", cwds: [home.join("a/b")] });
    expect(await lettersOf(home, home.join("a-b"))).toBe("a");
    expect(await lettersOf(home, home.join("a/b"))).toBe("b");
    const [row] = await discoverSessions(home.join("a-b"), { ...home, limit: 1 });
    expect(row?.sessionId).toMatch(/^aaaa/);
  });
});

describe("a worktree that git no longer knows", () => {
  it("is recognised by a session that also worked in the repo", async () => {
    await using home = await createNativeHome();
    const gone = removedWorktree(home, "far/away/from/here", "main-2");
    home.session({ id: "a", cwds: [gone, home.join("app")], branch: "x" });
    home.session({ id: "b", cwds: [gone], branch: "x" });
    home.session({ id: "c", cwds: [`${gone}/src`], branch: "x" });
    expect(await lettersOf(home, home.join("app"))).toBe("abc");
  });

  it("is recognised by a distinctive branch next to the repo", async () => {
    await using home = await createNativeHome();
    const gone = removedWorktree(home, "app-worktrees/login", "feat/login");
    home.session({ id: "a", cwds: [gone], branch: "feat/login", files: [`${gone}/src/file.ts`] });
    home.session({ id: "b", cwds: [home.join("app-worktrees/other")], branch: "feat/other" });
    expect(await lettersOf(home, home.join("app"))).toBe("a");
  });

  it("is recognised by a fork of a session of the repo, on any branch", async () => {
    await using home = await createNativeHome();
    const gone = removedWorktree(home, "beside", "feat/login");
    const original = readFileSync(home.session({ id: "a", cwds: [home.join("app")] }), "utf8");
    const path = home.session({ id: "b", cwds: [gone] });
    expect(await lettersOf(home, home.join("app"))).toBe("a");
    // A fork has the messages of its original, with the same ids.
    const fork = original.replaceAll(/"cwd":"[^"]*"/g, `"cwd":${JSON.stringify(gone)}`);
    const opening = { type: "mode", mode: "normal", timestamp: "2026-11-02T00:00:00.000Z" };
    writeFileSync(path, `${JSON.stringify(opening)}\n${fork.replaceAll(/"sessionId":"a/g, '"sessionId":"b')}`);
    expect(await lettersOf(home, home.join("app"))).toBe("ab");
  });

  it("belongs to no repo when a neighbouring repo has the branch", async () => {
    await using home = await createNativeHome();
    const gone = removedWorktree(home, "wt", "feat/login");
    const rival = createTestRepo(home.join("rival"));
    rival.commit("one");
    rival.git("branch", "feat/login");
    rival.git("pack-refs", "--all");
    home.session({ id: "a", cwds: [gone], branch: "feat/login" });
    expect(await lettersOf(home, home.join("app"))).toBe("");
    expect(await lettersOf(home, home.join("rival"))).toBe("");
    rival.git("branch", "-D", "feat/login");
    expect(await lettersOf(home, home.join("app"))).toBe("a");
  });

  it.each([
    ["a branch that every repo has", "beside", "main", []],
    ["no branch at all", "beside", "", []],
    ["a hostile branch name", "beside", "../../HEAD", []],
    ["a place far from the repo", "x/y/z", "feat/login", []],
    ["files that the repo does not have", "beside", "feat/login", ["lib/unknown.py"]],
  ])("is not guessed from %s", async (_, folder, branch, files) => {
    await using home = await createNativeHome();
    removedWorktree(home, "wt", "feat/login");
    const gone = home.join(folder);
    home.session({ id: "a", cwds: [gone], branch, files: files.map((file) => `${gone}/${file}`) });
    expect(await lettersOf(home, home.join("app"))).toBe("");
  });

  it("is not a scratch folder in which a session of the repo worked", async () => {
    await using home = await createNativeHome();
    createTestRepo(home.join("app")).commit("one");
    const scratch = home.join("scratch");
    home.session({ id: "a", cwds: [home.join("app"), scratch] });
    home.session({ id: "b", cwds: [scratch], branch: "" });
    expect(await lettersOf(home, home.join("app"))).toBe("a");
    mkdirSync(scratch);
    home.session({ id: "c", cwds: [scratch], branch: "main" });
    expect(await lettersOf(home, home.join("app"))).toBe("a");
  });
});
