/**
 * `hooks.json`: the content of each workspace hook when the person enabled it. The configuration holds only a name, and
 * an agent can give that name to anything it writes. What runs is a private copy of the enabled content.
 */
import { constants } from "node:fs";
import { open, opendir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError, fileError, systemErrorCode, errorMessage } from "../base/errors.ts";
import {
  ensurePrivateFolder,
  readFileIfPresent,
  writeFileDurable,
  PRIVATE_FILE,
  fileExists,
  temporaryPath,
} from "../base/files.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import { withFileLock } from "../base/lock-file.ts";
import { enabledHooksFile, hookCopiesFolder, type Environment } from "../config/layout.ts";
import type { Hook, HookState } from "./hook.ts";
import { printableLine } from "../base/text.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { findProgram } from "../base/processes.ts";
import { type FoundHook, type HookPlaces, findHooks, type HookRequirements } from "./find-hooks.ts";

export interface EnabledHook {
  name: string;
  digest: string;
  enabledAt: string;
}

/** By folder. An unreadable file enables nothing. */
async function readEnabledHooks(home: string): Promise<ReadonlyMap<string, EnabledHook>> {
  const content = await readFileIfPresent(enabledHooksFile(home)).catch(() => undefined);
  return parseEnabled(content?.toString("utf8") ?? "");
}

export async function keepEnabledHook(home: string, folder: string, hook: EnabledHook | undefined): Promise<void> {
  const path = enabledHooksFile(home);
  await ensurePrivateFolder(dirname(path));
  await withFileLock(`${path}.lock`, {}, async () => {
    const hooks = new Map(await readEnabledHooks(home));
    const isThere = hooks.delete(folder);
    if (hook === undefined && !isThere) return;
    if (hook !== undefined) hooks.set(folder, hook);
    const kept = { version: 1, workspaceHooks: Object.fromEntries(hooks) };
    await writeFileDurable(path, `${JSON.stringify(kept, undefined, 2)}\n`);
  });
}

function parseEnabled(text: string): ReadonlyMap<string, EnabledHook> {
  const value = parseJson(text);
  const hooks = isRecord(value) && value["version"] === 1 ? value["workspaceHooks"] : undefined;
  return new Map(
    Object.entries(isRecord(hooks) ? hooks : {}).flatMap(([folder, hook]) => {
      const { name, digest, enabledAt } = isRecord(hook) ? hook : {};
      const isWhole = typeof name === "string" && typeof digest === "string" && typeof enabledAt === "string";
      return isWhole ? [[folder, { name, digest, enabledAt }] as const] : [];
    }),
  );
}

function changedSince(name: string): string {
  return `changed since you enabled it; run \`holdfast hooks enable ${name}\` again`;
}

export interface HookContent {
  files: ReadonlyMap<string, Buffer>;
  /** SHA-256 over all names and contents. */
  digest: string;
}

const MAX_ENTRIES = 500;
const MAX_BYTES = 5 * 1024 * 1024;

/** Refuses what cannot be compared: links, pipes, too many or too large files. */
export async function readHookContent(folder: string): Promise<HookContent> {
  const found: [string, Buffer][] = [];
  try {
    let bytes = 0;
    let entries = 0;
    for await (const entry of await opendir(folder, { recursive: true })) {
      if (++entries > MAX_ENTRIES) throw refusedContent(`it has more than ${MAX_ENTRIES} files and folders`);
      if (entry.isDirectory()) continue;
      const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, "/");
      if (!entry.isFile()) throw refusedContent(`"${printableLine(path, 100)}" is not a plain file`);
      const content = await readPlainFile(join(folder, path), MAX_BYTES - bytes);
      bytes += content.length;
      found.push([path, content]);
    }
  } catch (error) {
    throw fileError(error, "read", folder);
  }
  const files = new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { files, digest: digestOf(files) };
}

async function readPlainFile(path: string, maxBytes: number): Promise<Buffer> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (!stats.isFile()) throw refusedContent("a file was replaced while it was read");
  if (stats.size > maxBytes) throw refusedContent(`it has more than ${MAX_BYTES / 1024 / 1024} MB`);
  const buffer = Buffer.alloc(stats.size);
  const { bytesRead } = await handle.read(buffer, 0, stats.size, 0);
  return buffer.subarray(0, bytesRead);
}

function refusedContent(reason: string): HoldfastError {
  return new HoldfastError("unsupported", "hook-content", reason, {
    hint: "A workspace hook is a folder of plain files, a few megabytes at most.",
  });
}

function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = nodeCrypto().createHash("sha256");
  for (const [path, content] of files) hash.update(`${path}\0${content.length}\0`).update(content);
  return hash.digest("hex");
}

/** Returns the folder of a private copy, which never changes. */
async function keepCopy(home: string, { files, digest }: HookContent): Promise<string> {
  const copies = hookCopiesFolder(home);
  const folder = join(copies, digest);
  if (await fileExists(folder)) return folder;
  const unfinished = temporaryPath(folder);
  try {
    for (const [path, content] of files) await writePrivateFile(join(unfinished, path), content);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process was faster. The same digest means the same copy.
    if (!["ENOTEMPTY", "EEXIST"].includes(systemErrorCode(error) ?? ""))
      throw fileError(error, "copy a hook to", folder);
  }
  return folder;
}

