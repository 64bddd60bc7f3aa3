/**
 * Lines of a JSONL file, read in either direction with bounded memory. A line longer than `maxLineBytes` is reported
 * with its position but without its bytes. A last line without a newline is marked, because it may be incomplete.
 */
import { readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";

export interface Line {
  /** Without the newline. Empty when the line is oversized. */
  bytes: Buffer;
  offset: number;
  /** Where the next line starts. */
  end: number;
  /** False for bytes after the last newline of the range. */
  terminated: boolean;
  oversized: boolean;
}

export interface ReadLinesOptions {
  start?: number | undefined;
  end?: number | undefined;
  maxLineBytes?: number | undefined;
  chunkBytes?: number | undefined;
}

/** Larger than any reasonable model answer or tool result. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

export async function* readLines(handle: FileHandle, options: ReadLinesOptions = {}): AsyncGenerator<Line> {
  const end = options.end ?? (await handle.stat()).size;
  let position = options.start ?? 0;
  const chunk = Buffer.allocUnsafe(Math.min(options.chunkBytes ?? CHUNK_BYTES, Math.max(1, end - position)));
  const lines = createLineSplitter(options);
  while (position < end) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, end - position), position);
    if (bytesRead === 0) break;
    yield* lines.push(chunk.subarray(0, bytesRead));
    position += bytesRead;
  }
  yield* lines.end();
}

const EMPTY = Buffer.alloc(0);

/** The same without waiting, for threads. The bytes of a line are valid until the next one is taken. */
export function* readLinesSync(
  descriptor: number,
  { start = 0, end, maxLineBytes = MAX_LINE_BYTES, chunkBytes = CHUNK_BYTES }: ReadLinesOptions & { end: number },
): Generator<Line> {
  let chunk = Buffer.allocUnsafe(Math.max(1, Math.min(chunkBytes, end - start)));
  /** Where the chunk and the current line begin in the file. */
  let [position, offset] = [start, start];
  let filled = 0;
  let oversized = false;
  const finish = (from: number, to: number, terminated: boolean): Line => {
    const bytes = oversized ? EMPTY : chunk.subarray(from, to);
    return { bytes, offset, end: position + to + (terminated ? 1 : 0), terminated, oversized };
  };
  while (position + filled < end) {
    const wanted = Math.min(chunk.length - filled, end - position - filled);
    const bytesRead = readSync(descriptor, chunk, filled, wanted, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && at < filled; at = chunk.indexOf(NEWLINE, from)) {
      yield finish(from, at, true);
      [from, oversized] = [at + 1, false];
      offset = position + from;
    }
    if (oversized) from = filled;
    chunk.copyWithin(0, from, filled);
    position += from;
    filled -= from;
    if (filled > maxLineBytes) {
      position += filled;
      [filled, oversized] = [0, true];
    } else if (filled === chunk.length) {
      const larger = Buffer.allocUnsafe(Math.min(4 * chunk.length, maxLineBytes + 1));
      chunk.copy(larger);
      chunk = larger;
    }
  }
  if (filled > 0 || oversized) yield finish(0, filled, false);
}

/** Splits content that arrives in chunks. A chunk may be overwritten once its lines are taken. */
export function createLineSplitter(options: Pick<ReadLinesOptions, "start" | "maxLineBytes"> = {}) {
  const { start = 0, maxLineBytes = MAX_LINE_BYTES } = options;
  let parts: Buffer[] = [];
  let offset = start;
  let length = 0;

  const collect = (bytes: Buffer): void => {
    length += bytes.length;
    if (length > maxLineBytes) parts = [];
    else if (bytes.length > 0) parts.push(bytes);
  };
  const finish = (terminated: boolean): Line => {
    const oversized = length > maxLineBytes;
    const end = offset + length + (terminated ? 1 : 0);
    const line = { bytes: Buffer.concat(parts), offset, end, terminated, oversized };
    [parts, offset, length] = [[], end, 0];
    return line;
  };

  return {
    *push(chunk: Buffer): Generator<Line> {
      let from = 0;
      for (let newline = chunk.indexOf(NEWLINE); newline !== -1; newline = chunk.indexOf(NEWLINE, from)) {
        collect(chunk.subarray(from, newline));
        yield finish(true);
        from = newline + 1;
      }
      collect(Buffer.from(chunk.subarray(from)));
    },
    end: (): Line[] => (length === 0 ? [] : [finish(false)]),
  };
}

/** The same lines from last to first. Reads no more of the file than is consumed. */
export async function* readLinesBackward(handle: FileHandle, options: ReadLinesOptions = {}): AsyncGenerator<Line> {
  const start = options.start ?? 0;
  const maxLineBytes = options.maxLineBytes ?? MAX_LINE_BYTES;
  const chunkBytes = options.chunkBytes ?? CHUNK_BYTES;
  let position = options.end ?? (await handle.stat()).size;
  // The current line, assembled from its end. `terminated`: a newline follows it.
  let parts: Buffer[] = [];
  let length = 0;
  let lineEnd = position;
  let terminated = false;

  const finish = (offset: number): Line => {
    const oversized = length > maxLineBytes;
    return {
      bytes: oversized ? Buffer.alloc(0) : Buffer.concat(parts.toReversed()),
      offset,
      end: lineEnd,
      terminated,
      oversized,
    };
  };
  const prepend = (bytes: Buffer): void => {
    length += bytes.length;
    if (length > maxLineBytes) parts = [];
    else if (bytes.length > 0) parts.push(bytes);
  };

  while (position > start) {
    const size = Math.min(chunkBytes, position - start);
    const chunk = Buffer.allocUnsafe(size);
    await readFully(handle, chunk, position - size);
    let to = size;
    while (to > 0) {
      const newline = chunk.subarray(0, to).lastIndexOf(NEWLINE);
      prepend(chunk.subarray(newline + 1, to));
      if (newline === -1) break;
      const offset = position - size + newline + 1;
      if (terminated || length > 0) yield finish(offset);
      parts = [];
      length = 0;
      lineEnd = offset;
      terminated = true;
      to = newline;
    }
    position -= size;
  }
  if (terminated || length > 0) yield finish(start);
}

async function readFully(handle: FileHandle, target: Buffer, position: number): Promise<void> {
  let done = 0;
  while (done < target.length) {
    const { bytesRead } = await handle.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw new Error("the file became shorter while it was read");
    done += bytesRead;
  }
}
