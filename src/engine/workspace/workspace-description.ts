/**
 * What an agent is told about itself: its bootstrap files, where its memory is, and its skills. Files are
 * read again when their stamps change, so that an edit counts from the next turn on and a turn without
 * one costs a few looks at the folder.
 */
import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, localTime } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { createConfinedFiles } from "../tools/confined-files.ts";
import { BOOTSTRAP_FILES, describeBootstrapFiles } from "./bootstrap-files.ts";
import { SKILLS_FOLDER, type Skill, readSkills, skillFile, skillFolders } from "./skills.ts";

export interface WorkspacePrompt {
  system: string;
  skills: { name: string; primaryEnv?: string }[];
  /** Rises when a skill changes; kept in the entry's snapshot. */
  version: number;
}

export interface WorkspaceDescription {
  describe(): Promise<WorkspacePrompt>;
}

export interface WorkspaceDescriptionOptions {
  workspace: string;
  logger: Logger;
  clock: Clock;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_SKILLS_CHARACTERS = 20_000;

export function createWorkspaceDescription(options: WorkspaceDescriptionOptions): WorkspaceDescription {
  const { workspace, logger, clock } = options;
  const files = createConfinedFiles(workspace);
  let known: Known | undefined;
  let skillsKnown: SkillsKnown | undefined;

  const refreshSkills = async (folders: readonly string[]): Promise<SkillsKnown> => {
    const before = skillsKnown;
    const skills = await readSkills(files, folders, logger);
    const text = describeSkills(skills);
    const newest = await newestChange(workspace, folders);
    const version = before === undefined || newest > before.version ? newest : before.version;
    const isUnnoticed = text !== before?.text && version === before?.version;
    return { folders, skills, text, version: isUnnoticed ? version + 1 : version };
  };

  return {
    describe: async () => {
      const memory = memoryFiles(clock.now());
      if (known !== undefined) {
        const { stamps } = stampsOf(workspace, memory, skillsKnown?.folders ?? []);
        if (known.stamps === stamps) return known.prompt;
      }
      // Stamped before it is read: whatever changes from here on is seen the next time.
      const folders = await skillFolders(files, logger);
      const { stamps, present, settled } = stampsOf(workspace, memory, folders);
      const refreshed = await refreshSkills(folders);
      const bootstrap = await describeBootstrapFiles(files, logger);
      const parts = [introduction(workspace), bootstrap, describeMemory(memory, present), refreshed.text];
      const prompt: WorkspacePrompt = {
        system: parts.filter((part) => part !== "").join("\n\n"),
        skills: refreshed.skills.map(snapshotOf),
        version: refreshed.version,
      };
      skillsKnown = refreshed;
      known = settled ? { stamps, prompt } : undefined;
      return prompt;
    },
  };
}

function snapshotOf({ name, primaryEnv }: Skill): WorkspacePrompt["skills"][number] {
  return { name, ...(primaryEnv === undefined ? {} : { primaryEnv }) };
}

interface Known {
  stamps: string;
  prompt: WorkspacePrompt;
}

interface SkillsKnown {
  folders: readonly string[];
  skills: Skill[];
  text: string;
  version: number;
}

/** Two writes within one tick of the file system's clock leave the same stamp. */
const UNSETTLED_MS = 50;

/** Every turn looks. Synchronous on purpose: a dozen cached names cost less than trips to other threads. */
function stampsOf(
  workspace: string,
  memory: MemoryFiles,
  folders: readonly string[],
): { stamps: string; present: ReadonlySet<string>; settled: boolean } {
  const paths = [...BOOTSTRAP_FILES, memory.today, memory.yesterday, SKILLS_FOLDER, ...folders.map(skillFile)];
  const present = new Set<string>();
  let settled = true;
  const unsettledFrom = Date.now() - UNSETTLED_MS;
  const stamps = paths.map((path) => {
    const stats = lookAt(join(workspace, path));
    if (stats === undefined) return `${path}:`;
    present.add(path);
    if (stats.ctimeMs >= unsettledFrom) settled = false;
    return `${path}:${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
  });
  return { stamps: stamps.join("\n"), present, settled };
}

function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** In ms: after a restart, the same skills have the same version, and changed ones a higher one. */
async function newestChange(workspace: string, folders: readonly string[]): Promise<number> {
  const paths = [SKILLS_FOLDER, ...folders.flatMap((folder) => [`${SKILLS_FOLDER}/${folder}`, skillFile(folder)])];
  const times = await Promise.all(
    paths.map(async (path) => (await stat(join(workspace, path)).catch(() => undefined))?.ctimeMs ?? 0),
  );
  return Math.floor(Math.max(0, ...times));
}

interface MemoryFiles {
  today: string;
  yesterday: string;
}

function memoryFiles(now: number): MemoryFiles {
  return { today: memoryFile(now), yesterday: memoryFile(now - DAY_MS) };
}

function memoryFile(at: number): string {
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
  return `Notes of today: ${state(today)}. Notes of yesterday: ${state(yesterday)}. Read them when you need to know what happened; add to today's what you will need later.`;
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
    "Skills: each is a file that says how something is done. Read it before you do what it is for.",
    ...lines,
    ...(left === 0 ? [] : [`[${left} more skills are left out; list the folder ${SKILLS_FOLDER} for them]`]),
  ].join("\n");
}
