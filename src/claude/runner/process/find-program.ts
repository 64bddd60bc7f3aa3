/** Finds the program before it is started, so that a missing one gets a clear answer. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { HoldfastError } from "../../../base/errors.ts";
import type { Environment } from "../../../config/layout.ts";

/** `command` is a name to look up on the PATH, or a path. */
export function findProgram(command: string, env: Environment): string {
  const candidates = command.includes("/")
    ? [resolve(command)]
    : (env["PATH"] ?? "").split(delimiter).map((folder) => resolve(join(folder === "" ? "." : folder, command)));
  const found = command === "" ? undefined : candidates.find(isProgram);
  if (found !== undefined) return found;
  throw new HoldfastError("unavailable", "claude-not-found", `Claude Code is not there: no program "${command}".`, {
    hint: "Install it (npm install -g @anthropic-ai/claude-code), or set claudeCode.command to its path.",
    data: { command },
  });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
