/**
 * Reading transcripts for a hand-off, Holdfast's own and Claude Code's: the result, its limits, and the hash that
 * shows whether a transcript is still the one that a state was made from.
 */
import type { FileHandle } from "node:fs/promises";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import { redactText } from "../../base/redact.ts";
import { openNativeFile } from "../../claude/native/layout.ts";
import { openForReading } from "../../transcript/scan.ts";
import type { ReadMessage } from "../state.ts";

export interface ReadOptions {
  /** Reads at most this many new bytes, the last ones. Default: 8 MiB. */
  maxBytes?: number | undefined;
}

export interface ReadTranscript {
  /** In the order of the file. */
  messages: ReadMessage[];
  /**
   * Where reading began. After the requested offset: there was too much, and some of it was skipped. Before it: the
   * file is shorter and therefore another text, so earlier knowledge is invalid.
   */
  start: number;
  /** The end of the last complete line: where the next reading begins. */
  offset: number;
  /** Hash of the transcript up to `offset` (`hashTranscript`). */
  hash: string;
  sessionId?: string | undefined;
  /** The last working folder. */
  cwd?: string | undefined;
  /** The git branch of the last line. Only Claude Code records one. */
  branch?: string | undefined;
  /** When a notice in the transcript says that part of it was lost. */
  damagedAt?: string | undefined;
}

const MAX_READ_BYTES = 8 * 1024 * 1024;

/** May be inside a line; the rest of that line is not JSON and is skipped. */
export function readingStart(offset: number, size: number, { maxBytes = MAX_READ_BYTES }: ReadOptions): number {
  const from = offset > size ? 0 : offset;
  return Math.max(from, size - maxBytes);
}

/** Patterns look at the beginning and the end of a longer message. */
const TEXT_LENGTH = 24_000;
/** The first lines of an error describe it. */
const ERROR_LENGTH = 2_000;

export function boundedText(text: string): string {
  if (text.length <= TEXT_LENGTH) return text;
  const safe = redactText(text);
  return `${safe.slice(0, TEXT_LENGTH / 2)}\n\n${safe.slice(-TEXT_LENGTH / 2)}`.toWellFormed();
}

/** Secrets are removed before the cut, because half of one would not be recognised later. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return redactText(text.slice(0, length + SECRET_LENGTH))
    .slice(0, length)
    .toWellFormed();
}

/** The longest secret that redaction looks for. */
const SECRET_LENGTH = 8192;

/** Only the errors of tools are used. */
export function toolText(text: string, isError: boolean): string {
  return isError ? headOf(text, ERROR_LENGTH) : "";
}

export type TranscriptKind = "session" | "native";

const SAMPLE_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * sha256 over the first line (at most 64 KiB of it), the offset, and the last 64 KiB before the offset. Transcripts are
 * only appended to, so this is enough to notice another, rewritten or torn file without reading all of it.
 */
export async function hashTranscript(handle: FileHandle, offset: number): Promise<string> {
  const head = await readRange(handle, 0, Math.min(SAMPLE_BYTES, offset));
  const newline = head.indexOf(NEWLINE);
  const tailStart = Math.max(0, offset - SAMPLE_BYTES);
  const tail = tailStart === 0 ? head : await readRange(handle, tailStart, offset);
  return nodeCrypto()
    .createHash("sha256")
    .update(newline === -1 ? head : head.subarray(0, newline + 1))
    .update(`\n${offset}\n`)
    .update(tail)
    .digest("hex");
}

/** False also if the file is missing or shorter than the offset. */
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
