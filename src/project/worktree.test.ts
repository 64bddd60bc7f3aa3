import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTestRepo, openTestRepo } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { addWorktree, removeWorktree, unmergedWork } from "./worktree.ts";

async function createWorktree() {
  const folder = await temporaryFolder();
  const repo = createTestRepo(folder.join("repo"));
  repo.commit("First");
  const path = folder.join("worktrees/one");
  await addWorktree(repo.path, { path, branch: "holdfast/one" });
  const worktree = openTestRepo(path);
  return {
    repo,
    worktree,
    remove: async () => await removeWorktree(path, { branch: "holdfast/one" }),
    [Symbol.asyncDispose]: async () => await folder[Symbol.asyncDispose](),
  };
}

it("removes a worktree without changes, with its branch, and can add it again", async () => {
  await using home = await createWorktree();
  const { repo, worktree } = home;
  expect(await unmergedWork(worktree.path)).toBeUndefined();
  expect(await home.remove()).toBeUndefined();
  expect(existsSync(worktree.path)).toBe(false);
  expect(repo.git("branch", "--format=%(refname:short)")).toBe("main\n");
  for (const isBranchLeft of [false, true]) {
    if (isBranchLeft) repo.git("worktree", "remove", worktree.path);
    await addWorktree(repo.path, { path: worktree.path, branch: "holdfast/one" });
    expect(existsSync(join(worktree.path, "file.txt"))).toBe(true);
  }
});

it("keeps uncommitted and unmerged work, also if it was pushed", async () => {
  await using home = await createWorktree();
  const { repo, worktree } = home;
  worktree.write("new.txt");
  expect(await home.remove()).toBe("1 uncommitted change");
  worktree.git("config", "status.showUntrackedFiles", "no");
  expect(await home.remove()).toBe("1 uncommitted change");
  worktree.commit("Second", "new.txt");
  expect(await home.remove()).toBe("branch holdfast/one is not merged");
  repo.git("update-ref", "refs/remotes/origin/holdfast/one", "holdfast/one");
  expect(await home.remove()).toBe("branch holdfast/one is not merged");
  worktree.git("checkout", "--quiet", "--detach");
  worktree.commit("Third");
  expect(await home.remove()).toBe("commits without a branch");
  expect(existsSync(join(worktree.path, "new.txt"))).toBe(true);
});

it("keeps ignored files that may be all that a task has made, and not those beside merged commits", async () => {
  await using home = await createWorktree();
  const { repo, worktree } = home;
  repo.write(".git/info/exclude", "out/\n");
  worktree.write("out/report.md");
  expect(await home.remove()).toBe("files that git ignores");
  worktree.commit("Second", "new.txt");
  repo.git("merge", "--quiet", "--no-ff", "--message", "Merge", "holdfast/one");
  expect(await home.remove()).toBeUndefined();
});

it("removes a worktree whose branch was merged, and nothing that is no worktree", async () => {
  await using home = await createWorktree();
  const { repo, worktree } = home;
  worktree.commit("Second", "new.txt");
  repo.git("merge", "--quiet", "--no-ff", "--message", "Merge", "holdfast/one");
  expect(await home.remove()).toBeUndefined();
  expect(repo.git("branch", "--format=%(refname:short)")).toBe("main\n");
  expect(await home.remove()).toBe("it is not a worktree");
  repo.git("branch", "copy");
  expect(await removeWorktree(repo.path, { branch: "main" })).toMatch(/main working tree/);
  expect(existsSync(join(repo.path, "new.txt"))).toBe(true);
});
