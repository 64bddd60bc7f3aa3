/**
 * A JSON file that is read and replaced as a whole. The content is cached while the file looks unchanged; callers share
 * it and must not change it. An unreadable file is an error and is never overwritten. `JSON.parse` rounds integers
 * beyond 2^53, which chat platforms use as ids, so such numbers are kept as raw JSON and written back digit by digit.
 */
import { constants, isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { HoldfastError, errorMessage, fileError, systemErrorCode } from "../../base/errors.ts";
import { writeFileDurable } from "../../base/files.ts";
import { type JsonRecord, isRecord as isObject } from "../../base/json-record.ts";

export interface JsonDocument {
  readonly value: Readonly<JsonRecord>;
  readonly text: string;
}

interface CachedDocument extends JsonDocument {
  stamp: FileStamp;
  readAt: number;
  /** False if the file was so new that its next change might have the same time. */
  settled: boolean;
}

interface FileStamp {
  mtimeNs: bigint;
  size: bigint;
  ino: bigint;
}

const cache = new Map<string, CachedDocument>();

/** Undefined if there is no such file. `fresh` reads the content even if the file looks unchanged. */
export function readDocument(path: string, options: { fresh?: boolean | undefined } = {}): JsonDocument | undefined {
  const ttlMs = cacheTtlMs();
  const cached = ttlMs === 0 ? undefined : cache.get(path);
  if (cached !== undefined && options.fresh !== true && isCurrent(cached, path, ttlMs)) return cached;
  const content = readContent(path);
  if (content === undefined) {
    cache.delete(path);
    return undefined;
  }
  const value = cached?.text === content.text ? cached.value : parseDocument(path, content.text);
  return remember(path, { ...content, value });
}

/** Replaces the file durably. The caller holds the lock and must not change `value` afterwards. */
export async function writeDocument(path: string, value: Readonly<JsonRecord>): Promise<void> {
  // OpenClaw's format.
  const text = JSON.stringify(value, null, 2);
  cache.delete(path);
  await writeFileDurable(path, text);
  remember(path, { value, text, stamp: stampOf(statSync(path, { bigint: true })) });
}

/** Changes whenever the file does. */
export function documentStamp(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.mtimeNs}:${stats.size}:${stats.ino}`;
}

export function forgetDocuments(): void {
  cache.clear();
}

const DEFAULT_CACHE_TTL_MS = 45_000;

function cacheTtlMs(): number {
  const configured = process.env["HOLDFAST_SESSION_CACHE_TTL_MS"] ?? process.env["OPENCLAW_SESSION_CACHE_TTL_MS"];
  const ttlMs = configured === undefined || configured.trim() === "" ? Number.NaN : Number(configured);
  return Number.isFinite(ttlMs) && ttlMs >= 0 ? ttlMs : DEFAULT_CACHE_TTL_MS;
}

function isCurrent(cached: CachedDocument, path: string, ttlMs: number): boolean {
  if (!cached.settled || performance.now() - cached.readAt > ttlMs) return false;
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return false;
  const { mtimeNs, size, ino } = cached.stamp;
  return stats.mtimeNs === mtimeNs && stats.size === size && stats.ino === ino;
}

/** File times advance in steps of up to 10 ms; within one step two changes look the same. */
const FILE_TIME_STEP_MS = 50;

function remember(path: string, document: JsonDocument & { stamp: FileStamp }): JsonDocument {
  const ttlMs = cacheTtlMs();
  const readAt = performance.now();
  for (const [other, { readAt: then }] of cache) if (readAt - then > ttlMs) cache.delete(other);
  const settled = Date.now() - Number(document.stamp.mtimeNs / 1_000_000n) > FILE_TIME_STEP_MS;
  if (ttlMs > 0) cache.set(path, { ...document, readAt, settled });
  return document;
}

function stampOf({ mtimeNs, size, ino }: BigIntStats): FileStamp {
  return { mtimeNs, size, ino };
}

function readContent(path: string): { text: string; stamp: FileStamp } | undefined {
  try {
    const descriptor = openSync(path, "r");
    try {
      const stamp = stampOf(fstatSync(descriptor, { bigint: true }));
      if (stamp.size > constants.MAX_STRING_LENGTH) throw tooLarge(path, stamp.size);
      const bytes = readFileSync(descriptor);
      if (!isUtf8(bytes)) throw corrupt(path, "it is not text (invalid UTF-8)");
      return { text: bytes.toString("utf8"), stamp };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
}

function parseDocument(path: string, text: string): JsonRecord {
  if (text.trim() === "") throw corrupt(path, "it is empty");
  const value = parseTolerantly(path, text);
  if (!isRecord(value)) throw corrupt(path, "it is not a JSON object");
  return shallowCopy(value);
}

/** OpenClaw accepts JSON5 here. Its parser is slow and rarely needed. */
function parseTolerantly(path: string, text: string): unknown {
  try {
    return parseLosslessJson(text);
  } catch (strictError) {
    try {
      const json5 = createRequire(import.meta.url)("json5") as { parse(text: string): unknown };
      return json5.parse(text);
    } catch {
      throw corrupt(path, errorMessage(strictError), strictError);
    }
  }
}

export function corrupt(path: string, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError("corrupt", "store-corrupt", `${path} is damaged: ${why}`, {
    hint: "Nothing was changed. `holdfast doctor` shows what can be recovered. You can also restore a backup.",
    data: { path },
    cause,
  });
}

function tooLarge(path: string, size: bigint): HoldfastError {
  return new HoldfastError("unsupported", "store-too-large", `${path} has ${size} bytes, too many for a JSON file`, {
    hint: "Import it into the `sqlite` store, which has no such limit.",
    data: { path },
  });
}

/** Methods that TypeScript's library does not describe yet. */
const json = JSON as typeof JSON & {
  parse(
    text: string,
    reviver: (name: string, value: unknown, context: { source?: string | undefined }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/** Quick test for such numbers. A digit sequence inside a string only costs time. */
const PERHAPS_LOSSY = /\d{16}|\d[eE]\+?\d{3}/;

export function parseLosslessJson(text: string): unknown {
  return PERHAPS_LOSSY.test(text) ? json.parse(text, keepNumber) : JSON.parse(text);
}

function keepNumber(_name: string, value: unknown, context: { source?: string | undefined }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value;
  const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(context.source));
  return isExact ? value : json.rawJSON(context.source);
}

/** As in `base`, but false for a raw number. */
export function isRecord(value: unknown): value is JsonRecord {
  return isObject(value) && !json.isRawJSON(value);
}

/** A deep copy without undefined members. */
export function copyJson<T>(value: T): T {
  return copyUnknown(value) as T;
}

function copyUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyUnknown);
  if (!isRecord(value)) return value;
  const copy: JsonRecord = {};
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member !== undefined) setMember(copy, name, copyUnknown(member));
  }
  return copy;
}

/** Assigning to `__proto__` would change the prototype. */
function setMember(target: JsonRecord, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    target[name] = value;
  }
}

/** A copy without a prototype, so that every name is an ordinary name. */
export function shallowCopy<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, record);
}
