/**
 * A filter is a program that git runs on files to compare them (`filter.<name>.clean`). One that the
 * repo's own configuration brings is switched off: looking at a repo must not run what is in it. Such
 * files are then compared as they are. Filters of the person's own configuration (Git LFS) stay.
 */
import { type GitOptions, type GitSetting, outputOf, runGit } from "./run-git.ts";

/** Undefined when git did not tell: then nothing is known to be safe. */
export async function repoFilterOverrides(folder: string, options: GitOptions): Promise<GitSetting[] | undefined> {
  const args = ["config", "--null", "--show-scope", "--name-only", "--get-regexp", "^filter\\."];
  const names = new Set<string>();
  const result = await runGit(folder, args, options);
  // Git exits with 1 when there is no such key.
  const text = result.exitCode === 1 ? "" : outputOf(result);
  if (text === undefined) return undefined;
  // Pairs of scope and key.
  const parts = text.split("\0");
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const key = parts[index + 1] ?? "";
    if (parts[index] !== "local" && parts[index] !== "worktree") continue;
    names.add(key.slice("filter.".length, key.lastIndexOf(".")));
  }
  return Array.from(names).flatMap((name): GitSetting[] => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
}
