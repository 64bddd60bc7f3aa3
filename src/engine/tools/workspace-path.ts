/**
 * What a model calls a file, as a path below the workspace. Only words are looked at here: whether a
 * link on the way leads outside is seen when the file is opened (`confined-files.ts`).
 */
import { isAbsolute, join, relative, sep } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";

/** Relative to the workspace, without `.` and `..`; empty for the workspace itself. */
export function workspacePath(workspace: string, said: string): string {
  if (said.includes("\0") || said.length > 4096) throw outsideError(said);
  const path = isAbsolute(said) ? relative(workspace, said) : join(said);
  if (isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`)) throw outsideError(said);
  const trimmed = path.endsWith(sep) ? path.slice(0, -1) : path;
  return trimmed === "." ? "" : trimmed;
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

export function outsideError(said: string): HoldfastError {
  const path = printableLine(said, 200);
  return new HoldfastError("forbidden", "path-outside-workspace", `"${path}" leads out of the workspace.`, {
    hint: "Use a path below the workspace, such as notes/today.md.",
    data: { path },
  });
}
