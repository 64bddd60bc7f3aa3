/**
 * Adds our hooks to Claude Code's settings.json and removes them again. Holdfast changes nothing else there, and only on
 * request. Invariants:
 * - Only our entries change, and a second call changes nothing.
 * - The original is recorded before the change. Removing the hooks restores it byte for byte, unless the file was
 *   changed since; then only our entries are removed.
 * - One change at a time per home folder. A file that changes meanwhile is read again.
 */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import { ensurePrivateFolder, fileExists, readFileIfPresent, writeFileDurable } from "../../base/files.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { CLAUDE_HOOK_EVENTS, type CommandOptions, hookEntry } from "./hook-call.ts";
import {
  type SettingsFile,
  type SettingsPlace,
  encoded,
  makeFolderOf,
  readSettings,
  refused,
  removeFolderOf,
  writeSettings,
  type Entries,
  SettingsProblem,
  hasEntries,
  placesThere,
  turnsHooksOff,
  withEntries,
  withoutEntries,
} from "./settings-file.ts";

export interface InstallOptions extends CommandOptions {
  settings: SettingsPlace;
  /** A private folder for the original and the lock. */
  folder: string;
}

export interface InstallOutcome {
  path: string;
  events: readonly string[];
  /** `restored`: byte for byte the original. */
  outcome: "installed" | "updated" | "unchanged" | "restored" | "removed";
  hooksOff: boolean;
  /** Some versions of Claude Code read nothing else. */
  isPlainJson: boolean;
}

const MAX_ATTEMPTS = 5;

export async function installHooks(options: InstallOptions): Promise<InstallOutcome> {
  const entries = Object.fromEntries(CLAUDE_HOOK_EVENTS.map((event) => [event, hookEntry(event, options)])) as Entries;
  return await changeSettings(options, async (file, record) => {
    const after = edited(file, (text) => withEntries(text, entries));
    const hadAny = edited(file, hasEntries);
    const facts = {
      path: file.path,
      events: CLAUDE_HOOK_EVENTS,
      hooksOff: edited(file, turnsHooksOff),
      isPlainJson: parseJson(after) !== undefined,
    };
    if (file.bytes !== undefined && after === file.text) return { ...facts, outcome: "unchanged" };
    const bytes = encoded(file, after);
    const before = beforeOurs(file, record, hadAny);
    const madeFolder = await makeFolderOf(file);
    await writeRecord(options.folder, {
      ...before,
      target: file.target,
      digest: digestOf(bytes),
      madeFolder: madeFolder || before.madeFolder,
    });
    if (!(await writeSettings(file, bytes))) return undefined;
    return { ...facts, outcome: hadAny ? "updated" : "installed" };
  });
}

export async function uninstallHooks(options: InstallOptions): Promise<InstallOutcome> {
  const facts = { path: options.settings.path, events: CLAUDE_HOOK_EVENTS, hooksOff: false, isPlainJson: true };
  // Do not create a home folder if nothing was installed.
  const wasUsed = (await fileExists(options.folder)) || holdsOurs(await readSettings(options.settings));
  if (!wasUsed) return { ...facts, outcome: "unchanged" };
  return await changeSettings(options, async (file, record) => {
    const isOurs = file.bytes !== undefined && record !== undefined && digestOf(file.bytes) === record.digest;
    if (!isOurs && !holdsOurs(file)) {
      // Our entries were removed, or an install was killed. The record may hold secrets and is useless now.
      await removeRecord(options.folder, file.target);
      return { ...facts, outcome: "unchanged" };
    }
    const rest = isOurs ? record.before : remaining(file, record);
    if (!(await writeSettings(file, rest))) return undefined;
    if (rest === undefined && record?.madeFolder === true) await removeFolderOf(file);
    await removeRecord(options.folder, file.target);
    return { ...facts, outcome: isOurs ? "restored" : "removed" };
  });
}

/** `change` returns undefined if the file has changed since it was read. */
async function changeSettings(
  { settings, folder }: InstallOptions,
  change: (file: SettingsFile, record: InstallRecord | undefined) => Promise<InstallOutcome | undefined>,
): Promise<InstallOutcome> {
  const { target } = await readSettings(settings);
  await ensurePrivateFolder(folder);
  return await withFileLock(`${recordFile(folder, target)}.lock`, {}, async () => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const file = await readSettings(settings);
      const outcome = await change(file, await readRecord(folder, file.target));
      if (outcome !== undefined) return outcome;
    }
    throw new HoldfastError("unavailable", "claude-settings-busy", `${settings.path} keeps changing`, {
      hint: "Another program writes to it; try again later. Nothing was changed.",
      data: { path: settings.path },
    });
  });
}

function holdsOurs(file: SettingsFile): boolean {
  return file.bytes !== undefined && edited(file, hasEntries);
}

function beforeOurs(file: SettingsFile, record: InstallRecord | undefined, hadAny: boolean) {
  const madeFolder = record?.madeFolder ?? false;
  if (file.bytes === undefined) return { before: undefined, keep: { hooks: false, events: [] }, madeFolder };
  if (record !== undefined && digestOf(file.bytes) === record.digest) return record;
  if (!hadAny) return { before: file.bytes, keep: edited(file, placesThere), madeFolder };
  return { before: remaining(file, record), keep: record?.keep ?? { hooks: false, events: [] }, madeFolder };
}

/** Undefined: nothing is left of a file that we created. */
function remaining(file: SettingsFile, record: InstallRecord | undefined): Buffer | undefined {
  const keep = record?.keep ?? { hooks: false, events: [] };
  const text = edited(file, (now) => withoutEntries(now, keep));
  const wasMade = record !== undefined && record.before === undefined;
  return wasMade && /^\s*\{\s*\}\s*$/.test(text) ? undefined : encoded(file, text);
}

function edited<T>(file: SettingsFile, edit: (text: string) => T): T {
  try {
    return edit(file.text);
  } catch (error) {
    const reason = error instanceof SettingsProblem ? error.message : "its format cannot be edited";
    throw refused(file.path, reason, "Fix it in an editor.");
  }
}

/** The original, to restore it byte for byte. Private, because settings may hold credentials. */
const RECORD_VERSION = 1;

export interface InstallRecord {
  /** Real path of the file. */
  target: string;
  before: Buffer | undefined;
  digest: string;
  madeFolder: boolean;
  /** Members of `hooks` that existed before. */
  keep: { hooks: boolean; events: string[] };
}

function recordFile(folder: string, target: string): string {
  return join(folder, `settings-${digestOf(Buffer.from(target)).slice(0, 32)}.json`);
}

function digestOf(bytes: Buffer): string {
  return nodeCrypto().createHash("sha256").update(bytes).digest("hex");
}

async function readRecord(folder: string, target: string): Promise<InstallRecord | undefined> {
  const content = await readFileIfPresent(recordFile(folder, target));
  const value = content === undefined ? undefined : parseJson(content.toString("utf8"));
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

async function writeRecord(folder: string, record: InstallRecord): Promise<void> {
  await ensurePrivateFolder(folder);
  const before = record.before?.toString("base64") ?? null;
  const content = JSON.stringify({ version: RECORD_VERSION, ...record, before });
  await writeFileDurable(recordFile(folder, record.target), `${content}\n`);
}

async function removeRecord(folder: string, target: string): Promise<void> {
  await unlink(recordFile(folder, target)).catch(() => undefined);
}
