/** `list_files`: what is in a folder. Of one with attached files only those of this conversation are shown. */
import type { AgentTool } from "./agent-tool.ts";
import type { ConfinedFiles } from "./confined-files.ts";
import { toolSchema } from "./define-schema.ts";

const MAX_ENTRIES = 500;
const MAX_DEPTH = 6;
/** Shown, but not looked into. */
const CLOSED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

export function createListFiles(files: ConfinedFiles): AgentTool {
  return {
    name: "list_files",
    description:
      "Lists what is in a folder of your workspace: folders with a slash at the end, files with their kind if it is not " +
      `a plain one. At most ${MAX_ENTRIES} names.`,
    inputSchema: toolSchema({
      "path?": { type: "string", description: "The folder, below the workspace. Default: the workspace itself (.)" },
      "depth?": { type: "integer", description: `How many levels, 1 to ${MAX_DEPTH}. Default: 1` },
    }),
    run: async ({ path = ".", depth = 1 }, { signal, attached }) => {
      const sent = attached.listFolder(String(path));
      if (sent.length > 0) return sent.map(shownName).join("\n");
      const start = await files.nameOf(String(path));
      const levels = Math.min(MAX_DEPTH, Math.max(1, Number(depth)));
      const lines: string[] = [];
      const complete = await listInto(lines, files, start, levels, signal);
      if (lines.length === 0) return "The folder is empty.";
      return [...lines, ...(complete ? [] : [`[more than ${MAX_ENTRIES}; list a folder below]`])].join("\n");
    },
  };
}

async function listInto(
  lines: string[],
  files: ConfinedFiles,
  folder: string,
  levels: number,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  const entries = (await files.listFolder(folder === "" ? "." : folder)).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (lines.length >= MAX_ENTRIES) return false;
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    const shown = shownName(path);
    if (!entry.isDirectory()) {
      lines.push(entry.isFile() ? shown : `${shown} (${entry.isSymbolicLink() ? "link" : "no plain file"})`);
      continue;
    }
    lines.push(`${shown}/`);
    if (levels > 1 && !CLOSED_FOLDERS.has(entry.name)) {
      if (!(await listInto(lines, files, path, levels - 1, signal))) return false;
    }
  }
  return true;
}

/** A name may hold anything, also the end of a line. */
export function shownName(path: string): string {
  return /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}
