/**
 * The worktrees of an agent's tasks. One is removed when all its tasks have ended and its work is on other branches; a
 * follow-up adds it again. Everything else stays: `holdfast doctor` lists it.
 */
import { join, relative, sep } from "node:path";
import { createKeyedMutex } from "../base/async.ts";
import { fileExists, isInside } from "../base/files.ts";
import type { Logger } from "../base/log.ts";
import type { ClaudeSide } from "../claude/claude-side.ts";
import { claudeLayout } from "../config/layout.ts";
import type { TaskEntries } from "./task-entries.ts";
import { branchOf } from "./task-messages.ts";

export type TaskWorktrees = ReturnType<typeof createTaskWorktrees>;

interface WorktreesOptions {
  claude: ClaudeSide;
  entries: TaskEntries;
  logger: Logger;
}

export function createTaskWorktrees({ claude, entries, logger }: WorktreesOptions) {
  const root = claudeLayout(claude.home).worktreesFolder;
  const turns = createKeyedMutex();
  const nameOf = (folder: string): string => relative(root, folder).split(sep)[0] ?? "";

  /** Named after a task, so a repeated request finds it. */
  const add = async (name: string, repoPath: string): Promise<string> => {
    const { addWorktree } = await import("../project/worktree.ts");
    return await addWorktree(repoPath, { path: join(root, name), branch: branchOf(name) });
  };

  const isInUse = async (name: string): Promise<boolean> => {
    const own = (await entries.list()).filter(({ state }) => nameOf(state.worktree ?? root) === name);
    if (own.some(({ state }) => state.state !== "ended")) return true;
    const path = join(root, name);
    const { sessions } = await claude.discover(path);
    return sessions.some(({ isRunning, cwds }) => isRunning && cwds.some((cwd) => isInside(path, cwd)));
  };

  return {
    add,

    /** The folder of an earlier task. Adds its worktree again if it was removed. */
    reopen: async (folder: string, repoPath: string): Promise<string> =>
      await turns.run(nameOf(folder), async () =>
        (await fileExists(folder)) ? folder : await add(nameOf(folder), repoPath),
      ),

    removeMerged: async (): Promise<void> => {
      const tasks = await entries.list();
      const names = new Set(
        tasks.flatMap(({ state: { worktree } }) => (worktree === undefined ? [] : nameOf(worktree))),
      );
      for (const name of names) {
        await turns.run(name, async () => {
          const path = join(root, name);
          if (!(await fileExists(path)) || (await isInUse(name))) return;
          const { removeWorktree } = await import("../project/worktree.ts");
          const kept = await removeWorktree(path, { branch: branchOf(name) });
          logger.debug(kept === undefined ? "A worktree was removed" : "A worktree is kept", { path, reason: kept });
        });
      }
    },
  };
}
