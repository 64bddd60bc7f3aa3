/** Verification against real repos: a claim, what happened since, and the resulting line. */
import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createTestRepo, runTestGit, type TestRepo, wrapGit } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import type { GithubReading } from "../project/github-status.ts";
import type { SummaryItem } from "./state.ts";
import { type VerifyOptions, verifyItems } from "./verify.ts";

describe("a branch", () => {
  it("was merged since", async () => {
    await using folder = await temporaryFolder();
    const repo = repoWithBranch(folder.join("app"), "fix/login");
    repo.git("merge", "--quiet", "--no-ff", "fix/login");
    expect(await remark(repo, "The tests on fix/login are failing")).toBe(
      "was failing; the branch has since been merged",
    );
    expect(await remark(repo, "The branch fix/login still needs a review")).toBe("the branch has since been merged");
  });

  it("was merged and deleted", async () => {
    await using folder = await temporaryFolder();
    const repo = repoWithBranch(folder.join("app"), "fix/login");
    repo.git("merge", "--quiet", "--no-ff", "fix/login");
    repo.git("branch", "--quiet", "-D", "fix/login");
    expect(await remark(repo, "CI fails on branch fix/login")).toBe("was failing; the branch is gone: it was merged");
  });

  it("was discarded", async () => {
    await using folder = await temporaryFolder();
    const repo = repoWithBranch(folder.join("app"), "fix/login");
    repo.git("branch", "--quiet", "-D", "fix/login");
    expect(await remark(repo, "Go on with the branch fix/login")).toBe("the branch is gone");
  });

  it("is the one worked on then if the line names none", async () => {
    await using folder = await temporaryFolder();
    const repo = repoWithBranch(folder.join("app"), "retry-queue");
    // The branch was left after the message.
    repo.git("merge", "--quiet", "--no-ff", "retry-queue");
    const since = new Date(Date.now() - 60_000).toISOString();
    expect(await remark(repo, "The integration tests are failing", { since })).toBe(
      "was failing; branch retry-queue has since been merged",
    );
  });

  it("is not mentioned if it is open or never existed", async () => {
    await using folder = await temporaryFolder();
    const repo = repoWithBranch(folder.join("app"), "fix/login");
    expect(await remark(repo, "The branch fix/login needs a review")).toBeUndefined();
    expect(await remark(repo, "Next I'll make a branch feature/sso for it")).toBeUndefined();
    expect(await remark(repo, "Split it into a fix/refactor pair")).toBeUndefined();
    expect(await remark(repo, "well-known words are no-branch here")).toBeUndefined();
    expect(await remark(repo, "A half-finished branch looks good, see docs/setup")).toBeUndefined();
  });
});

describe("a file", () => {
  it("changed, was removed, or is unchanged", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("app"));
    for (const file of ["src/a.ts", "src/b.ts", "src/c.ts"]) commitBefore(repo, `add ${file}`, file);
    const since = new Date(Date.now() - 60_000).toISOString();
    repo.commit("rework", "src/a.ts", "other\n");
    repo.git("rm", "--quiet", "src/b.ts");
    repo.git("commit", "--quiet", "--message", "remove");
    expect(await remark(repo, "Stuck in src/a.ts", { since })).toBe("src/a.ts has changed since");
    expect(await remark(repo, "Stuck in `src/b.ts`.", { since })).toBe("src/b.ts is gone");
    expect(await remark(repo, "Stuck in b.ts", { since })).toBe("b.ts is gone");
    expect(await remark(repo, "Stuck in src/c.ts", { since })).toBeUndefined();
    expect(await remark(repo, "Node.js 24.1 and example.com are no files", { since })).toBeUndefined();
  });
});

describe("uncommitted work", () => {
  it("is counted, or reported as gone", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("app"));
    commitBefore(repo, "first");
    repo.write("one.txt");
    repo.write("two.txt");
    expect(await remark(repo, "The changes are not committed yet")).toBe("2 changes uncommitted now");
    rmSync(`${repo.path}/one.txt`);
    rmSync(`${repo.path}/two.txt`);
    expect(await remark(repo, "I still have to commit the parser")).toBe("the tree is clean now");
  });
});

