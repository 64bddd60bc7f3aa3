/**
 * What a settings.json was before our entries came into it, so that it can become that again, byte for byte. One
 * private file for each settings.json, as the settings may hold credentials.
 */
import { join } from "node:path";
import { nodeCrypto } from "../../base/builtin.ts";
import { ensurePrivateFolder, readFileIfPresent, writeFileDurable } from "../../base/files.ts";
import { isRecord } from "../../base/json-record.ts";
import { unlink } from "node:fs/promises";

const RECORD_VERSION = 1;

export interface InstallRecord {
  /** The file, behind all links. */
  target: string;
  /** Undefined: there was none. */
  before: Buffer | undefined;
  /** Of the file as we left it. */
  digest: string;
  /** We made the folder that it lies in. */
  madeFolder: boolean;
  /** What of `hooks` was there before. */
  keep: { hooks: boolean; events: string[] };
}

export function recordFile(folder: string, target: string): string {
  return join(folder, `settings-${digestOf(Buffer.from(target)).slice(0, 32)}.json`);
}

export function digestOf(bytes: Buffer): string {
  return nodeCrypto().createHash("sha256").update(bytes).digest("hex");
}

/** Undefined when there is none, or one that tells about something else. */
export async function readRecord(folder: string, target: string): Promise<InstallRecord | undefined> {
  const content = await readFileIfPresent(recordFile(folder, target));
  const value = content === undefined ? undefined : parsed(content.toString("utf8"));
  if (!isRecord(value) || value["version"] !== RECORD_VERSION || value["target"] !== target) return undefined;
  const { before, digest, madeFolder, keep } = value;
  if (typeof digest !== "string" || (before !== null && typeof before !== "string") || !isRecord(keep))
    return undefined;
  const events = Array.isArray(keep["events"]) ? keep["events"].filter((event) => typeof event === "string") : [];
  return {
    target,
    before: before === null ? undefined : Buffer.from(before, "base64"),
    digest,
    madeFolder: madeFolder === true,
    keep: { hooks: keep["hooks"] === true, events },
  };
}

export async function writeRecord(folder: string, record: InstallRecord): Promise<void> {
  await ensurePrivateFolder(folder);
  const before = record.before?.toString("base64") ?? null;
  const content = JSON.stringify({ version: RECORD_VERSION, ...record, before });
  await writeFileDurable(recordFile(folder, record.target), `${content}\n`);
}

export async function removeRecord(folder: string, target: string): Promise<void> {
  await unlink(recordFile(folder, target)).catch(() => undefined);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
