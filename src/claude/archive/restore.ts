/**
 * Restores archived sessions. A session is restored into a folder that the person chooses, never into Claude
 * Code's own: only the person can decide whether an old session should be there again.
 */
import { open, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { HoldfastError, fileError } from "../../base/errors.ts";
import {
  PRIVATE_FILE,
  ensurePrivateFolder,
  fileExists,
  replaceFile,
  temporaryPath,
  isInside,
} from "../../base/files.ts";
import { claudeLayout } from "../../config/layout.ts";
import { createRepoLocator } from "../discovery/repo-locator.ts";
import { openNativeFile, projectsFolder } from "../native/layout.ts";
import { isUnpackingError, measured, newMeasure, unpackPart } from "./archive-part.ts";
import { type ArchiveManifest, type ArchivePart, loadManifest, manifestName } from "./catalogue.ts";

export interface RestoreOptions {
  home: string;
  claudeHome: string;
  /** The target folder. It is created when missing. */
  to: string;
}

/** Overwrites nothing. Returns the paths of the written files. */
export async function restoreNativeSession(sessionId: string, options: RestoreOptions) {
  const to = resolve(options.to);
  const locator = createRepoLocator();
  if (isInside(locator.canonical(options.claudeHome), locator.canonical(to))) {
    const message = `${to} belongs to Claude Code; Holdfast writes nothing there`;
    throw new HoldfastError("usage", "restore-into-claude", message, {
      hint: "Restore into a folder of your own, then copy its content to where Claude Code looks for it.",
    });
  }
  const { archiveFolder } = claudeLayout(options.home);
  const manifest = requireManifest(archiveFolder, sessionId);
  const files = manifest.parts.map(({ name }) => join(to, name));
  for (const path of files) {
    if (!(await fileExists(path))) continue;
    const hint = "Restore into an empty folder.";
    throw new HoldfastError("conflict", "file-exists", `${path} already exists`, { hint, data: { path } });
  }
  const written: string[] = [];
  try {
    for (const [number, part] of manifest.parts.entries()) {
      const file = files[number] ?? "";
      await ensurePrivateFolder(dirname(file));
      written.push(file);
      await unpack(archiveFolder, part, file);
    }
  } catch (error) {
    for (const file of written) await rm(file, { force: true });
    throw error;
  }
  // Where Claude Code looks for the session. Copy the content of `to` there to resume it.
  const nativeFolder = join(projectsFolder(options.claudeHome), basename(manifest.folder));
  return { sessionId, files, redacted: manifest.redacted, nativeFolder };
}

async function unpack(archiveFolder: string, part: ArchivePart, file: string): Promise<void> {
  const temporary = temporaryPath(file);
  const source = join(archiveFolder, part.file);
  try {
    await using output = await open(temporary, "wx", PRIVATE_FILE);
    const measure = newMeasure();
    await using input = await openNativeFile(source);
    if (input === undefined) throw damaged(source);
    await output.writeFile(measured(unpackPart(input), measure));
    if (measure.hash.digest("hex") !== part.sha256) throw damaged(source);
    await output.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw isUnpackingError(error) ? damaged(source, error) : fileError(error, "restore", file);
  }
  await replaceFile(temporary, file);
}

function requireManifest(archiveFolder: string, sessionId: string): ArchiveManifest {
  const manifest = loadManifest(archiveFolder, sessionId);
  if (manifest !== undefined) return manifest;
  throw new HoldfastError("not-found", "archive-not-found", `The archive has no usable copy of ${sessionId}`, {
    hint: `Run \`holdfast cc list --all\` to see archived sessions. Manifests are in ${join(archiveFolder, manifestName("<session id>"))}.`,
  });
}

function damaged(path: string, cause?: unknown): HoldfastError {
  return new HoldfastError("corrupt", "archive-damaged", `The archived copy ${path} is damaged`, {
    hint: "Nothing was restored. Replace the file from a backup of the archive.",
    data: { path },
    cause,
  });
}
