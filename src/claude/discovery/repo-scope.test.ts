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
async function lettersOf(world: NativeHome, repoPath: string): Promise<string> {
  const rows = await discoverSessions(repoPath, world);
  return rows
    .map(({ sessionId }) => sessionId.slice(0, 1))
    .toSorted()
    .join("");
}

/** The real path of a deleted worktree that git no longer knows. */
function removedWorktree(world: NativeHome, folder: string, branch: string): string {
  const repo = createTestRepo(world.join("app"));
  repo.commit("one", "src/file.ts");
  const path = world.join(folder);
  repo.git("worktree", "add", "--quiet", "-b", branch, path);
  const real = realpathSync(path);
  repo.git("worktree", "remove", "--force", path);
  expect(repo.git("worktree", "list", "--porcelain")).not.toContain(real);
  return real;
}

describe("a repo", () => {
  it("is its root, its worktrees and everything below, found from any of them", async () => {
    await using world = await createNativeHome();
    const repo = createTestRepo(world.join("app"));
    repo.commit("one", "src/deep/file.ts");
    const linked = world.join("elsewhere", "app feature");
    repo.git("worktree", "add", "--quiet", "-b", "feature", linked);
    const inner = world.join("app", ".claude", "worktrees", "inner");
    repo.git("worktree", "add", "--quiet", "-b", "inner", inner);
    const gone = world.join("gone");
    repo.git("worktree", "add", "--quiet", "-b", "gone", gone);
    rmSync(gone, { recursive: true });
    world.session({ id: "a", cwds: [repo.path] });
    world.session({ id: "b", cwds: [world.join("app/src/deep")] });
    world.session({ id: "c", cwds: [linked] });
    world.session({ id: "d", cwds: [inner] });
    world.session({ id: "e", cwds: [gone] });
    world.session({ id: "f", cwds: [world.join("app/removed/long ago")] });
    world.session({ id: "0", cwds: [world.join("app-two")] });
    world.session({ id: "1", cwds: [world.root] });
    for (const path of [repo.path, world.join("app/src/deep"), linked, inner]) {
      expect(await lettersOf(world, path)).toBe("abcdef");
    }
    const rows = await discoverSessions(linked, world);
    expect(new Set(rows.map(({ repoPath }) => repoPath))).toEqual(new Set([repo.path]));
  });

  it("is found through symlinks, and so are its sessions", async () => {
    await using world = await createNativeHome();
    const repo = createTestRepo(world.join("app"));
    repo.commit("one", "src/file.ts");
    const link = world.join("link");
    symlinkSync(repo.path, link);
    world.session({ id: "a", cwds: [repo.path] });
    world.session({ id: "b", cwds: [link] });
    world.session({ id: "c", cwds: [world.join("link/src")] });
    world.session({ id: "d", cwds: [world.join("link/src/gone")] });
    expect(await lettersOf(world, repo.path)).toBe("abcd");
    expect(await lettersOf(world, link)).toBe("abcd");
    expect(await lettersOf(world, world.join("link/src"))).toBe("abcd");
  });

  it("does not include a nested repo, a submodule or a worktree of another repo", async () => {
    await using world = await createNativeHome();
    const repo = createTestRepo(world.join("app"));
    repo.commit("one");
    createTestRepo(world.join("lib")).commit("lib");
    repo.git("submodule", "--quiet", "add", world.join("lib"), "parts/lib");
    createTestRepo(world.join("app/nested")).commit("nested", "src/x.ts");
    openTestRepo(world.join("lib")).git("worktree", "add", "--quiet", "-b", "side", world.join("app/side"));
    world.session({ id: "a", cwds: [repo.path] });
    world.session({ id: "b", cwds: [world.join("app/nested/src")] });
    world.session({ id: "c", cwds: [world.join("app/parts/lib")] });
    world.session({ id: "d", cwds: [world.join("app/side")] });
    world.session({ id: "e", cwds: [repo.path, world.join("app/nested")] });
    world.session({ id: "f", cwds: [world.join("app/parts")] });
    expect(await lettersOf(world, repo.path)).toBe("aef");
    expect(await lettersOf(world, world.join("app/nested"))).toBe("be");
    expect(await lettersOf(world, world.join("app/parts/lib"))).toBe("c");
    expect(await lettersOf(world, world.join("lib"))).toBe("d");
  });

  it("may be bare with worktrees beside it", async () => {
    await using world = await createNativeHome();
    createTestRepo(world.join("first")).commit("one");
    openTestRepo(world.root).git("clone", "--quiet", "--bare", "first", "store.git");
    openTestRepo(world.join("store.git")).git("worktree", "add", "--quiet", world.join("tree"), "main");
    world.session({ id: "a", cwds: [world.join("tree")] });
    world.session({ id: "b", cwds: [world.join("store.git")] });
    expect(await lettersOf(world, world.join("tree"))).toBe("ab");
    expect(await lettersOf(world, world.join("store.git"))).toBe("ab");
    const rows = await discoverSessions(undefined, world);
    expect(rows.map(({ repoPath }) => repoPath).toSorted()).toEqual([world.join("store.git"), world.join("store.git")]);
  });

  it("may be missing: then the folder and everything below count", async () => {
    await using world = await createNativeHome();
    createTestRepo(world.join("plain/repo")).commit("one");
    world.session({ id: "a", cwds: [world.join("plain/notes")] });
    world.session({ id: "b", cwds: [world.join("plain/repo")] });
    world.session({ id: "c", cwds: [world.join("plainer")] });
    expect(await lettersOf(world, world.join("plain"))).toBe("ab");
    expect(await lettersOf(world, world.join("plainer"))).toBe("c");
    expect(await lettersOf(world, world.join("never was"))).toBe("");
  });

  it("shares no session with another repo whose project folder has the same name", async () => {
    await using world = await createNativeHome();
    createTestRepo(world.join("a-b")).commit("one");
    createTestRepo(world.join("a/b")).commit("one");
    world.session({ id: "a", cwds: [world.join("a-b")] });
    world.session({ id: "b", cwds: [world.join("a/b")] });
    expect(await lettersOf(world, world.join("a-b"))).toBe("a");
    expect(await lettersOf(world, world.join("a/b"))).toBe("b");
    const [row] = await discoverSessions(world.join("a-b"), { ...world, limit: 1 });
    expect(row?.sessionId).toMatch(/^aaaa/);
  });
});

