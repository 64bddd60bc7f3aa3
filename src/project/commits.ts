/** The last commits. Fields and commits end with NUL, the one character that no commit can contain. */
import type { GitCommit } from "./project-status.ts";
import { type GitOptions, gitProblem, outputOf, runGit } from "./run-git.ts";

const MAX_SUBJECT = 500;
const FIELDS = ["%h", "%s", "%an", "%aI"];

export async function readCommits(
  folder: string,
  count: number,
  options: GitOptions,
): Promise<{ commits: GitCommit[]; head: string; problem?: string }> {
  const format = ["%H", ...FIELDS].join("%x00");
  const args = ["log", "-z", `--max-count=${count}`, "--no-show-signature", "--encoding=UTF-8", "--no-color"];
  const result = await runGit(folder, [...args, `--format=${format}`, "HEAD", "--"], options);
  const text = outputOf(result);
  if (text === undefined) return { commits: [], head: "", problem: gitProblem(result) };
  const parts = text.split("\0");
  const commits: GitCommit[] = [];
  const size = FIELDS.length + 1;
  for (let index = 0; index + size <= parts.length; index += size) {
    const [, sha = "", message = "", author = "", date = ""] = parts.slice(index, index + size);
    commits.push({
      sha,
      message: message.slice(0, MAX_SUBJECT),
      author: author.slice(0, MAX_SUBJECT),
      date: isoDate(date),
    });
  }
  return { commits, head: parts[0] ?? "" };
}

/** A commit may claim any date; one that is none is left empty. */
function isoDate(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? "" : new Date(time).toISOString();
}
