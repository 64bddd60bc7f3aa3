/**
 * Builds an agent's system prompt from its bootstrap files, its memory notes and its skills. Files are read
 * again when their stamps change: an edit takes effect in the next turn, and a turn without edits costs only
 * a few stats.
 */
import { type Stats, statSync, constants } from "node:fs";
import { open, readFile, readdir, stat } from "node:fs/promises";
import { join, dirname } from "node:path";
import { bundledSkillsFolder, dataFile } from "../../base/package.ts";
import { DAY_MS, type Clock, localTime } from "../../base/clock.ts";
import { errorMessage, fileError, systemErrorCode, hasCode } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createConfinedFiles, type ConfinedFiles, readText } from "../tools/confined-files.ts";
import { delimited, printableLine } from "../../base/text.ts";
import { openClawPart, readFrontmatter } from "../../base/frontmatter.ts";
import type { BootstrapFile } from "../../hooks/hook.ts";
import { PRIVATE_FILE, ensurePrivateFolder, fileExists, syncFolder } from "../../base/files.ts";

export interface WorkspacePrompt {
  system: string;
  /** The bootstrap files in `system`, as the agent reads them. Default: none. */
  files?: readonly BootstrapFile[] | undefined;
  /** The same prompt with other files. Default: they follow `system`. */
  withFiles?: ((files: readonly BootstrapFile[]) => string) | undefined;
  skills: { name: string; primaryEnv?: string | undefined }[];
  /** Rises when a skill changes. Stored in the entry's snapshot. */
  version: number;
  /** What the prompt consists of, in OpenClaw's field names. The same for all sessions until a file changes. */
  report?: PromptReport | undefined;
}

/** Sizes in characters. */
export interface PromptReport extends Record<string, unknown> {
  source: "run";
  workspaceDir: string;
  bootstrapMaxChars: number;
  systemPrompt: { chars: number; projectContextChars: number; nonProjectContextChars: number };
  injectedWorkspaceFiles: InjectedFile[];
  skills: { promptChars: number; entries: { name: string }[] };
}

interface InjectedFile {
  name: string;
  rawChars: number;
  injectedChars: number;
  truncated: boolean;
}
const MAX_SKILLS_CHARACTERS = 20_000;

export function createWorkspaceDescription(options: { workspace: string; logger: Logger; clock: Clock }) {
  const { workspace, logger, clock } = options;
  const files = createConfinedFiles(workspace);
  let known: Known | undefined;

  return {
    describe: async (): Promise<WorkspacePrompt> => {
      const memory = { today: memoryFile(clock.now()), yesterday: memoryFile(clock.now() - DAY_MS) };
      if (known !== undefined) {
        const { stamps } = stampsOf(workspace, memory, known.folders);
        if (known.stamps === stamps) return known.prompt;
      }
      // Take the stamps before reading, so that any later change is noticed next time.
      const folders = await skillFolders(files, logger);
      const { stamps, present, settled, version } = stampsOf(workspace, memory, folders);
      const skills = await readSkills(files, folders, logger);
      const { bootstrap, injected } = await readBootstrapFiles(files, logger);
      const skillsPart = describeSkills(skills);
      const rest = [describeMemory(memory, present), skillsPart].filter((part) => part !== "");
      const withFiles = (shown: readonly BootstrapFile[]): string => {
        const blocks = shown.map(({ name, content }) => delimited(name, content));
        return [introduction(workspace), ...blocks, ...rest].join("\n\n");
      };
      const system = withFiles(bootstrap);
      const projectContextChars = system.length - withFiles([]).length;
      const prompt: WorkspacePrompt = {
        system,
        files: bootstrap,
        withFiles,
        report: {
          source: "run",
          workspaceDir: workspace,
          bootstrapMaxChars: MAX_FILE_CHARACTERS,
          systemPrompt: {
            chars: system.length,
            projectContextChars,
            nonProjectContextChars: system.length - projectContextChars,
          },
          injectedWorkspaceFiles: injected,
          skills: { promptChars: skillsPart.length, entries: skills.map(({ name }) => ({ name })) },
        },
        skills: skills.map(({ name, primaryEnv }) => ({ name, primaryEnv })),
        version,
      };
      known = settled ? { stamps, folders, prompt } : undefined;
      return prompt;
    },
  };
}

interface Known {
  stamps: string;
  folders: readonly string[];
  prompt: WorkspacePrompt;
}

/** Two writes within one clock tick of the file system leave the same stamp. */
const UNSETTLED_MS = 50;

