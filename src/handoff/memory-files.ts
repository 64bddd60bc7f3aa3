/**
 * Names of a workspace's memory files that mention a project. Only the newest files are searched, and links are not
 * followed, because they may lead into another agent's workspace.
 */
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";
import { readFolderIfPresent } from "../base/files.ts";
import { isActiveProject } from "./project.ts";
import type { SessionState } from "./state.ts";

const FOLDER = "memory";
const MAX_FILES = 200;
const MAX_NAMES = 5;
const MAX_BYTES = 64 * 1024;

/** Newest first. Empty without a project. */
export async function relatedMemoryFiles(
  workspace: string,
  { project, agentId }: Pick<SessionState, "project" | "agentId">,
): Promise<string[]> {
  if (!isActiveProject(project)) return [];
  const related: string[] = [];
  const isAgentsName = project.toLowerCase() === agentId.toLowerCase();
  const isNamedIn = nameFinder(project, false);
  const isMeantIn = nameFinder(project, isAgentsName);
  for (const name of await newestFiles(workspace)) {
    if (related.length === MAX_NAMES) break;
    if (isNamedIn(name) || isMeantIn(withoutKeys(await beginning(join(workspace, name))))) related.push(name);
  }
  return related;
}

async function newestFiles(workspace: string): Promise<string[]> {
  const entries = await readFolderIfPresent(join(workspace, FOLDER)).catch(() => []);
  const names = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => `${FOLDER}/${name}`)
    // Their names begin with the day.
    .sort((a, b) => (a < b ? 1 : -1))
    .slice(0, MAX_FILES);
  return ["MEMORY.md", ...names];
}

async function beginning(path: string): Promise<string> {
  try {
    if (!(await lstat(path)).isFile()) return "";
    await using handle = await open(path, "r");
    const bytes = Buffer.alloc(MAX_BYTES);
    const { bytesRead } = await handle.read(bytes, 0, MAX_BYTES, 0);
    return bytes.subarray(0, bytesRead).toString("utf8");
  } catch {
    return "";
  }
}

/** Notes often contain session keys, which name an agent, a channel and people, not a project. */
function withoutKeys(text: string): string {
  return text.replace(/\bagent:\S+/gi, "");
}

/** Finds the name as a word: "api" is not in "rapid". */
function nameFinder(project: string, isAgentsName: boolean): (text: string) => boolean {
  const name = project.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  const word = String.raw`(?<![\p{L}\p{N}])${name}(?![\p{L}\p{N}])`;
  // An agent's name alone means the agent, or is a common word like "main".
  const called = String.raw`\b(?:project|repo|repository|folder)[^\p{L}\p{N}\n]{1,5}${word}|^#+ ${name}[^\S\n]*$`;
  const pattern = new RegExp(isAgentsName ? called : word, "imu");
  return (text) => pattern.test(text);
}
