/** Files changed since a session left them, in real repos. */
import { mkdirSync, realpathSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestRepo, openTestRepo, runTestGit, type TestRepo } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { commitsSince, filesChangedSince, readBranchStates } from "./repo-changes.ts";

const SINCE = new Date("2026-06-01T12:00:00Z");
const EARLIER = "2026-06-01T11:00:00Z";
const LATER = "2026-06-01T13:00:00Z";

function commitAt(path: string, date: string): void {
  runTestGit(path, ["add", "--all"]);
  const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  runTestGit(path, ["commit", "--quiet", "--message", date], dates);
}

function touchAt(path: string, date: string): void {
  utimesSync(path, new Date(date), new Date(date));
}

describe("commitsSince", () => {
  it("finds amended commits, and none that an earlier HEAD or another branch had before", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.path);
    const before = () => repo.git("rev-parse", "HEAD").trim();
    repo.commit("First");
    repo.git("checkout", "--quiet", "-b", "old");
    repo.write("old.txt");
    commitAt(repo.path, EARLIER);
    repo.git("checkout", "--quiet", "main");
    const head = before();
    expect(await commitsSince(repo.path, { since: SINCE, before: head })).toEqual([]);
    repo.git("checkout", "--quiet", "old");
    expect(await commitsSince(repo.path, { since: SINCE, before: head })).toEqual([]);
    repo.git("commit", "--quiet", "--amend", "--message", "Amended");
    repo.commit("Second");
    const found = await commitsSince(repo.path, { since: SINCE, before: head });
    expect(found.map(({ message }) => message)).toEqual(["Second", "Amended"]);
    expect(before().startsWith(found[0]?.sha ?? "none")).toBe(true);
    expect(await commitsSince(repo.path, { since: SINCE, before: "" })).toHaveLength(3);
  });
});

describe("filesChangedSince", () => {
  it("finds files committed, changed, created and removed since", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(realpathSync(folder.path));
    const names = ["old.txt", "newer *.txt", "dirty before.txt", "dirty after.txt", "removed.txt", "line\nbreak"];
    for (const name of names) repo.write(name, "one");
    commitAt(repo.path, EARLIER);
    repo.write("newer *.txt", "two");
    repo.write("line\nbreak", "two");
    commitAt(repo.path, LATER);
    repo.write("dirty before.txt", "two");
    touchAt(join(repo.path, "dirty before.txt"), EARLIER);
    repo.write("dirty after.txt", "two");
    touchAt(join(repo.path, "dirty after.txt"), LATER);
    repo.write("new folder/new.txt", "new");
    touchAt(join(repo.path, "new folder/new.txt"), LATER);
    rmSync(join(repo.path, "removed.txt"));

    const asked = [...names, "new folder/new.txt", "never there", "/etc/passwd", "../outside"];
    expect(await filesChangedSince(repo.path, SINCE, asked)).toEqual([
      "newer *.txt",
      "dirty after.txt",
      "removed.txt",
      "line\nbreak",
      "new folder/new.txt",
    ]);
    expect(await filesChangedSince(repo.path, SINCE, ["newer"])).toEqual([]);
  });

  it("understands absolute paths through symlinks and of other worktrees", async () => {
    await using folder = await temporaryFolder();
    const base = realpathSync(folder.path);
    const repo = createTestRepo(join(base, "repo"));
    repo.write("src/a.ts", "one");
    commitAt(repo.path, EARLIER);
    const inner = join(repo.path, ".claude/worktrees/x");
    repo.git("worktree", "add", "--quiet", "--detach", inner);
    rmSync(inner, { recursive: true });
    repo.write("src/a.ts", "two");
    commitAt(repo.path, LATER);
    mkdirSync(join(base, "links"));
    symlinkSync(repo.path, join(base, "links/repo"));
    const paths = [join(repo.path, "src/a.ts"), join(inner, "src/a.ts")];
    expect(await filesChangedSince(join(repo.path, "src"), SINCE, paths)).toEqual(paths);
    const linked = join(base, "links/repo/src/a.ts");
    expect(await filesChangedSince(join(base, "links/repo"), SINCE, [linked])).toEqual([linked]);
  });

  it("counts commits that a merge brought in, however old", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.path);
    repo.write("a.txt", "one");
    commitAt(repo.path, EARLIER);
    repo.git("checkout", "--quiet", "-b", "side");
    repo.write("a.txt", "two");
    commitAt(repo.path, EARLIER);
    repo.git("checkout", "--quiet", "main");
    repo.git("merge", "--quiet", "--no-ff", "--no-edit", "side");
    expect(await filesChangedSince(repo.path, SINCE, ["a.txt"])).toEqual(["a.txt"]);
  });

  it("finds nothing without a repo, a commit or a date", async () => {
    await using folder = await temporaryFolder();
    expect(await filesChangedSince(folder.path, SINCE, ["a"])).toEqual([]);
    createTestRepo(folder.path);
    expect(await filesChangedSince(folder.path, SINCE, ["a"])).toEqual([]);
    openTestRepo(folder.path).commit("one", "a");
    expect(await filesChangedSince(folder.path, new Date(Number.NaN), ["a"])).toEqual([]);
  });
});

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

  it("returns nothing without a repo, and an unborn branch is current", async () => {
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
