import { mkdir, symlink } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { createTestRepo } from "../../test/support/git-repo.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { isActiveProject, projectName } from "./project.ts";

const agentId = "main";

describe("a project is named", () => {
  test("by the person's choice", async () => {
    expect(await projectName({ named: " Website\u001b relaunch\n", folder: "/", agentId })).toBe(
      String.raw`Website\u001b relaunch`,
    );
  });

  test.each([
    ["https://user:secret@example.org/team/webshop.git", "webshop"],
    ["git@example.org:team/webshop.git", "webshop"],
    ["git@example.org:webshop", "webshop"],
    ["ssh://example.org/team/webshop/", "webshop"],
    ["/srv/git/webshop.git", "webshop"],
    ["https://example.org/webshop?token=x", "webshop"],
  ])("after its remote %s", async (url, name) => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("checkout"));
    repo.git("remote", "add", "fork", "https://example.org/me/other.git");
    repo.git("remote", "add", "origin", url);
    await mkdir(folder.join("checkout", "src"));
    expect(await projectName({ folder: folder.join("checkout", "src"), agentId })).toBe(name);
  });

  test("the same in a worktree, through a link and in a subfolder", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("shop"));
    repo.commit("first");
    repo.git("worktree", "add", "--quiet", folder.join("elsewhere"));
    await symlink(folder.join("shop"), folder.join("link"));
    for (const path of ["shop", "elsewhere", "link"]) {
      expect(await projectName({ folder: folder.join(path), agentId })).toBe("shop");
    }
  });

  test("after its folder without git, and after the agent in the agent's workspace", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("notes"));
    await mkdir(folder.join("workspace"));
    const defaultWorkspace = folder.join("workspace");
    expect(await projectName({ folder: folder.join("notes"), agentId, defaultWorkspace })).toBe("notes");
    expect(await projectName({ folder: folder.join("workspace"), agentId, defaultWorkspace })).toBe("main");
    createTestRepo(folder.join("workspace")).git("remote", "add", "origin", "https://example.org/diary.git");
    expect(await projectName({ folder: folder.join("workspace"), agentId, defaultWorkspace })).toBe("diary");
  });

  test("after the agent if its workspace is inside a repo", async () => {
    await using folder = await temporaryFolder();
    createTestRepo(folder.join("home"));
    await mkdir(folder.join("home", "workspace"));
    const workspace = folder.join("home", "workspace");
    expect(await projectName({ folder: workspace, agentId, defaultWorkspace: workspace })).toBe("main");
  });

  test("general by default", async () => {
    expect(await projectName({ agentId })).toBe("general");
    expect(await projectName({ named: "  ", folder: "", agentId })).toBe("general");
  });
});

test("notes nothing for the general project", () => {
  expect(["general", "", "webshop"].map(isActiveProject)).toEqual([false, false, true]);
});
