/**
 * What a compressed file of the archive holds, unpacked as it is read: memory stays bounded by one line,
 * whatever the size of the file. Whoever stops in the middle leaves nothing open but the handle, which
 * is the caller's.
 */
import type { FileHandle } from "node:fs/promises";
import { Readable, pipeline } from "node:stream";
import { systemErrorCode } from "../../base/errors.ts";
import { type Line, MAX_LINE_BYTES } from "../../base/jsonl.ts";

export interface ReadPartOptions {
  /** Where the first line that is wanted starts; what is before it is unpacked and passed over. */
  start?: number;
  maxLineBytes?: number;
}

const NEWLINE = 0x0a;

/** The lines as they were in the original; offsets are those of the unpacked content. */
export async function* readPartLines(handle: FileHandle, options: ReadPartOptions = {}): AsyncGenerator<Line> {
  const { start = 0, maxLineBytes = MAX_LINE_BYTES } = options;
  let pieces: Buffer[] = [];
  let offset = start;
  let position = 0;

  const collect = (bytes: Buffer): void => {
    position += bytes.length;
    if (position - offset > maxLineBytes) pieces = [];
    else if (bytes.length > 0) pieces.push(bytes);
  };
  const finish = (terminated: boolean): Line => {
    const oversized = position - offset > maxLineBytes;
    const bytes = oversized ? Buffer.alloc(0) : Buffer.concat(pieces);
    if (terminated) position += 1;
    const line = { bytes, offset, end: position, terminated, oversized };
    [pieces, offset] = [[], position];
    return line;
  };

  for await (const chunk of unpackPart(handle)) {
    const passed = Math.min(chunk.length, Math.max(0, start - position));
    position += passed;
    let from = passed;
    for (let newline = chunk.indexOf(NEWLINE, from); newline !== -1; newline = chunk.indexOf(NEWLINE, from)) {
      collect(chunk.subarray(from, newline));
      yield finish(true);
      from = newline + 1;
    }
    collect(chunk.subarray(from));
  }
  if (position > offset) yield finish(false);
}

/** Throws when the file is damaged; `isUnpackingError` tells that from a disk that fails. */
export async function* unpackPart(handle: FileHandle): AsyncGenerator<Buffer> {
  const { createZstdDecompress } = await import("node:zlib");
  const source = Readable.from(storedChunks(handle), { objectMode: false });
  // An error goes on to whoever reads the output; both ends are closed with each other.
  const output = pipeline(source, createZstdDecompress({ chunkSize: CHUNK_BYTES }), () => undefined);
  for await (const chunk of output) yield chunk as Buffer;
}

export function isUnpackingError(error: unknown): boolean {
  const code = systemErrorCode(error) ?? "";
  return code.startsWith("ZSTD_") || code.startsWith("Z_");
}

const CHUNK_BYTES = 256 * 1024;

async function* storedChunks(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
