/**
 * Single files of the archive. A file is copied as it is at this moment, redacted line by line if wanted, compressed,
 * and synced under a temporary name. Reading unpacks it on the fly. Memory stays bounded by one line.
 */
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { Readable, pipeline as connect } from "node:stream";
import { pipeline } from "node:stream/promises";
import { nodeCrypto } from "../../base/builtin.ts";
import { fileError, systemErrorCode } from "../../base/errors.ts";
import { PRIVATE_FILE, temporaryPath } from "../../base/files.ts";
import { parseJson } from "../../base/json-record.ts";
import { type Line, type ReadLinesOptions, createLineSplitter, readLines } from "../../base/jsonl.ts";
import { redactText, redactValue } from "../../base/redact.ts";
import { openNativeFile } from "../native/layout.ts";
import type { ArchivePart } from "./catalogue.ts";

const CHUNK_BYTES = 256 * 1024;

export type PartCopy = Awaited<ReturnType<typeof redactPart>>;

/** Undefined when the source is gone. `target` is the final path; the copy gets a temporary name beside it. */
export async function copyPart(source: string, target: string, redact: boolean) {
  await using handle = await openNativeFile(source);
  if (handle === undefined) return undefined;
  const { size, mtimeMs } = await handle.stat();
  const content = redact ? redactedChunks(readLines(handle, { end: size })) : fileChunks(handle, size);
  return { sizeBytes: size, modifiedAt: mtimeMs, ...(await store(content, source, target)) };
}

/** Redacts a file of the archive whose original is gone. */
export async function redactPart(archiveFolder: string, { file, sizeBytes, modifiedAt }: ArchivePart, target: string) {
  const source = join(archiveFolder, file);
  await using handle = await open(source);
  return { sizeBytes, modifiedAt, ...(await store(redactedChunks(readPartLines(handle)), source, target)) };
}

async function store(content: AsyncIterable<Buffer>, source: string, target: string) {
  const { createZstdCompress } = await import("node:zlib");
  const temporary = temporaryPath(target);
  const measure = newMeasure();
  try {
    await using output = await open(temporary, "wx", PRIVATE_FILE);
    await pipeline(measured(content, measure), createZstdCompress(), async (chunks: AsyncIterable<Buffer>) => {
      await output.writeFile(chunks);
    });
    await output.sync();
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw fileError(error, "archive", source);
  }
  return { temporary, storedBytes: measure.bytes, sha256: measure.hash.digest("hex") };
}

export function newMeasure() {
  return { hash: nodeCrypto().createHash("sha256"), bytes: 0 };
}

export async function* measured(
  chunks: AsyncIterable<Buffer>,
  measure: ReturnType<typeof newMeasure>,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    measure.hash.update(chunk);
    measure.bytes += chunk.length;
    yield chunk;
  }
}

async function* redactedChunks(lines: AsyncIterable<Line>): AsyncGenerator<Buffer> {
  for await (const line of lines) {
    // A line that is too long to check is replaced: it may hold secrets.
    const text = line.oversized
      ? JSON.stringify({ type: "omitted", bytes: line.end - line.offset })
      : redactLine(line.bytes);
    yield Buffer.concat([Buffer.from(text), Buffer.from(line.terminated ? "\n" : "")]);
  }
}

/** Returns the same bytes when there is nothing to replace. */
function redactLine(bytes: Buffer): Buffer | string {
  const text = bytes.toString("utf8");
  const value = parseJson(text);
  if (value === undefined) {
    const redacted = redactText(text);
    return redacted === text ? bytes : redacted;
  }
  const redacted = JSON.stringify(redactValue(value));
  return redacted === JSON.stringify(value) ? bytes : redacted;
}

/** The unpacked lines, with offsets in the unpacked content. The caller closes the handle. */
export async function* readPartLines(
  handle: FileHandle,
  options: Pick<ReadLinesOptions, "start" | "maxLineBytes"> = {},
): AsyncGenerator<Line> {
  const lines = createLineSplitter(options);
  let toSkip = options.start ?? 0;
  for await (const chunk of unpackPart(handle)) {
    const skipped = Math.min(toSkip, chunk.length);
    toSkip -= skipped;
    yield* lines.push(chunk.subarray(skipped));
  }
  yield* lines.end();
}

/** Throws when the file is damaged; `isUnpackingError` tells that from a failing disk. */
export async function* unpackPart(handle: FileHandle): AsyncGenerator<Buffer> {
  const { createZstdDecompress } = await import("node:zlib");
  const source = Readable.from(fileChunks(handle), { objectMode: false });
  // The reader of the output gets any error, and each end closes the other.
  const output = connect(source, createZstdDecompress({ chunkSize: CHUNK_BYTES }), () => undefined);
  for await (const chunk of output) yield chunk as Buffer;
}

export function isUnpackingError(error: unknown): boolean {
  const code = systemErrorCode(error) ?? "";
  return code.startsWith("ZSTD_") || code.startsWith("Z_");
}

async function* fileChunks(handle: FileHandle, size = Number.POSITIVE_INFINITY): AsyncGenerator<Buffer> {
  for (let position = 0; position < size;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
