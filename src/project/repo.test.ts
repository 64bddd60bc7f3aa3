/** From any path of a repo to the repo, on real git repos of every kind. */
import { chmodSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestRepo, openTestRepo, runTestGit, wrapGit } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { findRepo, locateRepo, mayLieInRepo } from "./repo.ts";

describe("findRepo", () => {
  it("finds the root from a subfolder, a file, a symlink and a deleted folder", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(join(realpathSync(folder.path), "my repo"));
    repo.commit("one", "deep/er/file.txt");
    symlinkSync(join(repo.path, "deep"), folder.join("link"));
    const expected = { root: repo.path, worktreeRoot: repo.path, commonDir: join(repo.path, ".git") };
    for (const path of ["", "deep/er", "deep/er/file.txt", "deep/gone/long ago", ".git/refs"]) {
      expect(await findRepo(join(repo.path, path))).toMatchObject(expected);
    }
    const found = await findRepo(folder.join("link/er"));
    expect(found).toMatchObject(expected);
    expect(found?.worktrees).toEqual([
      {
        path: repo.path,
        isMain: true,
        isBare: false,
        isGone: false,
        branch: "main",
        head: repo.git("rev-parse", "HEAD").trim(),
      },
    ]);
  });

  it("lists linked worktrees, also deleted ones and ones with newlines in their names", async () => {
    await using folder = await temporaryFolder();
    const base = realpathSync(folder.path);
    const repo = createTestRepo(join(base, "line\nbreak"));
    repo.commit("one");
    const linked = join(base, "linked\nworktree ü");
    repo.git("worktree", "add", "--quiet", "-b", "feat/x", linked);
    repo.git("worktree", "add", "--quiet", "--detach", join(base, "gone"));
    rmSync(join(base, "gone"), { recursive: true });

    const found = await findRepo(linked);
    expect(found).toMatchObject({ root: repo.path, worktreeRoot: linked, commonDir: join(repo.path, ".git") });
    expect(found?.worktrees.map(({ path, branch, isMain, isGone }) => ({ path, branch, isMain, isGone }))).toEqual([
      { path: repo.path, branch: "main", isMain: true, isGone: false },
      { path: join(base, "gone"), branch: undefined, isMain: false, isGone: true },
      { path: linked, branch: "feat/x", isMain: false, isGone: false },
    ]);
    expect(await findRepo(join(base, "gone"))).toBeUndefined();
  });

  it("treats a submodule as a separate repo, also from its worktrees", async () => {
    await using folder = await temporaryFolder();
    const base = realpathSync(folder.path);
    createTestRepo(join(base, "lib")).commit("lib");
    const outer = createTestRepo(join(base, "outer"));
    outer.git("submodule", "--quiet", "add", join(base, "lib"), "parts/lib");
    const inner = join(outer.path, "parts/lib");
    const expected = { root: inner, commonDir: join(outer.path, ".git/modules/parts/lib") };
    expect(await findRepo(inner)).toMatchObject({ ...expected, worktreeRoot: inner });

    openTestRepo(inner).git("worktree", "add", "--quiet", "-b", "side", join(base, "side"));
    const side = await findRepo(join(base, "side"));
    expect(side).toMatchObject({ ...expected, worktreeRoot: join(base, "side") });
    expect(side?.worktrees.map(({ path }) => path)).toEqual([inner, join(base, "side")]);
  });

  it("uses a bare repo's folder as its root, also from its worktrees", async () => {
    await using folder = await temporaryFolder();
    const base = realpathSync(folder.path);
    createTestRepo(join(base, "source")).commit("one");
    const bare = join(base, "bare.git");
    runTestGit(base, ["clone", "--quiet", "--bare", "source", bare]);
    expect(await findRepo(bare)).toMatchObject({ root: bare, worktreeRoot: bare, commonDir: bare });

    runTestGit(bare, ["worktree", "add", "--quiet", "-b", "work", join(base, "work")]);
    const found = await locateRepo(join(base, "work"));
    expect(found).toMatchObject({ root: bare, worktreeRoot: join(base, "work"), commonDir: bare, isBare: false });
    expect("worktrees" in found && found.worktrees[0]).toMatchObject({ path: bare, isBare: true, isMain: true });
  });

  it("follows a separate git folder", async () => {
    await using folder = await temporaryFolder();
    const base = realpathSync(folder.path);
    runTestGit(base, ["init", "--quiet", `--separate-git-dir=${join(base, "store")}`, "work"]);
    expect(await findRepo(join(base, "work"))).toMatchObject({
      root: join(base, "work"),
      commonDir: join(base, "store"),
    });
  });

  it("finds nothing outside a repo or without git", async () => {
    await using folder = await temporaryFolder();
    expect(await findRepo(folder.path)).toBeUndefined();
    expect(await locateRepo(folder.path)).toEqual({
      isAbsent: true,
      problem: expect.stringContaining("not a git repo"),
    });
    createTestRepo(folder.path);
    expect(await findRepo(folder.path, { env: { PATH: folder.path } })).toBeUndefined();
    expect(await findRepo(folder.path, { env: { ...process.env, GIT_DIR: "/nowhere" } })).toBeDefined();
  });

  it("never takes git from the repo itself", async () => {
    await using folder = await temporaryFolder();
    createTestRepo(folder.path);
    writeFileSync(folder.join("git"), "#!/bin/sh\necho true\n");
    chmodSync(folder.join("git"), 0o755);
    expect(await locateRepo(folder.path, { env: { PATH: "::." } })).toMatchObject({
      problem: "git is not installed, or not on PATH",
    });
  });

  it("says what to do about a repo of another user", async () => {
    await using folder = await temporaryFolder();
    createTestRepo(folder.join("repo"));
    const env = wrapGit(folder.join("bin"), "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1");
    expect(await locateRepo(folder.join("repo"), { env })).toEqual({
      isAbsent: false,
      problem: expect.stringContaining("safe.directory"),
    });
  });

  it("works with a git that cannot separate worktrees by NUL", async () => {
    await using folder = await temporaryFolder();
    const base = realpathSync(folder.path);
    const repo = createTestRepo(join(base, "repo"));
    repo.commit("one");
    repo.git("worktree", "add", "--quiet", "-b", "side", join(base, "side"));
    const env = wrapGit(folder.join("bin"), `for a; do last="$a"; done\n[ "$last" = -z ] && exit 129`);
    const found = await findRepo(repo.path, { env });
    expect(found?.worktrees.map(({ path }) => path)).toEqual([repo.path, join(base, "side")]);
  });
});

it("mayLieInRepo is true wherever git finds a repo, and false beside it", async () => {
  await using folder = await temporaryFolder();
  const repo = createTestRepo(folder.join("repo"));
  repo.commit("one", "deep/er/file.txt");
  repo.git("worktree", "add", "--quiet", folder.join("linked"));
  runTestGit(folder.path, ["clone", "--quiet", "--bare", repo.path, "bare.git"]);
  symlinkSync(join(repo.path, "deep"), folder.join("link"));
  for (const path of ["repo", "repo/deep/er/file.txt", "repo/deep/gone", "link/er", "linked", "bare.git/refs"]) {
    expect(await findRepo(folder.join(path)), path).toBeDefined();
    expect(await mayLieInRepo(folder.join(path)), path).toBe(true);
  }
  for (const path of ["", "gone", "repos"]) expect(await mayLieInRepo(folder.join(path)), path).toBe(false);
});
