/** What became of branches, in real histories. */
import { describe, expect, it } from "vitest";
import { type TestRepo, createTestRepo, openTestRepo, runTestGit } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { readBranchStates } from "./branch-state.ts";

/** A branch with one commit of its own; afterwards `main` is checked out. */
function branchWithCommit(repo: TestRepo, name: string): void {
  repo.git("checkout", "--quiet", "-b", name, "main");
  repo.commit(`work on ${name}`, `${name.replaceAll("/", "-")}.txt`);
  repo.git("checkout", "--quiet", "main");
}

describe("readBranchStates", () => {
  it("tells current, open, merged and deleted apart", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.path);
    repo.commit("base");
    repo.git("branch", "untouched");
    for (const name of ["forwarded", "merged", "feat/open", "squashed", "gone"]) branchWithCommit(repo, name);
    repo.git("merge", "--quiet", "--ff-only", "forwarded");
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "merged");
    repo.git("merge", "--quiet", "--squash", "squashed");
    repo.git("commit", "--quiet", "--message", "squashed");
    repo.git("branch", "same-as-main");
    repo.git("branch", "-D", "gone");
    repo.git("checkout", "--quiet", "-b", "here");

    const names = ["here", "main", "untouched", "same-as-main", "forwarded", "merged", "feat/open", "squashed", "gone"];
    const states = await readBranchStates(repo.path, [...names, "HEAD", "", "--all", "never was"]);
    expect(Object.fromEntries(states)).toEqual({
      here: "current",
      main: "open",
      untouched: "open",
      "same-as-main": "open",
      forwarded: "merged",
      merged: "merged",
      "feat/open": "open",
      squashed: "open",
      gone: "deleted",
      "--all": "deleted",
      "never was": "deleted",
    });
  });

  it("takes the default branch and merges from origin", async () => {
    await using folder = await temporaryFolder();
    const origin = createTestRepo(folder.join("origin"));
    origin.commit("base");
    origin.git("branch", "--move", "trunk");
    runTestGit(folder.path, ["clone", "--quiet", "origin", "clone"]);
    const clone = openTestRepo(folder.join("clone"));
    clone.git("checkout", "--quiet", "-b", "feat");
    clone.commit("feat", "feat.txt");
    clone.git("push", "--quiet", "origin", "feat");
    clone.git("checkout", "--quiet", "trunk");
    expect(Object.fromEntries(await readBranchStates(clone.path, ["feat", "trunk"]))).toEqual({
      feat: "open",
      trunk: "current",
    });
    origin.git("merge", "--quiet", "--no-ff", "--no-edit", "feat");
    clone.git("fetch", "--quiet");
    clone.git("branch", "-D", "feat");
    clone.git("checkout", "--quiet", "-b", "other");
    // Gone here, still at origin, where it is merged.
    expect(Object.fromEntries(await readBranchStates(clone.path, ["feat", "trunk"]))).toEqual({
      feat: "merged",
      trunk: "open",
    });
  });

  it("knows nothing where there is no repo, and an unborn branch is current", async () => {
    await using folder = await temporaryFolder();
    expect(await readBranchStates(folder.path, ["main"])).toEqual(new Map());
    createTestRepo(folder.path);
    expect(await readBranchStates(folder.path, ["main", "x"])).toEqual(
      new Map([
        ["main", "current"],
        ["x", "deleted"],
      ]),
    );
  });
});
