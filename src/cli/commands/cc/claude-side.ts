/** What every `cc` command starts with: the Claude Code side of the agent, the folder and a progress line. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/log.ts";
import type { RefreshOptions } from "../../../claude/index/native-index.ts";
import { type Setup, assertAgentId, loadSetup } from "../../context.ts";
import { formatBytes } from "../../output.ts";
import { RUN_KIND_VARIABLE } from "../../../claude/attribution.ts";
import { type ClaudeSide, openClaudeSide } from "../../../compose/claude.ts";

export interface ClaudeOptions {
  agent?: string | undefined;
  json?: boolean | undefined;
}

/** Opens the Claude Code side, runs the task and closes it. */
export async function withClaude<T>(
  options: ClaudeOptions,
  task: (side: ClaudeSide, setup: Setup) => Promise<T>,
): Promise<T> {
  assertAgentId(options.agent);
  const setup = await loadSetup();
  const { level } = setup.config.log;
  // Commands print what a person needs; the log is opt-in.
  const logger = level === "debug" || level === "info" ? undefined : silentLogger;
  const side = openClaudeSide({ ...setup, logger, agentId: options.agent });
  try {
    return await task(side, setup);
  } finally {
    side.close();
  }
}

/** The sessions that a task may resume. Default: all for a person, its own for an agent that calls this command. */
export function candidatesFor(from: "own" | "all" | undefined, { config }: ClaudeSide): "own" | "all" {
  const isAgent = process.env[RUN_KIND_VARIABLE] !== undefined;
  return from ?? config.sessionSelection.candidates ?? (isAgent ? "own" : "all");
}

/** The named folder or the current one; it must exist. */
export function requireFolder(path: string | undefined): string {
  const folder = resolve(path ?? ".");
  if (isFolder(folder)) return folder;
  throw new HoldfastError("not-found", "folder-not-found", `There is no folder ${folder}`, {
    hint: "Give the path of a repo or a folder in it. Default: the current folder.",
    data: { path: folder },
  });
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const PATIENCE_SECONDS = 1;

export interface ProgressLine extends Disposable {
  refresh: RefreshOptions;
  /** Shows progress after the first second, on a terminal only. */
  show(text: string): void;
}

/** `using line = progressLine()`: one line on stderr while transcripts are read or copied. */
export function progressLine(): ProgressLine {
  // Loading `performance` would delay short lists.
  const startedAt = process.uptime();
  let isShown = false;
  const show = (text: string): void => {
    if (!process.stderr.isTTY || process.uptime() - startedAt < PATIENCE_SECONDS) return;
    isShown = true;
    process.stderr.write(`\r\u001b[K${text}`);
  };
  return {
    refresh: {
      onProgress({ filesDone, filesTotal, bytesDone, bytesTotal }) {
        const bytes = `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`;
        show(`Reading transcripts: ${filesDone} of ${filesTotal} files, ${bytes}`);
      },
    },
    show,
    [Symbol.dispose]: () => {
      if (isShown) process.stderr.write("\r\u001b[K");
      isShown = false;
    },
  };
}
