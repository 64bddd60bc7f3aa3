/** Which documents a project has for those who work on it. Only names are looked at, never contents. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DocsStatus } from "./project-status.ts";

const MAX_SPECS = 100;

export async function readDocsStatus(folder: string): Promise<DocsStatus> {
  const [files, specs] = await Promise.all([namesIn(folder), namesIn(join(folder, ".specs"))]);
  const has = (name: string) => files?.includes(name) === true;
  return {
    hasClaudeMd: has("CLAUDE.md"),
    hasAgentsMd: has("AGENTS.md"),
    hasSpecs: specs !== undefined,
    specFiles: (specs ?? [])
      .filter((name) => name.endsWith(".md"))
      .sort()
      .slice(0, MAX_SPECS),
    hasTodo: has("TODO.md"),
    hasReadme: has("README.md"),
  };
}

/** Undefined when there is no such folder, or it cannot be read. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder);
  } catch {
    return undefined;
  }
}
