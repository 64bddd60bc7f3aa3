/** The status of many kinds of projects: each readable part is present, every other one is explained. */
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFakeGh, createTestRepo, runTestGit } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { createGithubReader } from "./github-status.ts";
import { readRepoStatus } from "./repo-status.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const NO_DOCS = {
  hasClaudeMd: false,
  hasAgentsMd: false,
  hasSpecs: false,
  specFiles: [],
  hasTodo: false,
  hasReadme: false,
};

describe("readRepoStatus", () => {
  it("reads git, GitHub and documents through a symlink to a subfolder", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(join(realpathSync(folder.path), "app"));
    repo.commit("one");
    repo.git("checkout", "--quiet", "-b", "feat/login");
    for (const name of [
      "CLAUDE.md",
      "AGENTS.md",
      "README.md",
      "TODO.md",
      ".specs/b.md",
      ".specs/a b.md",
      ".specs/x.txt",
    ]) {
      repo.write(name);
    }
    mkdirSync(join(repo.path, "src"));
    symlinkSync(join(repo.path, "src"), folder.join("link"));
    const gh = createFakeGh(folder.join("bin"));
    const clock = createTestClock(NOW);
    const github = createGithubReader({ env: gh.env, clock });

    expect(await readRepoStatus(folder.join("link"), { github, clock })).toMatchObject({
      repo: { path: join(repo.path, "src"), name: "app", isGitRepo: true },
      git: { currentBranch: "feat/login", headCommitMessage: "one", counts: { untracked: 5 } },
      github: { openPrs: [{ number: 42 }], failingChecks: [{ name: "CI / test (24)" }, { name: "ci/coverage" }] },
      docs: {
        hasClaudeMd: true,
        hasAgentsMd: true,
        hasSpecs: true,
        specFiles: ["a b.md", "b.md"],
        hasTodo: true,
        hasReadme: true,
      },
      problems: [],
      timestamp: "2026-11-15T12:00:00.000Z",
    });
    expect(gh.calls().flat()).toContain("--head=feat/login");
  });

  it("keeps the rest when GitHub cannot be asked", async () => {
    await using folder = await temporaryFolder();
    createTestRepo(folder.path).commit("one");
    const github = createGithubReader({ env: { PATH: "/nonexistent" } });
    const status = await readRepoStatus(folder.path, { github });
    expect(status.git?.headCommitMessage).toBe("one");
    expect(status.github).toBeUndefined();
    expect(status.problems).toEqual([expect.stringContaining("gh is not installed")]);
  });

  it("answers for a folder outside every repo", async () => {
    await using folder = await temporaryFolder();
    writeFileSync(folder.join("README.md"), "hi");
    const status = await readRepoStatus(folder.path);
    expect(status).toMatchObject({
      repo: { path: realpathSync(folder.path), isGitRepo: false, problem: "this folder is not in a git repo" },
      docs: { ...NO_DOCS, hasReadme: true },
      problems: ["Git: this folder is not in a git repo"],
    });
    expect(status.git).toBeUndefined();
  });

  it("answers without git", async () => {
    await using folder = await temporaryFolder();
    createTestRepo(folder.path).write("TODO.md");
    const status = await readRepoStatus(folder.path, { env: { PATH: "/nonexistent" } });
    expect(status).toMatchObject({
      repo: { isGitRepo: false, problem: "git is not installed, or not on PATH" },
      docs: { ...NO_DOCS, hasTodo: true },
    });
  });

  it("answers for a git that hangs", async () => {
    await using folder = await temporaryFolder();
    createTestRepo(folder.join("repo"));
    mkdirSync(folder.join("bin"));
    writeFileSync(folder.join("bin/git"), "#!/bin/sh\nsleep 600\n", { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder.join("bin")}:${process.env["PATH"]}` };
    const status = await readRepoStatus(folder.join("repo"), { env, gitTimeoutMs: 200, github: false });
    expect(status.problems).toEqual(["Git: git took too long and was stopped"]);
  });

  it("answers for an empty and for a bare repo", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    expect(await readRepoStatus(repo.path, { github: false })).toMatchObject({
      git: { currentBranch: "main", headCommitSha: "", recentCommits: [] },
      problems: [],
    });
    repo.commit("one");
    runTestGit(folder.path, ["clone", "--quiet", "--bare", "repo", "app.git"]);
    expect(await readRepoStatus(folder.join("app.git"), { github: false })).toMatchObject({
      repo: { name: "app", isGitRepo: true },
      git: { isBare: true, headCommitMessage: "one" },
      docs: NO_DOCS,
      problems: [],
    });
  });

  it("refuses a missing folder and a file", async () => {
    await using folder = await temporaryFolder();
    const gone = folder.join("gone");
    mkdirSync(gone);
    rmSync(gone, { recursive: true });
    await expect(readRepoStatus(gone)).rejects.toMatchObject({ kind: "not-found", code: "project-not-found" });
    writeFileSync(folder.join("file"), "");
    await expect(readRepoStatus(folder.join("file"))).rejects.toMatchObject({ kind: "usage", code: "not-a-folder" });
  });
});
