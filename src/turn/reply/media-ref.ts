/**
 * What an agent may attach: an http(s) URL, or a file in its own workspace. The name comes from a
 * model that reads what strangers write, so a path that could lead anywhere else is refused twice:
 * by its form when the answer is read, by what it really is when it is delivered.
 */
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";

export type ResolvedMedia =
  | { kind: "url"; url: string }
  /** The real path, without symlinks, as it was when it was looked at. */
  | { kind: "file"; path: string; bytes: number };

/** Fails with `media-refused` (forbidden) or `media-missing` (not-found). Fetches nothing. */
export async function resolveMedia(workspace: string, ref: string): Promise<ResolvedMedia> {
  const wanted = ref.trim();
  if (isWebUrl(wanted)) return { kind: "url", url: new URL(wanted).href };
  if (!isWorkspacePath(wanted)) throw refused(ref, "it is neither an http(s) URL nor a path inside the workspace");

  const root = await realpath(workspace).catch((error: unknown) => {
    throw fileError(error, "open workspace", workspace);
  });
  const path = await realPathOf(join(root, wanted), ref);
  // Compared with the real root, so that neither a symlink nor a folder with a similar name gets through.
  const inside = relative(root, path);
  if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw refused(ref, "a link leads out of the workspace");
  }
  const facts = await look(path, ref);
  if (!facts.isFile()) throw refused(ref, "it is not a regular file");
  return { kind: "file", path, bytes: facts.size };
}

/** Whether the form allows it; whether the file is there, and really inside, is `resolveMedia`'s question. */
export function isMediaRef(ref: string): boolean {
  return isWebUrl(ref) || isWorkspacePath(ref);
}

export function isWebUrl(ref: string): boolean {
  return /^https?:\/\/[^\s/]\S*$/i.test(ref) && URL.canParse(ref);
}

// oxlint-disable-next-line no-control-regex -- a control character in a path is never meant
const UNUSUAL = /[\u0000-\u001f\u007f\\]/;

function isWorkspacePath(ref: string): boolean {
  if (ref === "" || ref.length > 1024 || UNUSUAL.test(ref)) return false;
  // Absolute, the home folder, or a scheme such as `file:`, `data:` and `C:`.
  if (/^[/~]/.test(ref) || /^[a-z][a-z0-9+.-]*:/i.test(ref)) return false;
  const parts = ref.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length > 0 && !parts.includes("..");
}

async function realPathOf(path: string, ref: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw unreadable(error, path, ref);
  }
}

async function look(path: string, ref: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw unreadable(error, path, ref);
  }
}

function unreadable(error: unknown, path: string, ref: string): HoldfastError {
  if (!["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(systemErrorCode(error) ?? "")) {
    return fileError(error, "look at", path);
  }
  const shown = printableLine(ref, 120);
  return new HoldfastError("not-found", "media-missing", `There is no file "${shown}" in the agent's workspace.`, {
    hint: "The agent has to write the file before it attaches it.",
    data: { ref: shown },
    cause: error,
  });
}

function refused(ref: string, reason: string): HoldfastError {
  const shown = printableLine(ref, 120);
  return new HoldfastError("forbidden", "media-refused", `"${shown}" is not attached: ${reason}.`, {
    hint: "Agents may attach http(s) URLs and files of their own workspace, named relative to it.",
    data: { ref: shown },
  });
}
