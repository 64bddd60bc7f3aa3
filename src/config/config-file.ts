/**
 * Reads a configuration file: bounded, regular files only, UTF-8 only. What a file means is cached, because
 * loading json5 and zod takes about as long as the rest of a command. A cached layer counts only for the same
 * text and the same version of Holdfast. Cache failures are ignored.
 */
import { readFileSync, statSync } from "node:fs";
import { mkdir, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, temporaryPath, decodeUtf8 } from "../base/files.ts";
import { packageVersion } from "../base/package.ts";
import { cacheFolder } from "./layout.ts";
import type { ConfigLayer, FileKind } from "./schema.ts";

/** More than anybody writes by hand. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Undefined: there is no file. Not asynchronous, because a short command would start threads only for this. */
export function readConfigText(path: string): string | undefined {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw unusable(path, "is not a regular file");
    if (found.size > MAX_CONFIG_BYTES) throw unusable(path, `is larger than ${MAX_CONFIG_BYTES} bytes (${found.size})`);
    const text = decodeUtf8(readFileSync(path));
    if (text === undefined) throw unusable(path, "is not UTF-8 text");
    refuseBlank(path, text);
    return text;
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw unreadable(error, path);
  }
}

/** A crash or a full disk leaves such files. Using the defaults would silently ignore the configuration. */
function refuseBlank(path: string, text: string): void {
  if (text.replaceAll("\0", "").trim() !== "") return;
  const hint = "Restore it from a backup, or delete it to use the defaults.";
  throw unusable(path, text.includes("\0") ? "holds only zero bytes" : "is empty", hint);
}

function unusable(
  path: string,
  reason: string,
  hint = "A configuration file is JSON5 text; move this one away or replace it.",
): HoldfastError {
  return new HoldfastError("usage", "invalid-config", `${path} ${reason}`, { hint, data: { path } });
}

function unreadable(error: unknown, path: string): HoldfastError {
  if (error instanceof HoldfastError) return error;
  const { message, hint, data } = fileError(error, "read", path);
  return new HoldfastError("usage", "invalid-config", message, { hint, data, cause: error });
}

interface ConfigFileContent {
  path: string;
  kind: FileKind;
  text: string;
}

export function readCachedLayer(home: string, file: ConfigFileContent): ConfigLayer | undefined {
  try {
    const cached = JSON.parse(readFileSync(cachePath(home, file), "utf8")) as Partial<CachedLayer> | null;
    const isUsable = cached?.fingerprint === fingerprint(file) && typeof cached.layer === "object";
    return isUsable ? (cached.layer ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

export async function writeCachedLayer(home: string, file: ConfigFileContent, layer: ConfigLayer): Promise<void> {
  const path = cachePath(home, file);
  const temporary = temporaryPath(path);
  try {
    // Not recursive: the cache alone must not create the home folder.
    await mkdir(cacheFolder(home), { mode: PRIVATE_FOLDER }).catch(() => undefined);
    const content: CachedLayer = { fingerprint: fingerprint(file), layer };
    await writeFile(temporary, JSON.stringify(content), { mode: PRIVATE_FILE, flag: "wx" });
    await rename(temporary, path);
  } catch {
    await unlink(temporary).catch(() => undefined);
  }
}

interface CachedLayer {
  fingerprint: string;
  layer: ConfigLayer;
}

function cachePath(home: string, { path }: ConfigFileContent): string {
  return join(cacheFolder(home), `config-${sha256(path).slice(0, 32)}.json`);
}

function fingerprint({ kind, text }: ConfigFileContent): string {
  return sha256(`${packageVersion()}\n${kind}\n${text}`);
}

function sha256(text: string): string {
  return nodeCrypto().createHash("sha256").update(text).digest("hex");
}

export interface ConfigProblem {
  /** File name, environment variable or flag. */
  source: string;
  file?: string;
  message: string;
}

/** `advice`: what to do. Default: correct the files. */
export function invalidConfig(problems: readonly ConfigProblem[], advice?: string): HoldfastError {
  const message = problems.map((problem) => `${problem.source}: ${problem.message}`).join("\n");
  const files = new Set(problems.flatMap(({ file }) => file ?? []));
  const correct = files.size === 0 ? "Correct the value." : `Correct ${[...files].join(" and ")}.`;
  return new HoldfastError("usage", "invalid-config", message, {
    hint: `${advice ?? correct} \`holdfast config schema\` describes every setting.`,
    data: { problems },
  });
}
