/**
 * What is worked on. A hand-off never crosses from one project to another, so the name is the same from
 * every folder, worktree and clone of a repo: its remote's, and without a remote its main folder's.
 */
import { realpath } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { redactText } from "../base/redact.ts";
import { findRepo } from "../project/repo.ts";
import { type GitOptions, outputOf, runGit } from "../project/run-git.ts";
import { printableLine } from "../base/text.ts";

/** Nothing in particular: nothing of it is noted. */
export const GENERAL_PROJECT = "general";

export interface ProjectPlace {
  /** As the person named it (`/project`). Comes first. */
  named?: string | undefined;
  /** Where the session works. */
  folder?: string | undefined;
  agentId: string;
  /** The agent's own folder; its name would be the same for every agent. */
  defaultWorkspace?: string | undefined;
}

/** Runs git a few times; whoever asks often keeps the answer per folder. Never fails. */
export async function projectName(place: ProjectPlace, options: GitOptions = {}): Promise<string> {
  const named = cleanName(place.named ?? "");
  if (named !== "") return named;
  if (place.folder === undefined || place.folder === "") return GENERAL_PROJECT;
  const folder = await realOrSame(place.folder);
  const isOwn = place.defaultWorkspace !== undefined && (await realOrSame(place.defaultWorkspace)) === folder;
  const repo = await findRepo(folder, options).catch(() => undefined);
  // The agent's folder may lie in somebody's repo without being a part of the work on it.
  if (repo === undefined || (isOwn && repo.worktreeRoot !== folder)) {
    return cleanName(isOwn ? place.agentId : basename(folder)) || GENERAL_PROJECT;
  }
  const remote = await remoteName(repo.worktreeRoot, options);
  return remote === undefined ? projectOfFolder(repo.root) : cleanName(remote) || GENERAL_PROJECT;
}

/** Of a repo's main folder, for whoever has no time to ask git for the remote. */
export function projectOfFolder(folder: string): string {
  return cleanName(basename(folder).replace(/(?<=.)\.git$/, "")) || GENERAL_PROJECT;
}

export function isActiveProject(project: string): boolean {
  return project !== "" && project !== GENERAL_PROJECT;
}

const NAME_LENGTH = 80;

function cleanName(name: string): string {
  return printableLine(redactText(name.slice(0, 10_000)), NAME_LENGTH);
}

/** The last part of the address of `origin`, else of the first remote. The rest may hold a password. */
async function remoteName(folder: string, options: GitOptions): Promise<string | undefined> {
  const listed = await runGit(folder, ["config", "--null", "--get-regexp", String.raw`^remote\..*\.url$`], options);
  const remotes = (outputOf(listed) ?? "").split("\0").flatMap((line) => {
    const end = line.indexOf("\n");
    return end === -1 ? [] : [{ key: line.slice(0, end), url: line.slice(end + 1) }];
  });
  const url = (remotes.find(({ key }) => key === "remote.origin.url") ?? remotes[0])?.url;
  const name = url
    ?.replace(/[?#].*$/s, "")
    .replace(/[/\\]+$/, "")
    .replace(/\.git$/i, "")
    .split(/[/\\:]/)
    .at(-1);
  return name === undefined || name === "" ? undefined : name;
}

async function realOrSame(path: string): Promise<string> {
  return await realpath(path).catch(() => resolve(path));
}
