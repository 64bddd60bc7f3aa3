/** Reads a file as text, if it is UTF-8 and not too large. */
import type { FileHandle } from "node:fs/promises";
import { HoldfastError } from "../../base/errors.ts";

export async function readText(handle: FileHandle, said: string, maxBytes: number): Promise<string> {
  const { size } = await handle.stat();
  if (size > maxBytes) throw tooLarge(said, size, maxBytes);
  const bytes = await readAtMost(handle, maxBytes);
  if (bytes === undefined) throw tooLarge(said, size, maxBytes);
  const text = decode(bytes);
  if (text === undefined) throw binary(said);
  return text;
}

/** Undefined: not text. */
export function decode(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined: larger than `maxBytes`. Does not trust the size, since a file may grow or report size 0. */
export async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, total);
    if (bytesRead === 0) return Buffer.concat(pieces);
    total += bytesRead;
    if (total > maxBytes) return undefined;
    pieces.push(buffer.subarray(0, bytesRead));
  }
}

/** Quotes names with control characters, such as a newline. */
export function shownName(path: string): string {
  return /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}

function tooLarge(said: string, size: number, maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "file-too-large", `"${said}" has ${size} bytes; the limit is ${maxBytes}.`, {
    hint: "search_files finds lines in smaller files; ask the person about this one.",
    data: { size, maxBytes },
  });
}

function binary(said: string): HoldfastError {
  return new HoldfastError("unsupported", "file-is-binary", `"${said}" is not a text file.`, {
    hint: "Only UTF-8 text can be read.",
  });
}
