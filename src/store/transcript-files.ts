/** Transcripts and archive manifests as files, for stores of one machine. */
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
import type { OnProblem } from "../transcript/scan.ts";
import { listTranscriptFiles } from "../transcript/paths.ts";
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
}

/** Loaded with the first use: many commands write no transcript. */
const logs = lazy(() => import("../transcript/log.ts"));

export function createTranscriptFiles(options: TranscriptFilesOptions): Transcripts {
  const { transcriptsFolder = dirname(options.path), durability, clock = systemClock, logger = silentLogger } = options;
  const folders = { sessions: transcriptsFolder, archive: join(transcriptsFolder, ARCHIVE_FOLDER_NAME) };
  // Names come from entries and windows that other tools may have written.
  const pathOf = (name: string, folder: TranscriptFolder = "sessions"): string => join(folders[folder], basename(name));
  const forWriting = (path: string, held?: LeaseHolder, onProblem?: OnProblem) => ({
    path,
    durability,
    clock,
    fence: held && (() => held.fence()),
    epoch: held?.lease.epoch,
    onProblem: onProblem ?? ((problem) => logger.warn("transcript problem", { file: basename(path), ...problem })),
  });

  return {
    async locate(name, folder) {
      if (folder !== "either") return pathOf(name, folder);
      const path = pathOf(name);
      return (await fileExists(path)) ? path : pathOf(name, "archive");
    },
    async list(folder, { changedSince } = {}) {
      const names = await listTranscriptFiles(folders[folder]);
      if (changedSince === undefined) return names;
      const stats = await Promise.all(names.map(async (name) => await statIfPresent(pathOf(name, folder))));
      return names.filter((_, index) => (stats[index]?.mtimeMs ?? 0) >= changedSince);
    },
    async open(name, { folder, held, onProblem, ...more } = {}) {
      const { openTranscriptLog } = await logs.get();
      return await openTranscriptLog({ ...forWriting(pathOf(name, folder), held, onProblem), ...more });
    },
    async create(name, { folder, ...start }) {
      const { createTranscript } = await logs.get();
      return await createTranscript({ ...forWriting(pathOf(name, folder)), ...start });
    },
    async fork(name, parent, start) {
      const { forkTranscript } = await import("../transcript/fork.ts");
      return await forkTranscript({ ...forWriting(pathOf(name)), parentPath: pathOf(parent), ...start });
    },
    async compact(name, { held, ...limits }) {
      const { compactTranscript } = await import("../transcript/compact.ts");
      return await compactTranscript(pathOf(name), { ...limits, clock, fence: () => held.fence() });
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
    folders,
  };
}

function anotherIsAt(path: string): HoldfastError {
  return new HoldfastError("conflict", "transcript-exists", `another transcript is already at ${path}`, {
    hint: "Run `holdfast doctor --fix`, which gives it back to its session, and import again.",
    data: { path },
  });
}
