/** What every `cc` command starts with: the Claude Code side as the agent sees it, and the folder that is meant. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/log.ts";
import { type ClaudeSide, openClaudeSide } from "../../../compose-claude.ts";
import { type Setup, assertAgentId, loadSetup } from "../../context.ts";

export interface ClaudeOptions {
  agent?: string;
  json?: boolean;
}

/** Opens it, runs the task and closes it again. */
export async function withClaude<T>(
  options: ClaudeOptions,
  task: (side: ClaudeSide, setup: Setup) => Promise<T>,
): Promise<T> {
  assertAgentId(options.agent);
  const setup = await loadSetup();
  const { level } = setup.config.log;
  // What a person must know is printed for people; a log beside it is for those who ask for one.
  const quiet = level === "debug" || level === "info" ? {} : { logger: silentLogger };
  const side = openClaudeSide({ ...setup, ...quiet, agentId: options.agent });
  try {
    return await task(side, setup);
  } finally {
    side.close();
  }
}

/** The folder that an option names, or the working folder; it must be there. */
export function requireFolder(path: string | undefined): string {
  const folder = resolve(path ?? ".");
  if (isFolder(folder)) return folder;
  throw new HoldfastError("not-found", "folder-not-found", `There is no folder ${folder}`, {
    hint: "Give the path of a repo, or a folder in it; without one the working folder is meant.",
    data: { path: folder },
  });
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
