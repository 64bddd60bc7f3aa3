/**
 * Which memory files of a workspace speak of a project: their names only, for an agent that wants to read
 * on. A bounded look at the newest ones; a link is not followed, it may lead into another agent's workspace.
 */
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { readFolderIfPresent } from "../base/files.ts";
import { isActiveProject } from "./project.ts";
import type { SessionState } from "./state.ts";

const FOLDER = "memory";
const MOST_FILES = 200;
const MOST_NAMES = 5;
const MOST_BYTES = 64 * 1024;

/** Newest first. Nothing when the project is none, or nothing can be read. */
export async function relatedMemoryFiles(
  workspace: string,
  { project, agentId }: Pick<SessionState, "project" | "agentId">,
): Promise<string[]> {
  if (!isActiveProject(project)) return [];
  const related: string[] = [];
  const isAgentsName = project.toLowerCase() === agentId.toLowerCase();
  const isNamedIn = wordFinder(project, () => true);
  const isMeantIn = isAgentsName ? wordFinder(project, isCalledProject) : isNamedIn;
  for (const name of await newestFiles(workspace)) {
    if (related.length === MOST_NAMES) break;
    if (isNamedIn(name) || isMeantIn(withoutKeys(await beginning(join(workspace, name))))) related.push(name);
  }
  return related;
}

async function newestFiles(workspace: string): Promise<string[]> {
  const entries = await readFolderIfPresent(join(workspace, FOLDER)).catch(() => []);
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => `${FOLDER}/${name}`)
    // They begin with their day.
    .sort((a, b) => (a < b ? 1 : -1))
    .slice(0, MOST_FILES);
  return ["MEMORY.md", ...names];
}

async function beginning(path: string): Promise<string> {
  try {
    if (!(await lstat(path)).isFile()) return "";
    await using handle = await open(path, "r");
    const bytes = Buffer.alloc(MOST_BYTES);
    const { bytesRead } = await handle.read(bytes, 0, MOST_BYTES, 0);
    return bytes.subarray(0, bytesRead).toString("utf8");
  } catch {
    return "";
  }
}

/** Notes often say which session they come from, and its key names agent, channel and people: no project. */
function withoutKeys(text: string): string {
  return text.replace(/\bagent:\S+/gi, "");
}

/** As a word of its own: "api" is not in "rapid". */
function wordFinder(project: string, isMeant: (before: string, behind: string) => boolean): (text: string) => boolean {
  const name = project.toLowerCase();
  return (text) => {
    const lower = text.toLowerCase();
    for (let at = lower.indexOf(name); at !== -1; at = lower.indexOf(name, at + 1)) {
      const end = at + name.length;
      if (isWordPart(lower[at - 1]) || isWordPart(lower[end])) continue;
      if (isMeant(lower.slice(Math.max(0, at - NEAR), at), lower.slice(end, end + NEAR))) return true;
    }
    return false;
  };
}

const NEAR = 20;

/** The bare name of an agent means the agent, or just a word such as "main"; a heading or "project main" does not. */
function isCalledProject(before: string, behind: string): boolean {
  if (/\b(?:project|repo|repository|folder)[^\p{L}\p{N}\n]{1,5}$/u.test(before)) return true;
  return /(?:^|\n)#+ $/.test(before) && /^\s*(?:\n|$)/.test(behind);
}

function isWordPart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