describe("a worktree that git no longer knows", () => {
  it("is recognised by a session that also worked in the repo", async () => {
    await using world = await createNativeHome();
    const gone = removedWorktree(world, "far/away/from/here", "main-2");
    world.session({ id: "a", cwds: [gone, world.join("app")], branch: "x" });
    world.session({ id: "b", cwds: [gone], branch: "x" });
    world.session({ id: "c", cwds: [`${gone}/src`], branch: "x" });
    expect(await lettersOf(world, world.join("app"))).toBe("abc");
  });

  it("is recognised by a distinctive branch next to the repo", async () => {
    await using world = await createNativeHome();
    const gone = removedWorktree(world, "app-worktrees/login", "feat/login");
    world.session({ id: "a", cwds: [gone], branch: "feat/login", files: [`${gone}/src/file.ts`] });
    world.session({ id: "b", cwds: [world.join("app-worktrees/other")], branch: "feat/other" });
    expect(await lettersOf(world, world.join("app"))).toBe("a");
  });

  it("is recognised by a fork of a session of the repo, on any branch", async () => {
    await using world = await createNativeHome();
    const gone = removedWorktree(world, "beside", "feat/login");
    const original = readFileSync(world.session({ id: "a", cwds: [world.join("app")] }), "utf8");
    const path = world.session({ id: "b", cwds: [gone] });
    expect(await lettersOf(world, world.join("app"))).toBe("a");
    // A fork has the messages of its original, with the same ids.
    const fork = original.replaceAll(/"cwd":"[^"]*"/g, `"cwd":${JSON.stringify(gone)}`);
    const opening = { type: "mode", mode: "normal", timestamp: "2026-11-02T00:00:00.000Z" };
    writeFileSync(path, `${JSON.stringify(opening)}\n${fork.replaceAll(/"sessionId":"a/g, '"sessionId":"b')}`);
    expect(await lettersOf(world, world.join("app"))).toBe("ab");
  });

  it("belongs to no repo when a neighbouring repo has the branch", async () => {
    await using world = await createNativeHome();
    const gone = removedWorktree(world, "wt", "feat/login");
    const rival = createTestRepo(world.join("rival"));
    rival.commit("one");
    rival.git("branch", "feat/login");
    rival.git("pack-refs", "--all");
    world.session({ id: "a", cwds: [gone], branch: "feat/login" });
    expect(await lettersOf(world, world.join("app"))).toBe("");
    expect(await lettersOf(world, world.join("rival"))).toBe("");
    rival.git("branch", "-D", "feat/login");
    expect(await lettersOf(world, world.join("app"))).toBe("a");
  });

  it.each([
    ["a branch that every repo has", "beside", "main", []],
    ["no branch at all", "beside", "", []],
    ["a hostile branch name", "beside", "../../HEAD", []],
    ["a place far from the repo", "x/y/z", "feat/login", []],
    ["files that the repo does not have", "beside", "feat/login", ["lib/unknown.py"]],
  ])("is not guessed from %s", async (_, folder, branch, files) => {
    await using world = await createNativeHome();
    removedWorktree(world, "wt", "feat/login");
    const gone = world.join(folder);
    world.session({ id: "a", cwds: [gone], branch, files: files.map((file) => `${gone}/${file}`) });
    expect(await lettersOf(world, world.join("app"))).toBe("");
  });

  it("is not a scratch folder in which a session of the repo worked", async () => {
    await using world = await createNativeHome();
    createTestRepo(world.join("app")).commit("one");
    const scratch = world.join("scratch");
    world.session({ id: "a", cwds: [world.join("app"), scratch] });
    world.session({ id: "b", cwds: [scratch], branch: "" });
    expect(await lettersOf(world, world.join("app"))).toBe("a");
    mkdirSync(scratch);
    world.session({ id: "c", cwds: [scratch], branch: "main" });
    expect(await lettersOf(world, world.join("app"))).toBe("a");
  });
});
