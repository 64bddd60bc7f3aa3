/**
 * Reads and replaces Claude Code's settings.json. It may hold credentials, so it keeps its place, mode and owner, and
 * its content is never logged. The target of a link is replaced, not the link. Anything but a plain, writable file is
 * refused without a change.
 */
import JSON5 from "json5";
import type { Stats } from "node:fs";
import { access, constants, lstat, mkdir, open, readFile, realpath, rmdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import {
  PRIVATE_FILE,
  PRIVATE_FOLDER,
  fileExists,
  replaceFile,
  syncFolder,
  temporaryPath,
  sweepFolder,
  isInside,
  statIfPresent,
  readFileIfPresent,
  decodeUtf8,
} from "../../base/files.ts";
import { isDeepStrictEqual } from "node:util";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { editJson } from "../../base/json-places.ts";
import { CLAUDE_HOOK_EVENTS, type ClaudeHookEvent, type HookEntry, isOurCommand } from "./hook-call.ts";

export interface SettingsPlace {
  path: string;
  /** The repo of a project file. Undefined: the person's own file. */
  within?: string | undefined;
}

export interface SettingsFile extends SettingsPlace {
  target: string;
  bytes: Buffer | undefined;
  /** Without a byte order mark. */
  text: string;
  stats: Stats | undefined;
}

const MAX_SIZE = 5 * 1024 * 1024;

export async function readSettings(place: SettingsPlace): Promise<SettingsFile> {
  const target = await findTarget(place);
  const stats = await statIfPresent(target);
  if (stats === undefined) return { ...place, target, bytes: undefined, text: "", stats };
  if (!stats.isFile()) throw refused(place.path, "it is not a file", "Move it away.");
  if (stats.size > MAX_SIZE) throw refused(place.path, "it is larger than 5 MiB", "Check what is in it.");
  const isWritable = (stats.mode & 0o222) !== 0 && (await isAllowed(target)) && (await isAllowed(dirname(target)));
  if (!isWritable) throw refused(place.path, "it is read-only", "Make it and its folder writable (chmod u+w).");
  const bytes = await readFile(target).catch((error: unknown) => {
    throw fileError(error, "read", target);
  });
  const text = decodeUtf8(bytes);
  if (text === undefined) throw refused(place.path, "it is not UTF-8 text", "Save it as UTF-8 in an editor.");
  return { ...place, target, bytes, text, stats };
}

/** False: it has changed since it was read. `undefined` removes the file. */
export async function writeSettings(file: SettingsFile, bytes: Buffer | undefined): Promise<boolean> {
  const { target, stats } = file;
  if (bytes === undefined) return (await isAsRead(file)) && (await removed(target));
  const mode = stats === undefined ? (file.within === undefined ? PRIVATE_FILE : 0o644) : stats.mode & 0o7777;
  // Remove leftovers of a killed process: no other cleanup covers Claude Code's folder.
  await sweepFolder(dirname(target), basename(target));
  const temporary = temporaryPath(target);
  try {
    await using handle = await open(temporary, "wx", PRIVATE_FILE);
    await handle.writeFile(bytes);
    if (stats !== undefined && isOthers(stats)) await handle.chown(stats.uid, stats.gid);
    await handle.chmod(mode);
    await handle.sync();
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw fileError(error, "write", target);
  }
  if (await isAsRead(file)) {
    await replaceFile(temporary, target);
    return true;
  }
  await unlink(temporary).catch(() => undefined);
  return false;
}

export async function makeFolderOf({ target, within }: SettingsFile): Promise<boolean> {
  try {
    await mkdir(dirname(target), { mode: within === undefined ? PRIVATE_FOLDER : 0o755 });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw fileError(error, "create folder", dirname(target));
  }
}

/** Does nothing if the folder is not empty. */
export async function removeFolderOf({ target }: SettingsFile): Promise<void> {
  await rmdir(dirname(target)).catch(() => undefined);
}

/** Keeps an existing byte order mark. */
export function encoded({ bytes }: SettingsFile, text: string): Buffer {
  return Buffer.from(`${bytes?.subarray(0, 3).equals(MARK) === true ? "\uFEFF" : ""}${text}`);
}

const MARK = Buffer.from("\uFEFF");

async function findTarget({ path, within }: SettingsPlace): Promise<string> {
  const isThere = await lstat(path).then(
    () => true,
    (error: unknown) => {
      if (systemErrorCode(error) === "ENOENT") return false;
      throw fileError(error, "look at", path);
    },
  );
  const target = isThere ? await behindLinks(path) : await inRealFolder(path);
  if (within === undefined || isInside(await realpath(within), target)) return target;
  throw refused(path, `it points outside the repo, to ${target}`, "Replace the link by a file of the repo.");
}

async function behindLinks(path: string): Promise<string> {
  return await realpath(path).catch((error: unknown) => {
    if (!["ENOENT", "ELOOP"].includes(systemErrorCode(error) ?? "")) throw fileError(error, "look at", path);
    throw refused(path, "it is a dangling link", "Remove the link, or create its target.");
  });
}

async function inRealFolder(path: string): Promise<string> {
  const folder = dirname(path);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => undefined,
  );
  if (isFolder === false) throw refused(path, `${folder} is not a folder`, "Move it away.");
  if (isFolder === true) return join(await realpath(folder), basename(path));
  if (await lstat(folder).catch(() => undefined)) {
    throw refused(path, `${folder} is a dangling link`, "Remove the link, or create its target.");
  }
  if (!(await fileExists(dirname(folder)))) {
    throw refused(path, `${dirname(folder)} does not exist`, "Check CLAUDE_CONFIG_DIR.");
  }
  return join(await realpath(dirname(folder)), basename(folder), basename(path));
}

