/** What reading a transcript for a hand-off gives, whoever's transcript it is, and how much of it is read. */
import { redactText } from "../../base/redact.ts";
import type { ReadMessage } from "../state.ts";

export interface ReadOptions {
  /** Most new bytes that are read; of more, the last so many. Default 8 MiB. */
  maxBytes?: number;
}

export interface ReadTranscript {
  /** In the order of the file. */
  messages: ReadMessage[];
  /**
   * Where reading began. After the offset that was asked for: there was too much, and what lies between
   * was skipped. Before it: the file is shorter than that, so it is another text; forget what was known.
   */
  start: number;
  /** After the last whole line that was read: where the next reading begins. */
  offset: number;
  /** Of the transcript up to `offset`, see `transcript-hash.ts`. */
  hash: string;
  sessionId?: string;
  /** The folder that was worked in last. */
  cwd?: string;
  /** The git branch of the last line; only Claude Code notes one. */
  branch?: string;
  /** When a notice in the transcript says that part of it was lost. */
  damagedAt?: string;
}

const MAX_READ_BYTES = 8 * 1024 * 1024;

/** May lie within a line; what is left of that line is no JSON and is passed over. */
export function readingStart(offset: number, size: number, { maxBytes = MAX_READ_BYTES }: ReadOptions): number {
  const from = offset > size ? 0 : offset;
  return Math.max(from, size - maxBytes);
}

/** Patterns look at the beginning and the end of a longer message; the middle need not be held. */
const TEXT_LENGTH = 24_000;
/** An error says what it is in its first lines. */
const ERROR_LENGTH = 2_000;

export function boundedText(text: string): string {
  if (text.length <= TEXT_LENGTH) return text;
  const safe = redactText(text);
  return `${safe.slice(0, TEXT_LENGTH / 2)}\n\n${safe.slice(-TEXT_LENGTH / 2)}`.toWellFormed();
}

/** Secrets go before the cut, as everywhere here: half of one would not be recognised later. */
export function headOf(text: string, length: number): string {
  if (text.length <= length) return text;
  return redactText(text.slice(0, length + SECRET_LENGTH))
    .slice(0, length)
    .toWellFormed();
}

/** The longest secret that is looked for. */
const SECRET_LENGTH = 8192;

/** Of what tools gave only errors are looked at. */
export function toolText(text: string, isError: boolean): string {
  return isError ? headOf(text, ERROR_LENGTH) : "";
}
