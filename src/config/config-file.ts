/** Reading a configuration file: bounded, regular files only, text only. */
import { readFile, stat } from "node:fs/promises";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";

/** More than anybody writes by hand, little enough to parse at once. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Undefined when there is no file. */
export async function readConfigText(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile()) throw unusable(path, "is not a regular file");
    if (found.size > MAX_CONFIG_BYTES) throw unusable(path, `is larger than ${MAX_CONFIG_BYTES} bytes (${found.size})`);
    return decode(path, await readFile(path));
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw unreadable(error, path);
  }
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unusable(path, "is not UTF-8 text");
  }
}

function unusable(path: string, reason: string): HoldfastError {
  return new HoldfastError("usage", "invalid-config", `${path} ${reason}`, {
    hint: "A configuration file is JSON5 text; move this one away or replace it.",
    data: { path },
  });
}

function unreadable(error: unknown, path: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const { message, hint, data } = fileError(error, "read", path);
  return new HoldfastError("usage", "invalid-config", message, { hint, data, cause: error });
}
