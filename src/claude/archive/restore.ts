/**
 * Reading an archived session, and writing it out again. It is written into a folder that the person
 * names, never into Claude Code's own: whether an old session should be there again, beside what may
 * have taken its place, is theirs to decide. `nativeFolder` says where it would have to be put.
 */
import type { Hash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, fileExists, replaceFile, temporaryPath } from "../../base/files.ts";
import { claudeLayout } from "../../config/layout.ts";
import { createRepoLocator } from "../discovery/repo-locator.ts";
import { openNativeFile, projectsFolder } from "../native/layout.ts";
import { loadManifest } from "./catalogue.ts";
import { type ArchiveManifest, type ArchivePart, manifestName } from "./manifest.ts";
import { isUnpackingError, readPartLines, unpackPart } from "./read-part.ts";

export interface RestoreOptions {
  home: string;
  claudeHome: string;
  /** A folder of the person's; made when it is not there. */
  to: string;
}

export interface RestoredSession {
  sessionId: string;
  /** Everything that was written. */
  files: string[];
  redacted: boolean;
  /** Where Claude Code would look for it: copying the content of `to` there makes it resumable. */
  nativeFolder: string;
}

/** Overwrites nothing. */
export async function restoreNativeSession(sessionId: string, options: RestoreOptions): Promise<RestoredSession> {
  const to = resolve(options.to);
  const locator = createRepoLocator();
  if (isBelow(locator.canonical(to), locator.canonical(options.claudeHome))) throw notThere(to);
  const { archiveFolder } = claudeLayout(options.home);
  const manifest = requireManifest(archiveFolder, sessionId);
  const files = manifest.parts.map(({ name }) => join(to, name));
  for (const file of files) if (await fileExists(file)) throw fileExistsError(file);
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
  const nativeFolder = join(projectsFolder(options.claudeHome), basename(manifest.folder));
  return { sessionId, files, redacted: manifest.redacted, nativeFolder };
}

/** The lines of an archived transcript as text, subagents left out. A line too long to hold is passed over. */
export async function* readArchivedTranscript(sessionId: string, { home }: { home: string }): AsyncGenerator<string> {
  const { archiveFolder } = claudeLayout(home);
  const [transcript] = requireManifest(archiveFolder, sessionId).parts;
  if (transcript === undefined) return;
  await using handle = await openPart(join(archiveFolder, transcript.file));
  for await (const { bytes, oversized } of readPartLines(handle)) if (!oversized) yield bytes.toString("utf8");
}

async function unpack(archiveFolder: string, part: ArchivePart, file: string): Promise<void> {
  const temporary = temporaryPath(file);
  const source = join(archiveFolder, part.file);
  try {
    await using output = await open(temporary, "wx", PRIVATE_FILE);
    const hash = nodeCrypto().createHash("sha256");
    await using input = await openPart(source);
    await pipeline(unpackPart(input), hashing(hash), async (chunks: AsyncIterable<Buffer>) => {
      await output.writeFile(chunks);
    });
    if (hash.digest("hex") !== part.sha256) throw damaged(source);
    await output.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw isUnpackingError(error) ? damaged(source, error) : fileError(error, "restore", file);
  }
  await replaceFile(temporary, file);
}

function hashing(hash: Hash) {
  return async function* hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

async function openPart(path: string): Promise<FileHandle> {
  const handle = await openNativeFile(path);
  if (handle === undefined) throw damaged(path);
  return handle;
}

function requireManifest(archiveFolder: string, sessionId: string): ArchiveManifest {
  const manifest = loadManifest(archiveFolder, sessionId);
  if (manifest !== undefined) return manifest;
  throw new HoldfastError("not-found", "archive-not-found", `The archive has no usable copy of ${sessionId}`, {
    hint: `Its manifest would be ${join(archiveFolder, manifestName("<session id>"))}; \`holdfast cc list --all\` shows what is archived.`,
  });
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}

function notThere(to: string): HoldfastError {
  return new HoldfastError(
    "usage",
    "restore-into-claude",
    `${to} belongs to Claude Code; Holdfast writes nothing there`,
    {
      hint: "Restore into a folder of your own, then copy its content to where Claude Code looks for it.",
    },
  );
}

function fileExistsError(path: string): HoldfastError {
  return new HoldfastError("conflict", "file-exists", `${path} is there already`, {
    hint: "Restore into an empty folder.",
    data: { path },
  });
}

function damaged(path: string, cause?: unknown): HoldfastError {
  return new HoldfastError("corrupt", "archive-damaged", `${path} is not what was archived`, {
    hint: "The copy is damaged; nothing was restored. Bring the file back from a backup of the archive.",
    data: { path },
    cause,
  });
}
