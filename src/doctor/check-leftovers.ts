/**
 * What processes that died left behind: temporary files, and locks that nobody holds. Nothing in
 * them was ever acknowledged to anybody, so they are the one thing that doctor removes.
 */
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { temporaryNameOwner } from "../base/files.ts";
import { lockState, withFileLock } from "../base/lock-file.ts";
import { processStartTime, processState } from "../base/processes.ts";
import type { Diagnosis } from "./finding.ts";
import { listFolder, lookAt } from "./folders.ts";

export async function* checkLeftovers(folders: readonly string[]): AsyncGenerator<Diagnosis> {
  for (const folder of folders) {
    for (const { name } of await listFolder(folder)) {
      const path = join(folder, name);
      const why = (await whyLeftTemporary(name, path)) ?? (await whyLeftNote(name, path));
      if (why === undefined) continue;
      yield {
        finding: { severity: "warning", message: why, path, fix: "remove it; nothing in it was ever acknowledged" },
        mend: async () => await rm(path, { recursive: true, force: true }),
      };
    }
  }
}

/** File times and start times are known to about a second. */
const START_TIME_TOLERANCE_MS = 2000;

async function whyLeftTemporary(name: string, path: string): Promise<string | undefined> {
  const pid = temporaryNameOwner(name);
  if (pid === undefined) return undefined;
  const isDead = processState({ pid, startedAt: "unknown", host: hostname() }) === "dead";
  const startedAt = isDead ? undefined : processStartTime(pid);
  const writtenAt = (await lookAt(path))?.modifiedAt;
  if (writtenAt === undefined) return undefined;
  // A process that began after the file was written has merely the same pid as its writer had.
  const isOlderThanProcess = startedAt !== undefined && startedAt > writtenAt + START_TIME_TOLERANCE_MS;
  return isDead || isOlderThanProcess ? `An unfinished write of process ${pid}, which has ended` : undefined;
}

const NOTE_ENDING = ".lock.wanted";
/** Nobody waits that long for a lock. */
const NOTE_AGE_MS = 60_000;

async function whyLeftNote(name: string, path: string): Promise<string | undefined> {
  if (!name.endsWith(NOTE_ENDING)) return undefined;
  const writtenAt = (await lookAt(path))?.modifiedAt ?? Number.POSITIVE_INFINITY;
  return Date.now() - writtenAt > NOTE_AGE_MS ? "A note of a process that no longer waits for the lock" : undefined;
}

/** A lock, or a claim on the lock of a dead process, which is a lock itself. */
const LOCK_NAME = /\.lock(?:\.claim-[0-9a-f]{16})?$/;

export async function* checkLocks(folders: readonly string[]): AsyncGenerator<Diagnosis> {
  for (const folder of folders) {
    for (const { name } of (await listFolder(folder)).filter((item) => item.isFile())) {
      const path = join(folder, name);
      if (!LOCK_NAME.test(name) || (await lockState(path)) !== "abandoned") continue;
      yield {
        finding: {
          severity: "warning",
          message: "A lock whose process has ended",
          path,
          fix: "take the lock over and give it back",
        },
        mend: async () => await withFileLock(path, {}, async () => undefined),
      };
    }
  }
}
