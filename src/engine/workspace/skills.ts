/** Finds the skills of a workspace: folders with a `SKILL.md` that describes them. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { readFrontmatter } from "../../base/frontmatter.ts";
import { isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import type { ConfinedFiles } from "../tools/confined-files.ts";
import { readText } from "../tools/file-text.ts";
import { printableLine } from "../../base/text.ts";

export interface Skill {
  name: string;
  description: string;
  /** Relative to the workspace. */
  path: string;
  /** The environment variable that the skill needs. */
  primaryEnv?: string | undefined;
}

export const SKILLS_FOLDER = "skills";
const MAX_SKILLS = 200;
const MAX_SKILL_BYTES = 256 * 1024;

/** Names of folders that may hold a skill. */
export async function skillFolders(files: ConfinedFiles, logger: Logger): Promise<string[]> {
  const entries = await files.listFolder(SKILLS_FOLDER).catch((error: unknown) => {
    if (!(error instanceof HoldfastError && error.code === "file-missing")) {
      logger.warn("Cannot list skills", { folder: SKILLS_FOLDER, reason: errorMessage(error) });
    }
    return [];
  });
  const names = entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .sort();
  if (names.length > MAX_SKILLS) logger.warn("Too many skills", { found: names.length, used: MAX_SKILLS });
  return names.slice(0, MAX_SKILLS);
}

export function skillFile(folder: string): string {
  return `${SKILLS_FOLDER}/${folder}/SKILL.md`;
}

/** Logs and skips skills that cannot be read. */
export async function readSkills(files: ConfinedFiles, folders: readonly string[], logger: Logger): Promise<Skill[]> {
  const skills: Skill[] = [];
  for (const folder of folders) {
    const skill = await readSkill(files, folder).catch((error: unknown) => errorMessage(error));
    if (typeof skill === "string") logger.warn("Skipped a skill", { file: skillFile(folder), reason: skill });
    else if (skill !== undefined) skills.push(skill);
  }
  return skills;
}

/** Undefined: the folder has no skill. A string: the problem. */
async function readSkill(files: ConfinedFiles, folder: string): Promise<Skill | string | undefined> {
  const path = skillFile(folder);
  if ((await stat(join(await files.root(), path)).catch(() => undefined)) === undefined) return undefined;
  await using handle = await files.openFile(path);
  const head = readFrontmatter(await readText(handle, path, MAX_SKILL_BYTES));
  if (head === undefined) return "it does not start with frontmatter between two lines of ---";
  const description = printableLine(head.get("description") ?? "", 500);
  if (description === "") return "its frontmatter has no description";
  const primaryEnv = primaryEnvOf(head.get("metadata"));
  return {
    name: printableLine(head.get("name") ?? folder, 100) || folder,
    description,
    path,
    primaryEnv,
  };
}

/** Reads `{"openclaw": {"primaryEnv": "…"}}`, also under OpenClaw's earlier names. */
function primaryEnvOf(metadata: string | undefined): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse((metadata ?? "").replace(/,(?=\s*[}\]])/g, ""));
  } catch {
    return undefined;
  }
  if (!isRecord(parsed)) return undefined;
  const own = parsed["openclaw"] ?? parsed["moltbot"] ?? parsed["clawdbot"];
  const name = isRecord(own) ? own["primaryEnv"] : undefined;
  return typeof name === "string" && /^[A-Za-z_]\w{0,100}$/.test(name) ? name : undefined;
}
