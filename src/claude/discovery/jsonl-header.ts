/** The facts of one transcript and the name of a project folder, in the shapes that OpenClaw defines. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { readMarker } from "../attribution.ts";
import { openNativeFileSync, projectFolderName } from "../native/layout.ts";
import { createFileScanner } from "../native/scan-file.ts";
import type { SessionScan } from "../native/session-scan.ts";

export async function parseJsonlHeader(path: string) {
  const scan = scanTranscript(path);
  const [prompt] = scan.prompts;
  const first = prompt === undefined ? undefined : readMarker(prompt);
  return {
    gitBranch: scan.branches[0],
    /** Cut, and without the agent's marker. */
    firstUserMessage: first?.text,
    slug: scan.slug,
    version: scan.versions.at(-1),
    permissionMode: scan.permissionMode,
    lineCount: scan.lines,
    /** The agent in the marker of the first message. */
    originMarker: first?.agentId,
    /** Each message of this file counts once. Subagents have their own files. */
    totalInputTokens: scan.usage.reduce((sum, [, , input]) => sum + input, 0),
    totalOutputTokens: scan.usage.reduce((sum, [, , , output]) => sum + output, 0),
    compactionCount: scan.compactionCount,
  };
}

function scanTranscript(path: string): SessionScan {
  using file = openNativeFileSync(path);
  const result = file === undefined ? undefined : createFileScanner().scan(file.descriptor);
  if (result !== undefined) return result.scan;
  throw new HoldfastError("not-found", "transcript-not-found", `There is no transcript ${path}`, {
    hint: "`holdfast cc list --all` shows the paths of transcripts.",
    data: { path },
  });
}

/** The name of Claude Code's folder for sessions that were started in `path`. */
export function repoPathToSlug(path: string): string {
  try {
    return projectFolderName(realpathSync.native(path));
  } catch {
    return projectFolderName(resolve(path));
  }
}