async function isAllowed(path: string): Promise<boolean> {
  return await access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function isAsRead({ target, bytes }: SettingsFile): Promise<boolean> {
  const now = await readFileIfPresent(target);
  return now === undefined || bytes === undefined ? now === bytes : now.equals(bytes);
}

async function removed(target: string): Promise<true> {
  await unlink(target).catch((error: unknown) => {
    throw fileError(error, "remove", target);
  });
  await syncFolder(dirname(target));
  return true;
}

function isOthers({ uid, gid }: Stats): boolean {
  return uid !== process.geteuid?.() || gid !== process.getegid?.();
}

export function refused(path: string, reason: string, hint: string): HoldfastError {
  return new HoldfastError("conflict", "claude-settings-refused", `Cannot change ${path}: ${reason}`, {
    hint: `${hint} Nothing was changed.`,
    data: { path },
  });
}

/** Explains to a person why a text cannot be edited. Never quotes the text: it may hold secrets. */
export class SettingsProblem extends Error {
  override readonly name = "SettingsProblem";
}

export type Entries = Readonly<Record<ClaudeHookEvent, HookEntry>>;

/** Returns the same text if nothing changes. */
export function withEntries(text: string, entries: Entries): string {
  const settings = parseSettings(text);
  const hooks = hooksOf(settings);
  const lists = CLAUDE_HOOK_EVENTS.map((event) => [event, withEntry(hooks[event], entries[event])] as const);
  return editJson(text, { ...settings, hooks: { ...hooks, ...Object.fromEntries(lists) } });
}

/** An entry of another installation gets our command and keeps its other members. */
function withEntry(list: unknown, entry: HookEntry): unknown[] {
  let isThere = false;
  const groups = groupsOf(list).flatMap((group) =>
    changeOwn(group, (own) => {
      if (isThere) return [];
      isThere = true;
      return [{ ...own, command: entry.command }];
    }),
  );
  return isThere ? groups : [...groups, { hooks: [entry] }];
}

/** `keep`: events whose lists existed before ours. */
export function withoutEntries(text: string, keep: { hooks: boolean; events: readonly string[] }): string {
  const { hooks, ...others } = parseSettings(text);
  if (!isRecord(hooks)) return text;
  const left = Object.entries(hooks).flatMap(([event, list]) => {
    if (!Array.isArray(list) || list.length === 0) return [[event, list] as const];
    const groups = list.flatMap((group) => changeOwn(group, () => []));
    return groups.length === 0 && !keep.events.includes(event) ? [] : [[event, groups] as const];
  });
  const isEmptied = left.length === 0 && Object.keys(hooks).length > 0 && !keep.hooks;
  return editJson(text, isEmptied ? others : { ...others, hooks: Object.fromEntries(left) });
}

/** Changes or removes our entries of a group. A group that had nothing else is removed with them. */
function changeOwn(group: unknown, change: (own: JsonRecord) => unknown[]): unknown[] {
  if (!isRecord(group) || !Array.isArray(group["hooks"])) return [group];
  const hooks = group["hooks"].flatMap((entry: unknown) =>
    isRecord(entry) && isOurCommand(entry["command"]) ? change(entry) : [entry],
  );
  const isEmptied = hooks.length === 0 && group["hooks"].length > 0 && Object.keys(group).length === 1;
  return isEmptied ? [] : [{ ...group, hooks }];
}

function hooksOf({ hooks }: JsonRecord): JsonRecord {
  return isRecord(hooks) ? hooks : {};
}

function groupsOf(list: unknown): unknown[] {
  return Array.isArray(list) ? list : [];
}

/** Which of the members that we need already exist. */
export function placesThere(text: string): { hooks: boolean; events: string[] } {
  const { hooks } = parseSettings(text);
  return isRecord(hooks) ? { hooks: true, events: Object.keys(hooks) } : { hooks: false, events: [] };
}

export function hasEntries(text: string): boolean {
  const lists = Object.values(hooksOf(parseSettings(text)));
  const groups = lists.flatMap(groupsOf);
  return groups.some(
    (group) =>
      !isDeepStrictEqual(
        changeOwn(group, () => []),
        [group],
      ),
  );
}

export function turnsHooksOff(text: string): boolean {
  return parseSettings(text)["disableAllHooks"] === true;
}

function parseSettings(text: string): JsonRecord {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON5.parse(text);
  } catch (error) {
    const { lineNumber, columnNumber } = error as {
      lineNumber?: number | undefined;
      columnNumber?: number | undefined;
    };
    throw new SettingsProblem(`it is not valid JSON (line ${lineNumber ?? "?"}, column ${columnNumber ?? "?"})`);
  }
  if (!isRecord(value)) throw new SettingsProblem("it is not a JSON object");
  const hooks = value["hooks"];
  if (hooks !== undefined && !isRecord(hooks)) throw new SettingsProblem('its "hooks" are no object');
  for (const event of CLAUDE_HOOK_EVENTS) {
    const list = hooks?.[event];
    if (list !== undefined && !Array.isArray(list)) throw new SettingsProblem(`its "hooks.${event}" is not a list`);
  }
  return value;
}
