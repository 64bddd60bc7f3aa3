/**
 * Whether a transcript is still the one that a state tells about. Reading all of it at every capture would
 * cost its whole size; transcripts are only ever appended to, so the first line, the place and what lies
 * right before it are enough to notice another file, a rewritten one or a torn one.
 */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { openNativeFile } from "../../claude/native/layout.ts";
import { HoldfastError } from "../../base/errors.ts";
import { openForReading } from "../../transcript/scan.ts";

export type TranscriptKind = "session" | "native";

const SAMPLE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** sha256 over the first line (at most 64 KiB of it), the offset, and the last 64 KiB before the offset. */
export async function hashTranscript(handle: FileHandle, offset: number): Promise<string> {
  const head = await readRange(handle, 0, Math.min(SAMPLE_BYTES, offset));
  const newline = head.indexOf(NEWLINE);
  const tailStart = Math.max(0, offset - SAMPLE_BYTES);
  const tail = tailStart === 0 ? head : await readRange(handle, tailStart, offset);
  return createHash("sha256")
    .update(newline === -1 ? head : head.subarray(0, newline + 1))
    .update(`\n${offset}\n`)
    .update(tail)
    .digest("hex");
}

/** False also when the file is gone or shorter than the offset. */
export async function transcriptFits(
  path: string,
  known: { offset: number; hash: string },
  kind: TranscriptKind,
): Promise<boolean> {
  await using handle = kind === "native" ? await openNativeFile(path) : await openIfPresent(path);
  if (handle === undefined || (await handle.stat()).size < known.offset) return false;
  return (await hashTranscript(handle, known.offset)) === known.hash;
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await openForReading(path);
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "not-found") return undefined;
    throw error;
  }
}

async function readRange(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start);
  let done = 0;
  while (done < bytes.length) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}
