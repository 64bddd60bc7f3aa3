/** What one transcript says, in the shape of the first design; and the name of a repo's project folder. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { readMarker } from "../attribution.ts";
import { projectFolderName } from "../native/layout.ts";
import { summarizeSession } from "../native/session-summary.ts";

export interface JsonlHeader {
  /** Of the first message. */
  gitBranch?: string;
  /** Without the marker; cut. */
  firstUserMessage?: string;
  slug?: string;
  /** The latest. */
  version?: string;
  permissionMode?: string;
  lineCount: number;
  /** The agent named by the marker at the start of the first message. */
  originMarker?: string;
  /** Each message of this file once; subagents have files of their own. */
  totalInputTokens: number;
  totalOutputTokens: number;
  compactionCount: number;
}

export async function parseJsonlHeader(path: string): Promise<JsonlHeader> {
  const summary = await summarizeSession(path);
  if (summary === undefined) {
    throw new HoldfastError("not-found", "transcript-not-found", `There is no transcript ${path}`, {
      hint: "`holdfast cc list --all` shows where transcripts lie.",
      data: { path },
    });
  }
  const { scan, tokens } = summary;
  const [prompt] = scan.prompts;
  const first = prompt === undefined ? undefined : readMarker(prompt);
  const [gitBranch] = scan.branches;
  const version = scan.versions.at(-1);
  return {
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(first === undefined ? {} : { firstUserMessage: first.text }),
    ...(scan.slug === undefined ? {} : { slug: scan.slug }),
    ...(version === undefined ? {} : { version }),
    ...(scan.permissionMode === undefined ? {} : { permissionMode: scan.permissionMode }),
    lineCount: scan.lines,
    ...(first?.agentId === undefined ? {} : { originMarker: first.agentId }),
    totalInputTokens: tokens.input,
    totalOutputTokens: tokens.output,
    compactionCount: scan.compactionCount,
  };
}

/** The name of the folder in which Claude Code keeps the sessions that were started in `path`. */
export function repoPathToSlug(path: string): string {
  try {
    return projectFolderName(realpathSync.native(path));
  } catch {
    return projectFolderName(resolve(path));
  }
}
