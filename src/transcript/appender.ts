/**
 * Appends bytes to an open file, all of them or none. An incomplete or failed write is undone before the error is
 * thrown.
 * Also decides who may write: tasks of this process on one file run one after the other. Without a fence, a file lock
 * excludes other processes for one task. With a fence, the session's lease excludes them already, and an append needs
 * no lock file.
 */
import { type Stats, fstatSync, statSync, writeSync } from "node:fs";
import { type FileHandle, constants, open } from "node:fs/promises";
import { resolve } from "node:path";
import { createKeyedMutex } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { withFileLock } from "../base/lock-file.ts";
import type { Durability } from "../config/config.ts";
import { transcriptError } from "./scan.ts";

export type Appender = ReturnType<typeof createAppender>;

/**
 * Keeps the bytes of a transcript elsewhere; its file is then a copy. Every change comes here before it reaches the
 * file, and is refused with kind `fenced` if the writer lost the lease of the session.
 */
export interface TranscriptBacking {
  /**
   * Brings the file up to date, or removes it if there is no such transcript, with the parents of a fork and their
   * originals. Other processes of this machine may do the same at any time.
   */
  refresh(): Promise<void>;
  /** Refused with kind `conflict` if the name is taken. */
  create(content: Uint8Array): Promise<void>;
  /** Refused with kind `conflict` if the size so far is not `at`. */
  append(at: number, bytes: Uint8Array): Promise<void>;
  /** Takes the new content from this file, and keeps the old content under the name `keptAs`. */
  replace(file: string, keptAs: string): Promise<void>;
}

/** Without O_CREAT: a missing transcript must not be created without its header. */
export async function openForAppending(path: string, backing?: TranscriptBacking): Promise<FileHandle> {
  const flags = backing === undefined ? constants.O_RDWR | constants.O_APPEND : constants.O_RDWR;
  return await open(path, flags).catch((error: unknown) => {
    throw transcriptError(error, "open", path);
  });
}

export interface AppenderOptions {
  durability: Durability;
  backing?: TranscriptBacking | undefined;
}

/** The handle must be open for appending, or for writing if there is a backing. */
export function createAppender(handle: FileHandle, path: string, { durability, backing }: AppenderOptions) {
  const isCopy = backing !== undefined;
  const own = fstatSync(handle.fd);
  let end = own.size;
  let unsynced = false;
  let failure: HoldfastError | undefined;

  const assertSound = (): void => {
    if (failure !== undefined) throw failedBefore(path, failure);
  };

  const datasync = async (): Promise<void> => {
    try {
      await handle.datasync();
    } catch (error) {
      // The content on disk is unknown now, and a second sync would succeed without doing anything.
      failure = transcriptError(error, "sync", path);
      throw failure;
    }
    unsynced = false;
    faultPoint("transcript.append.synced");
  };

  const takeBack = async (written: number, length: number): Promise<void> => {
    // The bytes are right, and the next refresh completes them.
    if (isCopy) return;
    try {
      const { size } = await handle.stat();
      if (size === end + written) {
        if (written > 0) await handle.truncate(end);
      } else if (written > 0 && written < length) {
        // Another process appended after our half line: end it, so that it damages no other line.
        await handle.write("\n");
      }
    } catch (error) {
      failure = transcriptError(error, "undo a write to", path);
    }
  };

  return {
    handle,
    /** How the file at the path changed since the last write. */
    compare(): "unchanged" | "changed" | "replaced" {
      const current = lookAt(path);
      if (current.ino !== own.ino || current.dev !== own.dev) return "replaced";
      return current.size === end ? "unchanged" : "changed";
    },
    /** The next write goes to the current end of the file. */
    settle(): void {
      end = fstatSync(handle.fd).size;
    },
    end: () => end,
    async append(bytes: Uint8Array): Promise<void> {
      assertSound();
      let written = 0;
      // Another process may have refreshed the copy with these bytes already.
      const at = isCopy ? end : null;
      const { length } = bytes;
      try {
        written =
          length <= SMALL
            ? writeSync(handle.fd, bytes, 0, length, at)
            : (await handle.write(bytes, 0, length, at)).bytesWritten;
        if (written < length) throw shortWrite(path, written, length);
        faultPoint("transcript.append.written");
        unsynced ||= durability !== "none";
        if (durability === "entry") await datasync();
      } catch (error) {
        await takeBack(written, length);
        throw transcriptError(error, "append to", path);
      }
      end += written;
    },
    /** Syncs appended bytes to disk, unless durability is `none` or they are synced already. */
    async sync(): Promise<void> {
      assertSound();
      if (unsynced) await datasync();
    },
    async close(): Promise<void> {
      try {
        if (unsynced && failure === undefined) await datasync();
      } finally {
        await handle.close();
      }
    },
  };
}

/** Writing so few bytes takes less time than passing them to another thread. `datasync` waits for the disk. */
const SMALL = 16 * 1024;

/** Synchronous: a stat of a cached name costs less than a call in another thread. */
function lookAt(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw transcriptError(error, "append to", path);
  }
}

function shortWrite(path: string, written: number, length: number): HoldfastError {
  const message = `Only ${written} of ${length} bytes could be written to ${path}`;
  const hint = "Free some disk space and try again; nothing was half written.";
  return new HoldfastError("unavailable", "disk-full", message, { hint, data: { path } });
}

function failedBefore(path: string, failure: HoldfastError): HoldfastError {
  return new HoldfastError("unavailable", "transcript-failed", `Writing to ${path} failed before: ${failure.message}`, {
    hint: "Open the transcript again. Everything that was acknowledged as durable is there.",
    data: { path },
    cause: failure,
  });
}

/** Rejects with kind `fenced` if the writer lost the lease of the session. */
export type Fence = () => Promise<void> | void;

export interface AccessOptions {
  clock: Clock;
  fence?: Fence | undefined;
}

const tasks = createKeyedMutex();

export async function withWriteAccess<T>(path: string, options: AccessOptions, task: () => Promise<T>): Promise<T> {
  const { fence } = options;
  if (fence === undefined) return await withExclusiveAccess(path, options, task);
  return await tasks.run(resolve(path), async () => {
    await fence();
    return await task();
  });
}

/** For work that replaces the file: even with a lease, this excludes writers without one. */
export async function withExclusiveAccess<T>(path: string, options: AccessOptions, task: () => Promise<T>): Promise<T> {
  const key = resolve(path);
  return await tasks.run(key, async () => {
    return await withFileLock(`${key}.lock`, { clock: options.clock }, async () => {
      await options.fence?.();
      return await task();
    });
  });
}

/** For work on an open file that only has to wait for its turn. */
export async function inTurn<T>(path: string, task: () => Promise<T>): Promise<T> {
  return await tasks.run(resolve(path), task);
}
