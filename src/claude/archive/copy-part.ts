/**
 * One file of a session into the archive: read as it is at this moment, redacted line by line if asked,
 * compressed, and synced under a temporary name. Memory stays bounded by one line. What lies in the
 * archive already can be redacted the same way.
 */
import type { Hash } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { nodeCrypto } from "../../base/builtin.ts";
import { fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, temporaryPath } from "../../base/files.ts";
import { type Line, readLines } from "../../base/jsonl.ts";
import { redactText, redactValue } from "../../base/redact.ts";
import { openNativeFile } from "../native/layout.ts";
import { parseJson } from "../native/parse-json.ts";
import type { ArchivePart } from "./manifest.ts";
import { readPartLines } from "./read-part.ts";

export interface PartCopy {
  temporary: string;
  sizeBytes: number;
  modifiedAt: number;
  storedBytes: number;
  sha256: string;
}

/** Undefined when the source is gone. `target` is the final name; the copy lies beside it until it is moved. */
export async function copyPart(source: string, target: string, redact: boolean): Promise<PartCopy | undefined> {
  await using handle = await openNativeFile(source);
  if (handle === undefined) return undefined;
  const { size, mtimeMs } = await handle.stat();
  const content = redact ? redactedChunks(readLines(handle, { end: size })) : rawChunks(handle, size);
  return { sizeBytes: size, modifiedAt: mtimeMs, ...(await store(content, source, target)) };
}

/** The same for a file of the archive whose original is gone. */
export async function redactPart(
  archiveFolder: string,
  { file, sizeBytes, modifiedAt }: ArchivePart,
  target: string,
): Promise<PartCopy> {
  const source = join(archiveFolder, file);
  await using handle = await open(source);
  return { sizeBytes, modifiedAt, ...(await store(redactedChunks(readPartLines(handle)), source, target)) };
}

type Stored = Pick<PartCopy, "temporary" | "storedBytes" | "sha256">;

async function store(content: AsyncIterable<Buffer>, source: string, target: string): Promise<Stored> {
  const { createZstdCompress } = await import("node:zlib");
  const temporary = temporaryPath(target);
  const measure: Measure = { hash: nodeCrypto().createHash("sha256"), bytes: 0 };
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

interface Measure {
  hash: Hash;
  bytes: number;
}

async function* measured(chunks: AsyncIterable<Buffer>, measure: Measure): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    measure.hash.update(chunk);
    measure.bytes += chunk.length;
    yield chunk;
  }
}

const CHUNK_BYTES = 256 * 1024;

async function* rawChunks(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < size;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - position));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function* redactedChunks(lines: AsyncIterable<Line>): AsyncGenerator<Buffer> {
  for await (const line of lines) {
    // A line too long to look at may hold anything; it must not pass unseen.
    const text = line.oversized
      ? JSON.stringify({ type: "omitted", bytes: line.end - line.offset })
      : redactLine(line.bytes);
    yield typeof text === "string"
      ? Buffer.from(`${text}${line.terminated ? "\n" : ""}`)
      : withNewline(text, line.terminated);
  }
}

/** The line itself when there was nothing to replace: then it keeps every byte. */
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

function withNewline(bytes: Buffer, terminated: boolean): Buffer {
  return terminated ? Buffer.concat([bytes, Buffer.from("\n")]) : bytes;
}