describe("checks", () => {
  it("are GitHub's current checks of the branch", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("app"));
    commitBefore(repo, "first");
    const pr = { number: 1, title: "t", branch: "main", state: "OPEN", author: "a", updatedAt: "" };
    const reading = (failing: string[]): GithubReading => ({
      github: {
        openPrs: [pr],
        assignedPrs: [],
        recentPrActivity: [],
        failingChecks: failing.map((name) => ({ name, status: "completed", conclusion: "failure" })),
      },
    });
    const asked = (failing: string[]) => ({ github: async () => reading(failing) });
    expect(await remark(repo, "CI is red", asked(["ci / build", "ci / lint"]))).toBe(
      "still failing now: ci / build and 1 more",
    );
    expect(await remark(repo, "CI is red", asked([]))).toBe("no check of its pull request fails now");
    expect(await remark(repo, "The weather is red", asked(["ci"]))).toBeUndefined();
  });

  it("are those of the branch where they failed, also when seen from another branch", async () => {
    await using folder = await temporaryFolder();
    // Now on main again; the message was written on the branch.
    const repo = repoWithBranch(folder.join("app"), "fix/login");
    repo.git("branch", "--quiet", "fix/other");
    const asked: string[] = [];
    const github = async ({ branch }: { branch: string }): Promise<GithubReading> => {
      asked.push(branch);
      const failingChecks = [{ name: `ci of ${branch}`, status: "completed", conclusion: "failure" }];
      return { github: { openPrs: [], assignedPrs: [], recentPrActivity: [], failingChecks } };
    };
    const since = new Date(Date.now() - 60_000).toISOString();
    expect(await remark(repo, "CI is red", { github, since })).toBe("still failing now: ci of fix/login");
    expect(await remark(repo, "CI is red on the branch fix/login", { github, since })).toBe(
      "still failing now: ci of fix/login",
    );
    expect(await remark(repo, "CI is red on the branch fix/other", { github, since })).toBeUndefined();
    expect(asked).toEqual(["fix/login", "fix/login", "fix/login"]);
  });
});

describe("commits since", () => {
  it("about the same thing are named", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("app"));
    commitBefore(repo, "first");
    repo.commit("Retry webhooks with back-off", "x.ts");
    const sha = repo.git("rev-parse", "--short", "HEAD").trim();
    expect(await remark(repo, "Webhook retries have no back-off")).toBe(
      `since then commit ${sha}: “Retry webhooks with back-off”`,
    );
    expect(await remark(repo, "The invoice has no address")).toBeUndefined();
  });
});

describe("an unverifiable claim", () => {
  it("stays unchanged outside a repo, without a folder, or without time", async () => {
    await using folder = await temporaryFolder();
    const items = [item("The branch fix/login fails its tests in src/a.ts and is not committed")];
    const at = new Date().toISOString();
    expect((await verifyItems({ items, cwd: folder.path, lastMessageAt: at })).size).toBe(0);
    expect((await verifyItems({ items, cwd: folder.join("gone"), lastMessageAt: at })).size).toBe(0);
    expect((await verifyItems({ items, lastMessageAt: at })).size).toBe(0);
    expect((await verifyItems({ items, cwd: folder.path, lastMessageAt: "never" })).size).toBe(0);
    expect((await verifyItems({ items, cwd: folder.path, lastMessageAt: at }, { budgetMs: 0 })).size).toBe(0);
  });

  it("does not wait for a hanging git", async () => {
    await using folder = await temporaryFolder();
    const repo = repoWithBranch(folder.join("app"), "fix/login");
    const env = wrapGit(folder.join("bin"), "sleep 20");
    const began = performance.now();
    expect(
      await remark(repo, "The branch fix/login is failing its tests", { budgetMs: 300, git: { env } }),
    ).toBeUndefined();
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it("shows no text of the repo that could attack a terminal or a model", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("app"));
    commitBefore(repo, "first");
    repo.write("x.ts");
    repo.git("add", ".");
    writeFileSync(folder.join("message"), "Retry webhooks \u001b[2J always\n");
    repo.git("commit", "--quiet", "--file", folder.join("message"));
    expect(await remark(repo, "Webhook retries always stop")).not.toContain("\u001b");
  });
});

/** A branch with a commit of its own, made an hour ago; the checkout back to main is of now. */
function repoWithBranch(path: string, branch: string): TestRepo {
  const repo = createTestRepo(path);
  commitBefore(repo, "first");
  gitBefore(repo, "checkout", "--quiet", "-b", branch);
  commitBefore(repo, "work", "work.txt");
  repo.git("checkout", "--quiet", "main");
  return repo;
}

function commitBefore(repo: TestRepo, message: string, file = "file.txt"): void {
  repo.write(file);
  gitBefore(repo, "add", "--", file);
  gitBefore(repo, "commit", "--quiet", "--message", message);
}

/** An hour ago, as far as git knows. */
function gitBefore(repo: TestRepo, ...args: string[]): void {
  const date = new Date(Date.now() - 3_600_000).toISOString();
  runTestGit(repo.path, args, { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date });
}

interface RemarkOptions extends VerifyOptions {
  since?: string;
}

async function remark(repo: TestRepo, text: string, options: RemarkOptions = {}): Promise<string | undefined> {
  const { since = new Date(Date.now() - 2_000).toISOString(), ...rest } = options;
  const one = item(text);
  return (await verifyItems({ items: [one], cwd: repo.path, lastMessageAt: since }, rest)).get(one);
}

function item(text: string): SummaryItem {
  return { kind: "blocker", text, entryId: "aaaa0001", timestamp: new Date().toISOString() };
}