/** Synchronous on purpose: a dozen cached stats cost less than a round trip to the thread pool. */
function stampsOf(workspace: string, memory: MemoryFiles, folders: readonly string[]) {
  const skills = [SKILLS_FOLDER, ...folders.flatMap((folder) => [`${SKILLS_FOLDER}/${folder}`, skillFile(folder)])];
  const paths = [...BOOTSTRAP_FILES, memory.today, memory.yesterday, ...skills];
  const present = new Set<string>();
  let newest = 0;
  let newestSkill = 0;
  const stamps = paths.map((path) => {
    const stats = lookAt(join(workspace, path));
    if (stats === undefined) return `${path}:`;
    present.add(path);
    newest = Math.max(newest, stats.ctimeMs);
    if (path.startsWith(SKILLS_FOLDER)) newestSkill = Math.max(newestSkill, stats.ctimeMs);
    return `${path}:${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
  });
  const settled = newest < Date.now() - UNSETTLED_MS;
  // In ms, so that the version stays the same after a restart and rises with every change.
  return { stamps: stamps.join("\n"), present, settled, version: Math.floor(newestSkill) };
}

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

interface MemoryFiles {
  today: string;
  yesterday: string;
}

/** The file for the memories of a day, relative to the workspace. */
export function memoryFile(at: number): string {
  return `memory/${localTime(at).slice(0, 10)}.md`;
}

function introduction(workspace: string): string {
  return (
    `Your workspace is ${workspace}; paths below are relative to it. Its files follow as they are now, each between ` +
    "two marks with its name and the same number. They say who you are, whom you work for and how."
  );
}

function describeMemory({ today, yesterday }: MemoryFiles, present: ReadonlySet<string>): string {
  const state = (path: string): string => `${path} (${present.has(path) ? "is there" : "not there yet"})`;
  return `Notes of today: ${state(today)}. Notes of yesterday: ${state(yesterday)}. Read them when you need to know what happened; add to today's notes what you will need later.`;
}

function describeSkills(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  const lines: string[] = [];
  let length = 0;
  for (const { name, description, path } of skills) {
    const line = `- ${name}: ${description} (${path})`;
    length += line.length + 1;
    if (length > MAX_SKILLS_CHARACTERS) break;
    lines.push(line);
  }
  const left = skills.length - lines.length;
  return [
    "Skills: each is a file that says how to do something. Read it before you do what it is for.",
    ...lines,
    ...(left === 0 ? [] : [`[${left} more skills omitted; list the folder ${SKILLS_FOLDER} to see them]`]),
  ].join("\n");
}

const BOOTSTRAP_FILES = [
  "AGENTS.md",
  "SOUL.md",
  "TOOLS.md",
  "IDENTITY.md",
  "USER.md",
  "HEARTBEAT.md",
  "MEMORY.md",
] as const;

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_FILE_CHARACTERS = 20_000;
const MAX_TOTAL_CHARACTERS = 80_000;

/** Skips missing and empty files. Logs and skips unreadable ones. */
async function readBootstrapFiles(files: ConfinedFiles, logger: Logger) {
  const bootstrap: BootstrapFile[] = [];
  const injected: InjectedFile[] = [];
  let left = MAX_TOTAL_CHARACTERS;
  for (const name of BOOTSTRAP_FILES) {
    const text = await textOf(files, name, logger);
    if (text === "") continue;
    const content = cut(text, name, Math.min(MAX_FILE_CHARACTERS, left));
    left = Math.max(0, left - content.length);
    bootstrap.push({ name, content });
    injected.push({ name, rawChars: text.length, injectedChars: content.length, truncated: content !== text });
  }
  return { bootstrap, injected };
}

async function textOf(files: ConfinedFiles, name: string, logger: Logger): Promise<string> {
  try {
    await using handle = await files.openFile(name);
    return (await readText(handle, name, MAX_FILE_BYTES)).trim();
  } catch (error) {
    if (!hasCode(error, "file-missing")) {
      logger.warn("Skipped a bootstrap file", { file: name, reason: errorMessage(error) });
    }
    return "";
  }
}

function cut(text: string, name: string, length: number): string {
  if (text.length <= length) return text;
  const shown = text.slice(0, length).toWellFormed();
  return `${shown}\n[cut here: ${text.length - shown.length} more characters of ${name}; read the file to see them]`;
}

interface Skill {
  name: string;
  description: string;
  path: string;
  primaryEnv?: string | undefined;
}

const SKILLS_FOLDER = "skills";
const MAX_SKILLS = 200;
const MAX_SKILL_BYTES = 256 * 1024;

async function skillFolders(files: ConfinedFiles, logger: Logger): Promise<string[]> {
  const entries = await files.listFolder(SKILLS_FOLDER).catch((error: unknown) => {
    if (!hasCode(error, "file-missing")) {
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

function skillFile(folder: string): string {
  return `${SKILLS_FOLDER}/${folder}/SKILL.md`;
}

async function readSkills(files: ConfinedFiles, folders: readonly string[], logger: Logger): Promise<Skill[]> {
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
  const head = await readFrontmatter(await readText(handle, path, MAX_SKILL_BYTES));
  if (head === undefined) return "it does not start with frontmatter between two lines of ---";
  const description = oneLine(head["description"], 500);
  if (description === "") return "its frontmatter has no description";
  const { primaryEnv } = openClawPart(head["metadata"]);
  const isVariable = typeof primaryEnv === "string" && /^[A-Za-z_]\w{0,100}$/.test(primaryEnv);
  return {
    name: oneLine(head["name"], 100) || folder,
    description,
    path,
    primaryEnv: isVariable ? primaryEnv : undefined,
  };
}

function oneLine(value: unknown, length: number): string {
  return typeof value === "string" ? printableLine(value, length) : "";
}

/** Creates a missing workspace with the first instructions and the bundled skills. Never changes one that exists. */
export async function ensureWorkspace(workspace: string): Promise<boolean> {
  if (await fileExists(workspace)) return false;
  await ensurePrivateFolder(workspace);
  // Of two processes, the one that creates this file also adds the skills.
  if (!(await createFile(join(workspace, "AGENTS.md"), dataFile("workspace-agents.md")))) return false;
  for (const folder of await readdir(bundledSkillsFolder())) {
    const path = join(workspace, skillFile(folder));
    await ensurePrivateFolder(dirname(path));
    await createFile(path, join(bundledSkillsFolder(), folder, "SKILL.md"));
  }
  return true;
}

/** False: the file is there already. */
async function createFile(path: string, source: string | URL): Promise<boolean> {
  try {
    await using handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, PRIVATE_FILE);
    await handle.writeFile(await readFile(source));
    await handle.sync();
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw fileError(error, "write", path);
  }
  await syncFolder(dirname(path));
  return true;
}
