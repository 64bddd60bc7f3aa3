/**
 * Bytes at the end of an open file, all of them or none. A write that was cut short, could not be
 * forced to disk, or failed in between is taken back before the error is passed on.
 */
import { type Stats, fstatSync, statSync, writeSync } from "node:fs";
import { type FileHandle, constants, open } from "node:fs/promises";
import { HoldfastError } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import type { Durability } from "../config/config.ts";
import { transcriptError } from "./scan.ts";

export interface Appender {
  readonly handle: FileHandle;
  /** What happened to the file at the path since our last write. */
  compare(): "unchanged" | "changed" | "replaced";
  /** Takes the present end of the file as the place of the next write. */
  settle(): void;
  append(bytes: Uint8Array): Promise<void>;
  /** Forces appended bytes to disk, unless durability is `none` or they are there already. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export async function openAppender(path: string, durability: Durability): Promise<Appender> {
  try {
    // Without O_CREAT: a transcript that vanished must not come back without its header.
    return createAppender(await open(path, constants.O_RDWR | constants.O_APPEND), path, durability);
  } catch (error) {
    throw transcriptError(error, "open", path);
  }
}

/** The handle must have been opened for appending. */
export function createAppender(handle: FileHandle, path: string, durability: Durability): Appender {
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
      // Nobody knows what is on disk now, and a second sync would succeed without having done it.
      failure = transcriptError(error, "sync", path);
      throw failure;
    }
    unsynced = false;
    faultPoint("transcript.append.synced");
  };

  const takeBack = async (written: number, length: number): Promise<void> => {
    try {
      const { size } = await handle.stat();
      if (size === end + written) {
        if (written > 0) await handle.truncate(end);
      } else if (written > 0 && written < length) {
        // Somebody appended right behind half a line of ours: end it, so that it spoils no other line.
        await handle.write("\n");
      }
    } catch (error) {
      failure = transcriptError(error, "take back a write to", path);
    }
  };

  return {
    handle,
    compare() {
      const current = lookAt(path);
      if (current.ino !== own.ino || current.dev !== own.dev) return "replaced";
      return current.size === end ? "unchanged" : "changed";
    },
    settle() {
      end = fstatSync(handle.fd).size;
    },
    async append(bytes) {
      assertSound();
      let written = 0;
      try {
        written = bytes.length <= SMALL ? writeSync(handle.fd, bytes) : (await handle.write(bytes)).bytesWritten;
        if (written < bytes.length) throw shortWrite(path, written, bytes.length);
        faultPoint("transcript.append.written");
        unsynced ||= durability !== "none";
        if (durability === "entry") await datasync();
      } catch (error) {
        await takeBack(written, bytes.length);
        throw transcriptError(error, "append to", path);
      }
      end += written;
    },
    async sync() {
      assertSound();
      if (unsynced) await datasync();
    },
    async close() {
      try {
        if (unsynced && failure === undefined) await datasync();
      } finally {
        await handle.close();
      }
    },
  };
}

/** So few bytes are copied sooner than another thread has heard of them. Who waits for the disk is `datasync`. */
const SMALL = 16 * 1024;

/** Synchronous on purpose: one look at a cached name costs less than a trip to another thread. */
function lookAt(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw transcriptError(error, "append to", path);
  }
}

function shortWrite(path: string, written: number, length: number): HoldfastError {
  return new HoldfastError("unavailable", "disk-full", `Only ${written} of ${length} bytes fitted into ${path}`, {
    hint: "Free some disk space and try again; nothing was half written.",
    data: { path },
  });
}

function failedBefore(path: string, failure: HoldfastError): HoldfastError {
  return new HoldfastError("unavailable", "transcript-failed", `Writing to ${path} failed before: ${failure.message}`, {
    hint: "Open the transcript again; everything that was acknowledged as durable is there.",
    data: { path },
    cause: failure,
  });
}
