/** Skills of a workspace: folders with a `SKILL.md` that says what it is for. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { readFrontmatter } from "../../base/frontmatter.ts";
import { isRecord } from "../../base/json-record.ts";
import type { Logger } from "../../base/log.ts";
import { printableLine } from "../../base/printable.ts";
import type { ConfinedFiles } from "../tools/confined-files.ts";
import { readText } from "../tools/file-text.ts";

export interface Skill {
  name: string;
  description: string;
  /** Below the workspace. */
  path: string;
  /** The environment variable that it cannot do without. */
  primaryEnv?: string;
}

export const SKILLS_FOLDER = "skills";
const MAX_SKILLS = 200;
const MAX_SKILL_BYTES = 256 * 1024;

/** Names of the folders that may hold a skill. */
export async function skillFolders(files: ConfinedFiles, logger: Logger): Promise<string[]> {
  const entries = await files.listFolder(SKILLS_FOLDER).catch((error: unknown) => {
    if (!(error instanceof HoldfastError && error.code === "file-missing")) {
      logger.warn("skills left out", { folder: SKILLS_FOLDER, reason: errorMessage(error) });
    }
    return [];
  });
  const names = entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .sort();
  if (names.length > MAX_SKILLS) logger.warn("too many skills", { found: names.length, used: MAX_SKILLS });
  return names.slice(0, MAX_SKILLS);
}

export function skillFile(folder: string): string {
  return `${SKILLS_FOLDER}/${folder}/SKILL.md`;
}

/** What can be read; the rest is reported and passed over. */
export async function readSkills(files: ConfinedFiles, folders: readonly string[], logger: Logger): Promise<Skill[]> {
  const skills: Skill[] = [];
  for (const folder of folders) {
    const skill = await readSkill(files, folder).catch((error: unknown) => errorMessage(error));
    if (typeof skill === "string") logger.warn("skill left out", { file: skillFile(folder), reason: skill });
    else if (skill !== undefined) skills.push(skill);
  }
  return skills;
}

/** Undefined for a folder without a skill, a text for one that is broken. */
async function readSkill(files: ConfinedFiles, folder: string): Promise<Skill | string | undefined> {
  const path = skillFile(folder);
  if ((await stat(join(await files.root(), path)).catch(() => undefined)) === undefined) return undefined;
  await using handle = await files.openFile(path);
  const head = readFrontmatter(await readText(handle, path, MAX_SKILL_BYTES));
  if (head === undefined) return "it does not begin with a head between two lines of ---";
  const description = printableLine(head.get("description") ?? "", 500);
  if (description === "") return "its head has no description";
  const primaryEnv = primaryEnvOf(head.get("metadata"));
  return {
    name: printableLine(head.get("name") ?? folder, 100) || folder,
    description,
    path,
    ...(primaryEnv === undefined ? {} : { primaryEnv }),
  };
}

/** `{"openclaw": {"primaryEnv": "…"}}`, under the names that OpenClaw has had. */
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
