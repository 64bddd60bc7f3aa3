/**
 * The project of a session. A hand-off never crosses from one project to another, so the name is the same in every
 * folder, worktree and clone of a repo: the name of its remote, or of its main folder if it has no remote.
 */
import { realpath } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { isRecord } from "../base/json-record.ts";
import { redactText } from "../base/redact.ts";
import { printableLine } from "../base/text.ts";
import { findRepo } from "../project/repo.ts";
import { type GitOptions, outputOf, runGit } from "../project/run-git.ts";
import type { DraftEntry, TranscriptEntry } from "../transcript/entries.ts";

/** No project: nothing is noted. */
export const GENERAL_PROJECT = "general";

export interface ProjectPlace {
  /** Set by the person (`/project`). Comes first. */
  named?: string | undefined;
  /** The folder of the session. */
  folder?: string | undefined;
  agentId: string;
  /** The agent's own folder. Its name is the same for every agent, so it is not used. */
  defaultWorkspace?: string | undefined;
}

/** Runs git a few times. Never fails. */
export async function projectName(place: ProjectPlace, options: GitOptions = {}): Promise<string> {
  const named = cleanName(place.named ?? "");
  if (named !== "") return named;
  if (place.folder === undefined || place.folder === "") return GENERAL_PROJECT;
  const folder = await realOrSame(place.folder);
  const isOwn = place.defaultWorkspace !== undefined && (await realOrSame(place.defaultWorkspace)) === folder;
  const repo = await findRepo(folder, options).catch(() => undefined);
  // The agent's folder may be inside a repo without belonging to its project.
  if (repo === undefined || (isOwn && repo.worktreeRoot !== folder)) {
    return cleanName(isOwn ? place.agentId : basename(folder)) || GENERAL_PROJECT;
  }
  const remote = await remoteName(repo.worktreeRoot, options);
  return remote === undefined ? projectOfFolder(repo.root) : cleanName(remote) || GENERAL_PROJECT;
}

/** The name of a repo's main folder, for callers without the time to run git. */
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

/** The last part of the address of `origin`, or of the first remote. The rest may contain a password. */
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

const PROJECT_MARK_TYPE = "holdfast.project";
const MAX_MARK_LENGTH = 200;

export interface ProjectMark {
  before: string;
  project: string;
  folder?: string;
}

/** The transcript entry that records a change of project: earlier messages belong to `before`. */
export function projectMark(mark: ProjectMark): DraftEntry {
  return { type: "custom", customType: PROJECT_MARK_TYPE, data: mark };
}

/** The earlier project, if the entry is a project mark. Its content comes from a file and is checked. */
export function projectBefore(entry: TranscriptEntry): string | undefined {
  if (entry.type !== "custom" || entry.customType !== PROJECT_MARK_TYPE || !isRecord(entry.data)) return undefined;
  const { before } = entry.data;
  return typeof before === "string" && before.length <= MAX_MARK_LENGTH ? before : undefined;
}
