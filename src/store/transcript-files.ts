/**
 * Transcripts and archive manifests as files. With `backingOf` the files are copies: a store that keeps the bytes
 * elsewhere takes `locate`, `open`, `create`, `fork` and `compact` from here, and adds the rest.
 */
import { rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { lazy } from "../base/async.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError, fileError } from "../base/errors.ts";
import {
  ensurePrivateFolder,
  fileExists,
  readFileIfPresent,
  statIfPresent,
  syncFolder,
  writeFileDurable,
} from "../base/files.ts";
import { type Logger, silentLogger } from "../base/log.ts";
import type { Durability } from "../config/config.ts";
import { ARCHIVE_FOLDER_NAME } from "../config/layout.ts";
import type { TranscriptBacking } from "../transcript/appender.ts";
import { listTranscriptFiles } from "../transcript/paths.ts";
import type { TranscriptProblem } from "../transcript/scan.ts";
import { createDocumentFiles } from "./document-files.ts";
import type { LeaseHolder, TranscriptFolder, Transcripts } from "./transcripts.ts";

export interface TranscriptFilesOptions {
  /** The archive is inside it. Default: the folder of the store. */
  transcriptsFolder?: string | undefined;
  path: string;
  /** When appended entries are synced to disk. Default: `turn`. */
  durability?: Durability | undefined;
  clock?: Clock | undefined;
  logger?: Logger | undefined;
  /** Where the bytes of a transcript are kept, with the check of the lease. Default: only in the files. */
  backingOf?: ((transcript: TranscriptCopy) => TranscriptBacking) | undefined;
}

export interface TranscriptCopy {
  name: string;
  folder: TranscriptFolder;
  path: string;
  /** Undefined if there is no lease. */
  held?: LeaseHolder | undefined;
}

/** Loaded with the first use: many commands write no transcript. */
const logs = lazy(() => import("../transcript/log.ts"));

export function createTranscriptFiles(
  options: TranscriptFilesOptions,
): Transcripts & { pathOf(name: string, folder?: TranscriptFolder): string } {
  const { transcriptsFolder = dirname(options.path), durability, backingOf } = options;
  const { clock = systemClock, logger = silentLogger } = options;
  const folders = { sessions: transcriptsFolder, archive: join(transcriptsFolder, ARCHIVE_FOLDER_NAME) };
  // Names come from entries and windows that other tools may have written.
  const pathOf = (name: string, folder: TranscriptFolder = "sessions"): string => join(folders[folder], basename(name));
  const copyOf = (given: string, folder: TranscriptFolder = "sessions", held?: LeaseHolder) => {
    const name = basename(given);
    const path = pathOf(name, folder);
    return { path, backing: backingOf?.({ name, folder, path, held }) };
  };
  const upToDate = async (name: string, folder?: TranscriptFolder): Promise<string> => {
    const { path, backing } = copyOf(name, folder);
    if (backing !== undefined) await backing.refresh();
    return path;
  };
  const forWriting = (name: string, folder?: TranscriptFolder, held?: LeaseHolder) => {
    const copy = copyOf(name, folder, held);
    return {
      ...copy,
      durability,
      clock,
      // The backing checks the lease with every change.
      fence: held && (copy.backing === undefined ? () => held.fence() : () => undefined),
      epoch: held?.lease.epoch,
      onProblem: (problem: TranscriptProblem) =>
        logger.warn("transcript problem", { file: basename(copy.path), ...problem }),
    };
  };

  return {
    pathOf,
    async locate(name, folder) {
      if (folder !== "either") return await upToDate(name, folder);
      const path = await upToDate(name);
      return (await fileExists(path)) ? path : await upToDate(name, "archive");
    },
    async list(folder, { changedSince, kept } = {}) {
      const names = await listTranscriptFiles(folders[folder], { kept });
      if (changedSince === undefined) return names;
      const stats = await Promise.all(names.map(async (name) => await statIfPresent(pathOf(name, folder))));
      return names.filter((_, index) => (stats[index]?.mtimeMs ?? 0) >= changedSince);
    },
    async open(name, { folder, held, ...more } = {}) {
      const { openTranscriptLog } = await logs.get();
      return await openTranscriptLog({ ...forWriting(name, folder, held), ...more });
    },
    async create(name, { folder, ...start }) {
      const { createTranscript } = await logs.get();
      return await createTranscript({ ...forWriting(name, folder), ...start });
    },
    async fork(name, parent, start) {
      const { forkTranscript } = await import("../transcript/fork.ts");
      return await forkTranscript({ ...forWriting(name), parentPath: await upToDate(parent), ...start });
    },
    async compact(name, { held, ...limits }) {
      const { compactTranscript } = await import("../transcript/compact.ts");
      const { path, fence, backing } = forWriting(name, "sessions", held);
      return await compactTranscript(path, { ...limits, clock, fence, backing });
    },
    async put(name, content, folder) {
      const path = pathOf(name, folder);
      const existing = await readFileIfPresent(path);
      if (existing !== undefined && !existing.equals(content.subarray(0, existing.length))) throw anotherIsAt(path);
      if (existing?.length === content.length) return;
      await ensurePrivateFolder(folders[folder]);
      await writeFileDurable(path, content);
    },
    async move(name, to) {
      const source = pathOf(name, to === "archive" ? "sessions" : "archive");
      if (!(await fileExists(source))) return;
      await ensurePrivateFolder(folders[to]);
      try {
        await rename(source, pathOf(name, to));
      } catch (error) {
        throw fileError(error, "move", source);
      }
      await Promise.all([syncFolder(folders.sessions), syncFolder(folders.archive)]);
    },
    async setAsideMissing(name, { written, folder = "sessions" }) {
      const { setAsideMissing } = await import("../transcript/damage.ts");
      await ensurePrivateFolder(folders[folder]);
      return await setAsideMissing(pathOf(name, folder), { written, clock });
    },
    discard: async (name) => await unlink(pathOf(name)).catch(() => undefined),
    manifests: createDocumentFiles(folders.archive, clock),
    bringHere: async () => folders,
    folders,
  };
}

function anotherIsAt(path: string): HoldfastError {
  return new HoldfastError("conflict", "transcript-exists", `another transcript is already at ${path}`, {
    hint: "Run `holdfast doctor --fix`, which gives it back to its session, and import again.",
    data: { path },
  });
}
