/** What git is in the middle of, by the files that it keeps in the worktree's own git folder meanwhile. */
import { join } from "node:path";
import { fileExists, readFileIfPresent } from "../base/files.ts";
import type { GitStatus } from "./project-status.ts";

type Operation = NonNullable<GitStatus["operation"]>;

export async function readOperation(gitDir: string): Promise<Operation | undefined> {
  const names = ["rebase-merge", "rebase-apply", "rebase-apply/applying", ...MARKS.map(([name]) => name)];
  const there = new Set<string>();
  await Promise.all(
    names.map(async (name) => {
      if (await fileExists(join(gitDir, name)).catch(() => false)) there.add(name);
    }),
  );
  if (there.has("rebase-apply/applying")) return "am";
  if (there.has("rebase-merge") || there.has("rebase-apply")) return "rebase";
  const mark = MARKS.find(([name]) => there.has(name))?.[1];
  // Between two commits of a long pick there is no mark, only the list of what is still to do.
  return mark === undefined || mark === "bisect" ? ((await readSequence(gitDir)) ?? mark) : mark;
}

const MARKS: readonly (readonly [string, Operation])[] = [
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
];

async function readSequence(gitDir: string): Promise<Operation | undefined> {
  const todo = await readFileIfPresent(join(gitDir, "sequencer/todo")).catch(() => undefined);
  if (todo === undefined) return undefined;
  return todo.subarray(0, 6).toString("utf8") === "revert" ? "revert" : "cherry-pick";
}
