/**
 * Puts our hooks into a settings.json of Claude Code and takes them out again. This is the one thing that Holdfast
 * changes there, and only when a person says so. Invariants:
 * - Nothing but our entries changes, and doing it twice is the same as doing it once.
 * - What the file was is noted before it is changed; taking the hooks out brings that back, byte for byte, unless
 *   somebody has changed the file since: then only our entries go.
 * - One at a time for each home, and a file that changed while we looked at it is looked at again.
 */
import { HoldfastError } from "../../base/errors.ts";
import { ensurePrivateFolder, fileExists } from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { CLAUDE_HOOK_EVENTS, type CommandOptions, hookEntry } from "./hook-command.ts";
import { type InstallRecord, digestOf, readRecord, recordFile, removeRecord, writeRecord } from "./install-record.ts";
import {
  type SettingsFile,
  type SettingsPlace,
  encoded,
  makeFolderOf,
  readSettings,
  refused,
  removeFolderOf,
  writeSettings,
} from "./settings-file.ts";
import {
  type Entries,
  SettingsProblem,
  hasEntries,
  placesThere,
  turnsHooksOff,
  withEntries,
  withoutEntries,
} from "./settings-text.ts";

export interface InstallOptions extends CommandOptions {
  settings: SettingsPlace;
  /** Private; for what the file was, and for the lock. */
  folder: string;
}

export interface InstallOutcome {
  path: string;
  events: readonly string[];
  /** `unchanged`: they were there, or were not, already. `restored`: byte for byte what it was. */
  outcome: "installed" | "updated" | "unchanged" | "restored" | "removed";
  /** Somebody has turned all hooks off in the same file. */
  hooksOff: boolean;
  /** Claude Code has versions that read nothing else. */
  isPlainJson: boolean;
}

const MOST_ATTEMPTS = 5;

export async function installHooks(options: InstallOptions): Promise<InstallOutcome> {
  const entries = Object.fromEntries(CLAUDE_HOOK_EVENTS.map((event) => [event, hookEntry(event, options)])) as Entries;
  return await changeSettings(options, async (file, record) => {
    const after = edited(file, (text) => withEntries(text, entries));
    const hadAny = edited(file, hasEntries);
    const facts = {
      path: file.path,
      events: CLAUDE_HOOK_EVENTS,
      hooksOff: edited(file, turnsHooksOff),
      isPlainJson: isPlainJson(after),
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
  // Where nothing was ever put in, no home is made.
  const wasUsed = (await fileExists(options.folder)) || holdsOurs(await readSettings(options.settings));
  if (!wasUsed) return { ...facts, outcome: "unchanged" };
  return await changeSettings(options, async (file, record) => {
    const isOurs = file.bytes !== undefined && record !== undefined && digestOf(file.bytes) === record.digest;
    if (!isOurs && !holdsOurs(file)) {
      // Somebody else took them out, or we were ended on the way. What is kept may hold secrets and is of no use now.
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

/** `change` answers with undefined when the file is not any more what it has seen. */
async function changeSettings(
  { settings, folder }: InstallOptions,
  change: (file: SettingsFile, record: InstallRecord | undefined) => Promise<InstallOutcome | undefined>,
): Promise<InstallOutcome> {
  const { target } = await readSettings(settings);
  await ensurePrivateFolder(folder);
  return await withFileLock(`${recordFile(folder, target)}.lock`, {}, async () => {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const file = await readSettings(settings);
      const outcome = await change(file, await readRecord(folder, file.target));
      if (outcome !== undefined) return outcome;
    }
    throw new HoldfastError("unavailable", "claude-settings-busy", `${settings.path} changes all the time`, {
      hint: "Another program writes it; try again in a moment. Nothing was changed.",
      data: { path: settings.path },
    });
  });
}

function holdsOurs(file: SettingsFile): boolean {
  return file.bytes !== undefined && edited(file, hasEntries);
}

/** What the file would be without us. */
function beforeOurs(
  file: SettingsFile,
  record: InstallRecord | undefined,
  hadAny: boolean,
): Pick<InstallRecord, "before" | "keep" | "madeFolder"> {
  const madeFolder = record?.madeFolder ?? false;
  if (file.bytes === undefined) return { before: undefined, keep: { hooks: false, events: [] }, madeFolder };
  if (record !== undefined && digestOf(file.bytes) === record.digest) return record;
  if (!hadAny) return { before: file.bytes, keep: edited(file, placesThere), madeFolder };
  return { before: remaining(file, record), keep: record?.keep ?? { hooks: false, events: [] }, madeFolder };
}

/** Without our entries; undefined when that leaves nothing of a file that we have made. */
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
    const reason = error instanceof SettingsProblem ? error.message : "it is written in a way that cannot be edited";
    throw refused(file.path, reason, "Mend it in an editor.");
  }
}

function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
