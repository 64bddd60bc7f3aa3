/**
 * Lines out of the pieces in which a pipe delivers them, with bounded memory. Nothing gets lost in
 * silence: a line that is too long, has broken characters or no end is handed over as what it is.
 */
import { MAX_LINE_BYTES } from "../../base/jsonl.ts";

export type NdjsonLine =
  /** `lossy`: some bytes were no UTF-8 and have been replaced. */
  | { kind: "line"; text: string; lossy: boolean }
  /** The last line had no newline; it may be half a message. */
  | { kind: "unterminated"; text: string; lossy: boolean }
  /** Longer than the limit, and dropped. */
  | { kind: "oversized"; bytes: number };

export interface NdjsonReader {
  /** Takes the next piece in and hands over every line that it completes. */
  push(chunk: Buffer): NdjsonLine[];
  /** Hands over what is left when nothing more comes. */
  end(): NdjsonLine[];
}

const NEWLINE = 0x0a;

export function createNdjsonReader(maxLineBytes: number = MAX_LINE_BYTES): NdjsonReader {
  let parts: Buffer[] = [];
  let length = 0;

  const collect = (bytes: Buffer): void => {
    length += bytes.length;
    if (length > maxLineBytes) parts = [];
    else if (bytes.length > 0) parts.push(bytes);
  };
  const take = (kind: "line" | "unterminated"): NdjsonLine[] => {
    const [bytes, size] = [Buffer.concat(parts), length];
    parts = [];
    length = 0;
    if (size > maxLineBytes) return [{ kind: "oversized", bytes: size }];
    const { text, lossy } = decode(bytes);
    return text.trim() === "" ? [] : [{ kind, text, lossy }];
  };

  return {
    push(chunk) {
      const lines: NdjsonLine[] = [];
      let from = 0;
      for (let newline = chunk.indexOf(NEWLINE); newline !== -1; newline = chunk.indexOf(NEWLINE, from)) {
        collect(chunk.subarray(from, newline));
        lines.push(...take("line"));
        from = newline + 1;
      }
      collect(chunk.subarray(from));
      return lines;
    },
    end: () => take("unterminated"),
  };
}

const strict = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Buffer): { text: string; lossy: boolean } {
  try {
    return { text: withoutReturn(strict.decode(bytes)), lossy: false };
  } catch {
    return { text: withoutReturn(bytes.toString("utf8")), lossy: true };
  }
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
