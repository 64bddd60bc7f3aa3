/** A file's content as text, if it is text and not too much of it. */
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

/** Undefined for what is no text. */
export function decode(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Undefined when there is more: a file may grow while it is read, and some say that they are empty. */
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

function tooLarge(said: string, size: number, maxBytes: number): HoldfastError {
  return new HoldfastError(
    "usage",
    "file-too-large",
    `"${said}" has ${size} bytes, more than the ${maxBytes} allowed.`,
    {
      hint: "search_files finds lines in smaller files; ask the person about this one.",
      data: { size, maxBytes },
    },
  );
}

function binary(said: string): HoldfastError {
  return new HoldfastError("unsupported", "file-is-binary", `"${said}" is not a text file.`, {
    hint: "Only text in UTF-8 can be read.",
  });
}
