/** Pull requests and checks from a stand-in for `gh` that answers with recorded JSON, or misbehaves. */
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createFakeGh } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { createGithubReader } from "./github-status.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");

function question(folder: string, branch = "feat/login") {
  return { folder, repo: folder, branch };
}

describe("the GitHub part", () => {
  it("reads open, assigned and recent pull requests and failing checks", async () => {
    await using folder = await temporaryFolder();
    const gh = createFakeGh(folder.join("bin"));
    const read = createGithubReader({ env: gh.env, clock: createTestClock(NOW) });
    const login = {
      number: 42,
      title: "Add login with “quotes” | and pipes 🔐",
      branch: "feat/login",
      state: "open",
      author: "octocat",
      updatedAt: "2026-11-15T10:07:12Z",
    };
    const reading = await read(question(folder.path));
    expect(reading).toEqual({
      github: {
        openPrs: [login],
        assignedPrs: [
          {
            number: 40,
            title: "Bump zod from 3 to 4",
            branch: "dependabot/npm_and_yarn/zod-4",
            state: "open",
            author: "app/dependabot",
            updatedAt: "2026-11-01T08:00:00Z",
          },
        ],
        recentPrActivity: [
          login,
          expect.objectContaining({ number: 41, state: "merged", author: "mona", branch: "fix/parser" }),
        ],
        failingChecks: [
          { name: "CI / test (24)", status: "completed", conclusion: "failure" },
          { name: "ci/coverage", status: "completed", conclusion: "error" },
        ],
      },
    });
    expect(gh.calls().sort((a, b) => a.join().localeCompare(b.join()))).toEqual([
      [
        "pr",
        "list",
        "--limit=20",
        "--state=all",
        "--search=updated:>=2026-11-14T12:00:00Z sort:updated-desc",
        "--json=number,title,headRefName,state,author,updatedAt",
      ],
      [
        "pr",
        "list",
        "--limit=20",
        "--state=open",
        "--assignee=@me",
        "--json=number,title,headRefName,state,author,updatedAt",
      ],
      [
        "pr",
        "list",
        "--limit=20",
        "--state=open",
        "--head=feat/login",
        "--json=number,title,headRefName,state,author,updatedAt,statusCheckRollup",
      ],
    ]);
  });

  it("asks once a minute for each repo and branch, also when calls overlap", async () => {
    await using folder = await temporaryFolder();
    const gh = createFakeGh(folder.join("bin"));
    const clock = createTestClock(NOW);
    const read = createGithubReader({ env: gh.env, clock });
    await Promise.all([read(question(folder.path)), read(question(folder.path))]);
    clock.advance(59_999);
    await read(question(folder.path));
    expect(gh.calls()).toHaveLength(3);
    clock.advance(1);
    await read(question(folder.path));
    expect(gh.calls()).toHaveLength(6);
    // On a detached HEAD there is no branch to ask about.
    const { github } = await read(question(folder.path, ""));
    expect(github).toMatchObject({ openPrs: [], failingChecks: [] });
    expect(gh.calls()).toHaveLength(8);
  });

  it("keeps a late answer for the next call", async () => {
    await using folder = await temporaryFolder();
    const gate = folder.join("go");
    const gh = createFakeGh(folder.join("bin"), `while [ ! -e '${gate}' ]; do sleep 0.02; done\n$ANSWER`);
    const read = createGithubReader({ env: gh.env, clock: createTestClock(NOW), waitMs: 100 });
    expect(await read(question(folder.path))).toEqual({ problem: expect.stringContaining("within 100 ms") });
    writeFileSync(gate, "");
    let late = await read(question(folder.path));
    for (let attempt = 0; attempt < 50 && late.github === undefined; attempt++)
      late = await read(question(folder.path));
    expect(late.github?.openPrs).toHaveLength(1);
    expect(gh.calls()).toHaveLength(3);
  });

  it.each([
    [
      "is not signed in",
      `echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4`,
      "gh auth login",
    ],
    ["prints no JSON", "echo '<html>'", "not JSON"],
    ["prints other JSON", `echo '{"message":"no"}'`, "not a list"],
    ["prints too much", "exec yes", "printed too much to read"],
    ["fails", "echo 'no git remotes found' >&2; exit 1", "gh says: no git remotes found"],
    ["hangs", "sleep 600", "took too long"],
    ["fails in one part", `case "$*" in *--assignee=*) exit 1 ;; esac\n$ANSWER`, "exit code 1"],
  ])("says so when gh %s", async (_, body, problem) => {
    await using folder = await temporaryFolder();
    const gh = createFakeGh(folder.join("bin"), body);
    const read = createGithubReader({ env: gh.env, clock: createTestClock(NOW), timeoutMs: 1_000, waitMs: 10_000 });
    expect(await read(question(folder.path))).toEqual({ problem: expect.stringMatching(/^GitHub: /) });
    expect((await read(question(folder.path))).problem).toContain(problem);
  });

  it("reports a missing gh and soon looks again", async () => {
    await using folder = await temporaryFolder();
    const clock = createTestClock(NOW);
    const read = createGithubReader({ env: { PATH: `${folder.join("bin")}:/usr/bin:/bin` }, clock });
    expect((await read(question(folder.path))).problem).toContain("gh is not installed");
    createFakeGh(folder.join("bin"));
    clock.advance(15_000);
    expect((await read(question(folder.path))).github?.openPrs).toHaveLength(1);
  });

  it("survives items of unknown shape", async () => {
    await using folder = await temporaryFolder();
    const items = `[null, 1, {"number":"1"}, {"number":3,"title":7,"author":null,"statusCheckRollup":[null,{}]}]`;
    const gh = createFakeGh(folder.join("bin"), `echo '${items}'`);
    const read = createGithubReader({ env: gh.env, clock: createTestClock(NOW) });
    expect((await read(question(folder.path))).github?.openPrs).toEqual([
      { number: 3, title: "", branch: "", state: "", author: "", updatedAt: "" },
    ]);
  });
});
