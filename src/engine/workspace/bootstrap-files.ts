/** The files by which an agent knows who it is, as a part of what it is told. */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { delimited } from "../../base/delimited.ts";
import type { ConfinedFiles } from "../tools/confined-files.ts";
import { readText } from "../tools/file-text.ts";

/** In the order in which they are told. */
export const BOOTSTRAP_FILES = [
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

/** Missing and empty ones are passed over; so are those that cannot be read, which is logged. */
export async function describeBootstrapFiles(files: ConfinedFiles, logger: Logger): Promise<string> {
  const parts: string[] = [];
  let left = MAX_TOTAL_CHARACTERS;
  for (const name of BOOTSTRAP_FILES) {
    const text = await textOf(files, name, logger);
    if (text === "") continue;
    const shown = cut(text, name, Math.min(MAX_FILE_CHARACTERS, left));
    left = Math.max(0, left - shown.length);
    parts.push(delimited(name, shown));
  }
  return parts.join("\n\n");
}

async function textOf(files: ConfinedFiles, name: string, logger: Logger): Promise<string> {
  try {
    await using handle = await files.openFile(name);
    return (await readText(handle, name, MAX_FILE_BYTES)).trim();
  } catch (error) {
    if (!(error instanceof HoldfastError && error.code === "file-missing")) {
      logger.warn("bootstrap file left out", { file: name, reason: errorMessage(error) });
    }
    return "";
  }
}

function cut(text: string, name: string, length: number): string {
  if (text.length <= length) return text;
  const shown = text.slice(0, length).toWellFormed();
  return `${shown}\n[cut here: ${text.length - shown.length} characters of ${name} are left out; read the file for them]`;
}
