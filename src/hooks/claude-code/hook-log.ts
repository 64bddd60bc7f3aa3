/**
 * What went wrong in a hook. Claude Code would show it to the person in the middle of their work, so it goes to a
 * file, of which only the last part is kept. Never fails.
 */
import { appendFileSync, existsSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { PRIVATE_FILE } from "../../base/files.ts";
import { type Logger, createLogger } from "../../base/log.ts";

const MOST_BYTES = 256 * 1024;

/** Nothing is written where no hook was installed from: looking must not make a home. */
export function createHookLog(path: string): Logger {
  return createLogger({ level: "warn", write: (line) => append(path, line) });
}

function append(path: string, line: string): void {
  try {
    if (!existsSync(dirname(path))) return;
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > MOST_BYTES) renameSync(path, `${path}.1`);
    appendFileSync(path, line.slice(0, MOST_LINE), { mode: PRIVATE_FILE });
  } catch {
    // A full disk, a folder that is read-only: there is nobody to tell.
  }
}

const MOST_LINE = 8 * 1024;