async function writePrivateFile(path: string, content: Buffer): Promise<void> {
  await ensurePrivateFolder(dirname(path));
  await using handle = await open(path, "wx", PRIVATE_FILE);
  await handle.writeFile(content);
  await handle.sync();
}

/** Checked again for every call: a hook that was disabled or changed must not run. */
export async function handlerFileOf(
  { name, source, folder, handlerFile }: Pick<Hook, "name" | "source" | "folder" | "handlerFile">,
  home: string,
): Promise<string> {
  if (handlerFile === undefined) throw notToRun(name, "it has no handler");
  if (source !== "workspace") return handlerFile;
  const [content, enabled] = await Promise.all([readHookContent(folder), readEnabledHooks(home)]);
  const known = enabled.get(folder);
  if (known === undefined) throw notToRun(name, "it was disabled");
  if (known.digest !== content.digest) throw notToRun(name, changedSince(name));
  return join(await keepCopy(home, content), basename(handlerFile));
}

/** Not the hook's own folder, because files written there would change the hook. */
export async function workingFolder({ workspace, home }: { workspace: string; home: string }): Promise<string> {
  return (await fileExists(workspace)) ? workspace : home;
}

function notToRun(name: string, reason: string): HoldfastError {
  return new HoldfastError("forbidden", "hook-not-run", reason, {
    hint: "Run `holdfast hooks check` to see all hooks.",
    data: { hook: name },
  });
}

export interface LoadHooksOptions extends HookPlaces {
  config: HoldfastConfig;
  env: Environment;
}

export async function loadHooks(options: LoadHooksOptions): Promise<Hook[]> {
  const enabled = await readEnabledHooks(options.home);
  const loaded: Hook[] = [];
  for (const found of await findHooks(options)) loaded.push(await judge(found, enabled, options));
  return withoutOverridden(loaded);
}

async function judge(found: FoundHook, enabled: ReadonlyMap<string, EnabledHook>, options: LoadHooksOptions) {
  const { requires, problem, ...hook } = found;
  const entry = Object.hasOwn(options.config.hooks.entries, hook.name)
    ? options.config.hooks.entries[hook.name]
    : undefined;
  const missing = missingRequirements(requires, options);
  const isTurnedOn =
    hook.source === "workspace" ? entry?.enabled === true && enabled.has(hook.folder) : entry?.enabled !== false;
  const as = (state: HookState, why?: string): Hook => {
    return { ...hook, enabled: isTurnedOn, missing, variables: requires.env, state, problem: why };
  };

  if (problem !== undefined) return as("broken", problem);
  if (!isTurnedOn) return as("off", offReason(hook));
  const changed = hook.source === "workspace" ? await changeSince(hook, enabled.get(hook.folder)) : undefined;
  if (changed !== undefined) return as("changed", changed);
  return missing.length > 0 ? as("missing", `it needs ${missing.join(", ")}`) : as("ready");
}

function offReason({ name, source }: Pick<FoundHook, "name" | "source">): string {
  const how = `\`holdfast hooks enable ${name}\``;
  return source === "workspace"
    ? `it is in the workspace and not enabled; read it, then run ${how}`
    : `it is disabled; run ${how} to enable it`;
}

async function changeSince({ name, folder }: Pick<FoundHook, "name" | "folder">, enabled: EnabledHook | undefined) {
  try {
    const { digest } = await readHookContent(folder);
    return enabled?.digest === digest ? undefined : changedSince(name);
  } catch (error) {
    return printableLine(errorMessage(error), 200);
  }
}

function withoutOverridden(hooks: readonly Hook[]): Hook[] {
  return hooks.map((hook, index) => {
    const later = hooks.slice(index + 1).find((other) => other.name === hook.name && goesBefore(other, hook));
    if (later === undefined) return hook;
    return { ...hook, state: "overridden", problem: `overridden by ${later.folder}` };
  });
}

function goesBefore(later: Hook, earlier: Hook): boolean {
  if (later.source === earlier.source) return false;
  return later.source !== "workspace" || later.state === "ready" || later.state === "missing";
}

/** OpenClaw's name for a setting that every agent of Holdfast has. */
const ALWAYS_SET = new Set(["workspace.dir"]);

function missingRequirements(
  requires: HookRequirements,
  { config, env }: { config: HoldfastConfig; env: Environment },
): string[] {
  const missing: string[] = [];
  if (requires.os.length > 0 && !requires.os.includes(process.platform)) {
    missing.push(`system ${requires.os.join(" or ")}, not ${process.platform}`);
  }
  const { bins, anyBins } = requires;
  for (const program of bins) if (!isOnPath(program, env)) missing.push(`program ${program}`);
  const hasAny = anyBins.some((program) => isOnPath(program, env));
  if (anyBins.length > 0 && !hasAny) missing.push(`program ${anyBins.join(" or ")}`);
  for (const name of requires.env) if ((env[name] ?? "") === "") missing.push(`environment variable ${name}`);
  for (const key of requires.config) if (!isSet(config, key)) missing.push(`setting ${key}`);
  return missing;
}

function isOnPath(program: string, env: Environment): boolean {
  return !/[/\\]/.test(program) && findProgram(program, env) !== undefined;
}

function isSet(config: HoldfastConfig, key: string): boolean {
  if (ALWAYS_SET.has(key)) return true;
  let value: unknown = config;
  for (const name of key.split(".")) value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value !== undefined && value !== null && value !== false && value !== "";
}
