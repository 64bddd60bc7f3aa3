/**
 * Reads and changes single values. A change happens under a file lock, starts from the current text, and is
 * written only if the whole result is valid. Comments and formatting stay.
 */
import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import { ensurePrivateFolder, writeFileDurable } from "../base/files.ts";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { withFileLock } from "../base/lock-file.ts";
import { readConfigText, invalidConfig } from "./config-file.ts";
import type { HoldfastConfig } from "./config.ts";
import { formatKeyPath, parseKeyPath, schemaAt, suggestKey } from "./key-path.ts";
import type { JsonSchema } from "./schema.ts";

/** The value in effect. Undefined: the key is known but not set. Throws for unknown keys. */
export async function getConfigValue(config: HoldfastConfig, key: string): Promise<unknown> {
  const path = parseKeyPath(key);
  const value = valueAt(config, path);
  if (value === undefined) await requireKnownKey(path);
  return value;
}

export interface ConfigEdit {
  /** The configuration file. Created if missing. */
  path: string;
  key: string;
}

/** Parses `rawValue` as JSON5, or takes it as text. Returns the value. */
export async function setConfigValue(edit: ConfigEdit & { rawValue: string }): Promise<unknown> {
  const path = parseKeyPath(edit.key);
  const schema = await requireKnownKey(path);
  const value = await parseRawValue(edit.rawValue, schema);
  await changeFile(edit.path, (config) => withValue(config, path, value));
  return value;
}

export async function unsetConfigValue(edit: ConfigEdit): Promise<boolean> {
  const path = parseKeyPath(edit.key);
  const changed = await changeFile(edit.path, (config) => withoutValue(config, path));
  if (!changed) await requireKnownKey(path);
  return changed;
}

/** Creates missing parents, and replaces a parent that is not an object. */
function withValue(target: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (Array.isArray(target)) return target.with(Number(name), withValue(target[Number(name)], rest, value));
  const base = isRecord(target) ? target : {};
  return { ...base, [name]: withValue(Object.hasOwn(base, name) ? base[name] : undefined, rest, value) };
}

function withoutValue(target: unknown, [name = "", ...rest]: readonly string[]): unknown {
  if (!isRecord(target) || !Object.hasOwn(target, name)) return target;
  const { [name]: inner, ...others } = target;
  return rest.length === 0 ? others : { ...target, [name]: withoutValue(inner, rest) };
}

async function requireKnownKey(path: readonly string[]): Promise<JsonSchema> {
  const { jsonSchema } = await import("./schema.ts");
  const root = jsonSchema();
  const known = schemaAt(root, path);
  if (known !== undefined) return known;
  const name = formatKeyPath(path);
  throw new HoldfastError("usage", "unknown-config-key", `Unknown key "${name}"${suggestKey(root, path)}`, {
    hint: "`holdfast config list` shows the current settings, `holdfast config schema` describes every setting.",
    data: { key: name },
  });
}

/** For a text field, `123` and `true` are text too. */
async function parseRawValue(raw: string, schema: JsonSchema): Promise<unknown> {
  const { parseConfigText } = await import("./config-text.ts");
  const parsed = raw.trim() === "" ? { value: raw } : parseConfigText(raw);
  const value = "value" in parsed ? parsed.value : raw;
  return schema.type === "string" && typeof value !== "string" ? raw : value;
}

async function changeFile(file: string, change: (config: unknown) => unknown): Promise<boolean> {
  const target = await followLink(file);
  await ensurePrivateFolder(dirname(target));
  return await withFileLock(`${target}.lock`, {}, async () => {
    const before = readConfigText(target);
    const after = await planChange(target, before, change);
    if (after === undefined) return false;
    await writeFileDurable(target, after);
    return true;
  });
}

/** The validated new text. Undefined: nothing to do. */
async function planChange(file: string, before: string | undefined, change: (config: unknown) => unknown) {
  const [{ checkConfigValue, parseConfigText }, { editJson }] = await Promise.all([
    import("./config-text.ts"),
    import("../base/json-places.ts"),
  ]);
  const fail = (problems: string[], advice?: string) =>
    invalidConfig(
      problems.map((message) => ({ source: basename(file), file, message })),
      advice,
    );
  const old = before === undefined ? { value: {} } : parseConfigText(before);
  if ("problem" in old) throw fail([old.problem]);
  const wanted = change(old.value);
  if (isDeepStrictEqual(wanted, old.value)) return undefined;
  const checked = checkConfigValue(wanted, "user");
  if ("problems" in checked) throw fail(checked.problems, "Nothing was changed.");
  const isEmpty = before === undefined || /^\s*\{\s*\}\s*$/.test(before);
  return editJson(isEmpty ? "" : before, wanted as JsonRecord);
}

/** Changes the target of a link, as dotfiles often are, instead of replacing the link. */
async function followLink(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return path;
    throw fileError(error, "look at", path);
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    const isReadable = isRecord(current) ? Object.hasOwn(current, name) : Array.isArray(current) && /^\d+$/.test(name);
    if (!isReadable) return undefined;
    current = (current as Record<string, unknown>)[name];
  }
  return current;
}
