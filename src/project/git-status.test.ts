/** Real repos in every state, some with hostile names and configurations. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type TestRepo,
  createTestRepo,
  gitTestEnv,
  openTestRepo,
  runTestGit,
  wrapGit,
} from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { type GitStatus, type GitStatusOptions, readGitStatus } from "./git-status.ts";
import { locateRepo } from "./repo.ts";
import { repoFilterOverrides } from "./run-git.ts";

async function readStatus(
  path: string,
  options: GitStatusOptions = {},
): Promise<{ git?: GitStatus; problems: string[] }> {
  const repo = await locateRepo(path, options);
  if ("problem" in repo) return { problems: [repo.problem] };
  return await readGitStatus(repo, options, await repoFilterOverrides(repo.worktreeRoot, options));
}

async function gitOf(path: string): Promise<GitStatus> {
  const { git, problems } = await readStatus(path);
  expect(problems).toEqual([]);
  if (git === undefined) throw new Error("no git part");
  return git;
}

/** Git commands that stop at a conflict exit with an error. */
function attempt(repo: TestRepo, ...args: string[]): void {
  expect(() => repo.git(...args)).toThrow("Command failed");
}

describe("readGitStatus", () => {
  it("reads staged, changed, new, stashed and committed work", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(realpathSync(folder.path));
    repo.commit("one", "a.txt", "long enough to be seen as the same file\n");
    repo.commit("two", "b.txt");
    repo.write("b.txt", "stashed");
    repo.git("stash", "--quiet");
    repo.git("mv", "a.txt", "renamed.txt");
    repo.write("b.txt", "changed");
    repo.write("new/one.txt");
    repo.write("new/two.txt");

    const git = await gitOf(repo.path);
    expect(git).toMatchObject({
      currentBranch: "main",
      isDetached: false,
      isBare: false,
      isSubmodule: false,
      isWorktree: false,
      headCommitSha: repo.git("rev-parse", "HEAD").trim(),
      headCommitMessage: "two",
      stagedChanges: [{ path: "renamed.txt", status: "R", from: "a.txt" }],
      unstagedChanges: [{ path: "b.txt", status: "M" }],
      untrackedFiles: ["new/"],
      counts: { staged: 1, unstaged: 1, untracked: 1, conflicted: 0 },
      stashCount: 1,
    });
    expect(git.recentCommits.map(({ message, author }) => ({ message, author }))).toEqual([
      { message: "two", author: "Ada" },
      { message: "one", author: "Ada" },
    ]);
    expect(Date.now() - Date.parse(git.recentCommits[0]?.date ?? "")).toBeLessThan(60_000);
    expect(git.operation).toBeUndefined();
    expect(git.upstream).toBeUndefined();
  });

  it("keeps every name and message unchanged", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(realpathSync(folder.path));
    const names = [
      "with space",
      'quo"te',
      "it's",
      "line\nbreak",
      "a|b",
      "tab\there",
      "🦀 crab",
      "ünï",
      "-dash",
      "*",
      ":(top)",
    ];
    for (const name of names) repo.write(name);
    expect((await gitOf(repo.path)).untrackedFiles).toEqual(expect.arrayContaining(names));

    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message", 'x|y|z "q" \u001b[31m\n\nwith a body');
    repo.git("branch", "--move", 'feat/🦀|"it\'s"');
    repo.git("mv", "line\nbreak", "new\nline");
    const git = await gitOf(repo.path);
    expect(git.currentBranch).toBe('feat/🦀|"it\'s"');
    expect(git.recentCommits).toHaveLength(1);
    expect(git.headCommitMessage).toBe('x|y|z "q" \u001b[31m');
    expect(git.stagedChanges).toEqual([{ path: "new\nline", status: "R", from: "line\nbreak" }]);
  });

  it("replaces invalid UTF-8", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(realpathSync(folder.path));
    writeFileSync(Buffer.concat([Buffer.from(`${repo.path}/bad-`), Buffer.from([0xff, 0xc3])]), "x");
    expect((await gitOf(repo.path)).untrackedFiles).toEqual(["bad-\ufffd\ufffd"]);
  });

  it("reads a repo without commits", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.path);
    repo.write("a.txt");
    expect(await gitOf(repo.path)).toMatchObject({
      currentBranch: "main",
      isDetached: false,
      headCommitSha: "",
      headCommitMessage: "",
      recentCommits: [],
      untrackedFiles: ["a.txt"],
      stashCount: 0,
    });
  });

  it("tells a detached HEAD from a branch named HEAD", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.path);
    repo.commit("one");
    repo.git("checkout", "--quiet", "-b", "(detached)");
    expect(await gitOf(repo.path)).toMatchObject({ currentBranch: "(detached)", isDetached: false });
    repo.git("checkout", "--quiet", "--detach");
    expect(await gitOf(repo.path)).toMatchObject({ currentBranch: "", isDetached: true, headCommitMessage: "one" });
  });

  it("counts commits ahead and behind", async () => {
    await using folder = await temporaryFolder();
    const origin = createTestRepo(folder.join("origin"));
    origin.commit("one");
    runTestGit(folder.path, ["clone", "--quiet", "origin", "clone"]);
    const clone = openTestRepo(folder.join("clone"));
    clone.commit("mine");
    origin.commit("theirs", "b.txt");
    origin.commit("theirs again", "b.txt");
    clone.git("fetch", "--quiet");
    expect(await gitOf(clone.path)).toMatchObject({ upstream: "origin/main", ahead: 1, behind: 2 });
  });

  it("sees a merge, rebase, cherry-pick, revert, bisect and am under way", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.path);
    repo.commit("base", "a.txt", "base\n");
    repo.git("checkout", "--quiet", "-b", "side");
    repo.commit("side", "a.txt", "side\n");
    repo.git("checkout", "--quiet", "main");
    repo.commit("main", "a.txt", "main\n");

    attempt(repo, "merge", "side");
    expect(await gitOf(repo.path)).toMatchObject({
      operation: "merge",
      counts: { conflicted: 1, unstaged: 1 },
      unstagedChanges: [{ path: "a.txt", status: "U" }],
    });
    repo.git("merge", "--abort");

    attempt(repo, "rebase", "side");
    expect(await gitOf(repo.path)).toMatchObject({ operation: "rebase", isDetached: true, currentBranch: "" });
    repo.git("rebase", "--abort");

    attempt(repo, "rebase", "--apply", "side");
    expect(await gitOf(repo.path)).toMatchObject({ operation: "rebase" });
    repo.git("rebase", "--abort");

    attempt(repo, "cherry-pick", "side");
    expect(await gitOf(repo.path)).toMatchObject({ operation: "cherry-pick" });
    repo.git("cherry-pick", "--abort");

    attempt(repo, "revert", "--no-edit", "side");
    expect(await gitOf(repo.path)).toMatchObject({ operation: "revert" });
    repo.git("revert", "--abort");

    writeFileSync(folder.join("side.patch"), repo.git("format-patch", "--stdout", "-1", "side"));
    attempt(repo, "am", folder.join("side.patch"));
    expect(await gitOf(repo.path)).toMatchObject({ operation: "am" });
    repo.git("am", "--abort");

    repo.git("bisect", "start");
    expect(await gitOf(repo.path)).toMatchObject({ operation: "bisect" });
  });

  it("reads a linked worktree with its own branch, changes and operation", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(join(realpathSync(folder.path), "repo"));
    repo.commit("base", "a.txt", "base\n");
    repo.git("worktree", "add", "--quiet", "-b", "side", "../side");
    const side = openTestRepo(join(realpathSync(folder.path), "side"));
    side.commit("side", "a.txt", "side\n");
    repo.commit("main", "a.txt", "main\n");
    attempt(side, "merge", "main");
    const git = await gitOf(side.path);
    expect(git).toMatchObject({
      currentBranch: "side",
      isWorktree: true,
      operation: "merge",
      headCommitMessage: "side",
    });
    expect(git.worktrees.map(({ path, branch }) => ({ path, branch }))).toEqual([
      { path: repo.path, branch: "main" },
      { path: side.path, branch: "side" },
    ]);
    expect(await gitOf(repo.path)).toMatchObject({ currentBranch: "main", isWorktree: false });
    expect((await gitOf(repo.path)).operation).toBeUndefined();
  });

  it("reads a bare repo and a submodule", async () => {
    await using folder = await temporaryFolder();
    const source = createTestRepo(folder.join("source"));
    source.commit("one");
    runTestGit(folder.path, ["clone", "--quiet", "--bare", "source", "bare.git"]);
    expect(await gitOf(folder.join("bare.git"))).toMatchObject({
      isBare: true,
      currentBranch: "main",
      headCommitMessage: "one",
      headCommitSha: source.git("rev-parse", "HEAD").trim(),
      counts: { staged: 0, unstaged: 0, untracked: 0, conflicted: 0 },
    });

    const outer = createTestRepo(folder.join("outer"));
    outer.git("submodule", "--quiet", "add", source.path, "sub");
    outer.commit("with submodule");
    const inner = openTestRepo(join(outer.path, "sub"));
    inner.write("file.txt", "dirty inside");
    expect(await gitOf(inner.path)).toMatchObject({ isSubmodule: true, isWorktree: false, counts: { unstaged: 1 } });
    expect(await gitOf(outer.path)).toMatchObject({ isSubmodule: false, counts: { unstaged: 0 } });
    inner.commit("moved on");
    expect((await gitOf(outer.path)).unstagedChanges).toEqual([{ path: "sub", status: "M" }]);
  });

  it("counts all of 10,000 files and lists some", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    writeFileSync(folder.join("before"), "before\n");
    writeFileSync(folder.join("after"), "after it\n");
    // Links are created much faster than files, and git treats them alike.
    const link = (seed: string, file: string) => linkSync(folder.join(seed), join(repo.path, file));
    for (let index = 0; index < 100; index++) mkdirSync(join(repo.path, `d${index}`));
    for (let index = 0; index < 10_000; index++) link("before", `d${index % 100}/file ${index}.txt`);
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message", "many");
    for (let index = 0; index < 1_500; index++) {
      rmSync(join(repo.path, `d${index % 100}/file ${index}.txt`));
      link("after", `d${index % 100}/file ${index}.txt`);
    }
    for (let index = 0; index < 1_200; index++) link("after", `d1/new ${index}.txt`);
    const git = await gitOf(repo.path);
    expect(git.counts).toEqual({ staged: 0, unstaged: 1_500, untracked: 1_200, conflicted: 0 });
    expect(git.unstagedChanges).toHaveLength(100);
    expect(git.untrackedFiles).toHaveLength(100);
  });

  it("runs no program from the repo's configuration and takes no lock", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    const proof = folder.join("it-ran");
    const evil = folder.join("evil");
    writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> '${proof}'\ncat\n`, { mode: 0o755 });
    repo.commit("zero", "b.txt", "zero\n");
    repo.commit("one", "a.txt", "one\n");
    const nested = createTestRepo(join(repo.path, "nested"));
    // A commit that claims to be signed, so that showing its signature would start the program.
    const signed = repo
      .git("cat-file", "commit", "HEAD")
      .replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n");
    const commit = execFileSync("git", ["hash-object", "-t", "commit", "-w", "--stdin"], {
      cwd: repo.path,
      env: gitTestEnv(),
      input: signed,
    });
    repo.git("reset", "--quiet", "--hard", commit.toString().trim());
    repo.write(".gitattributes", "*.txt filter=evil.name diff=evil\nb.txt filter=included\n");
    const settings = {
      "core.fsmonitor": evil,
      "core.hooksPath": folder.path,
      "core.pager": evil,
      "core.sshCommand": evil,
      "diff.external": evil,
      "diff.evil.textconv": evil,
      "filter.evil.name.clean": evil,
      "filter.evil.name.process": evil,
      "filter.evil.name.required": "true",
      "gpg.program": evil,
      "log.showSignature": "true",
    };
    for (const [key, value] of Object.entries(settings)) repo.git("config", key, value);
    const included = folder.join("included");
    writeFileSync(included, `[filter "included"]\n\tclean = ${evil}\n`);
    repo.git("config", "include.path", included);
    // Same size, other time: git has to look into the file.
    for (const name of ["a.txt", "b.txt"]) utimesSync(join(repo.path, name), new Date(1), new Date(1));
    const index = join(repo.path, ".git/index");
    const before = { bytes: readFileSync(index), changed: statSync(index).mtimeMs };

    const git = await gitOf(repo.path);
    expect(git.headCommitMessage).toBe("one");
    expect(git.unstagedChanges).toEqual([]);
    expect(await gitOf(nested.path)).toMatchObject({ headCommitSha: "" });
    expect(await gitOf(join(repo.path, "gone/long ago"))).toEqual(git);
    expect(existsSync(proof)).toBe(false);
    expect({ bytes: readFileSync(index), changed: statSync(index).mtimeMs }).toEqual(before);

    // Plain git falls into the trap, so the trap works.
    try {
      repo.git("status");
    } catch {
      // The result does not matter.
    }
    expect(existsSync(proof)).toBe(true);
  });

  it("does not compare files when the filters of the repo are unknown", async () => {
    await using folder = await temporaryFolder();
    createTestRepo(folder.join("repo")).commit("one");
    const env = wrapGit(folder.join("bin"), `[ "$2" = config ] && exit 128`);
    const { git, problems } = await readStatus(folder.join("repo"), { env });
    expect(git?.headCommitMessage).toBe("one");
    expect(problems).toEqual([expect.stringContaining("filters could not be read")]);
  });

  it("says why git failed", async () => {
    await using folder = await temporaryFolder();
    expect(await readStatus(folder.path)).toEqual({ problems: [expect.stringContaining("not a git repository")] });
    createTestRepo(folder.path);
    expect(await readStatus(folder.path, { env: { PATH: "/nonexistent" } })).toEqual({
      problems: ["git is not installed, or not on PATH"],
    });
    writeFileSync(folder.join(".git/index"), "this is no index");
    const { git, problems } = await readStatus(folder.path);
    expect(git).toMatchObject({ currentBranch: "main" });
    expect(problems).toEqual([expect.stringMatching(/^Changes: .*index/)]);
  });
});
