/**
 * Reads and changes single values. A change happens under a file lock, starts from the current text, and is
 * written only if the whole result is valid. Comments and formatting stay.
 */
import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HoldfastError, errorMessage, fileError, systemErrorCode } from "../base/errors.ts";
import { ensurePrivateFolder, writeFileDurable } from "../base/files.ts";
import { isRecord } from "../base/json-record.ts";
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
  const { setInText } = await import("./config-text.ts");
  await changeFile(edit, {
    text: (text) => setInText(text ?? "", path, value),
    meaning: (before) => withValue(before, path, value),
  });
  return value;
}

/** False: it was not set. */
export async function unsetConfigValue(edit: ConfigEdit): Promise<boolean> {
  const path = parseKeyPath(edit.key);
  const { unsetInText } = await import("./config-text.ts");
  const changed = await changeFile(edit, {
    text: (text) => (text === undefined ? undefined : unsetInText(text, path)),
    meaning: (before) => withoutValue(before, path),
  });
  if (!changed) await requireKnownKey(path);
  return changed;
}

async function requireKnownKey(path: readonly string[]): Promise<JsonSchema> {
  const { jsonSchema } = await import("./schema.ts");
  const root = jsonSchema();
  const known = schemaAt(root, path);
  if (known !== undefined) return known;
  const name = formatKeyPath(path);
  throw new HoldfastError("usage", "unknown-config-key", `Unknown key "${name}"${suggestKey(root, path)}`, {
    hint: "Run `holdfast config schema` to see all keys. Nothing was changed.",
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

interface FileChange {
  /** The new text. Undefined: no change. */
  text(before: string | undefined): string | undefined;
  /** The value that the new text must have. */
  meaning(before: unknown): unknown;
}

async function changeFile({ path }: ConfigEdit, change: FileChange): Promise<boolean> {
  const target = await followLink(path);
  await ensurePrivateFolder(dirname(target));
  return await withFileLock(`${target}.lock`, {}, async () => {
    const before = await readConfigText(target);
    const after = await planChange(target, before, change);
    if (after === undefined || after === before) return false;
    await writeFileDurable(target, after);
    return true;
  });
}

/** The validated new text. Undefined: nothing to do. */
async function planChange(path: string, before: string | undefined, change: FileChange) {
  const { checkConfigValue, parseConfigText } = await import("./config-text.ts");
  const fail = (problems: string[]) =>
    invalidConfig(problems.map((message) => ({ source: basename(path), file: path, message })));
  const old = before === undefined ? { value: {} } : parseConfigText(before);
  if ("problem" in old) throw fail([old.problem]);
  const after = editText(path, before, change);
  if (after === undefined) return undefined;
  const meant = change.meaning(old.value);
  const checked = checkConfigValue(meant, "user");
  if ("problems" in checked) throw fail(checked.problems);
  if (before !== undefined && isDeepStrictEqual(meant, old.value)) return undefined;
  const written = parseConfigText(after);
  if ("problem" in written || !isDeepStrictEqual(written.value, meant)) throw uneditable(path);
  return after;
}

function editText(path: string, before: string | undefined, change: FileChange): string | undefined {
  try {
    return change.text(before);
  } catch (error) {
    throw uneditable(path, error);
  }
}

function uneditable(path: string, cause?: unknown): HoldfastError {
  const reason = cause === undefined ? "" : `: ${errorMessage(cause)}`;
  return new HoldfastError(
    "unsupported",
    "config-not-editable",
    `Cannot change ${path} without rewriting it${reason}`,
    {
      hint: "Edit the file by hand. Nothing was changed.",
      data: { path },
      cause,
    },
  );
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

function withValue(value: unknown, [name, ...rest]: readonly string[], leaf: unknown): unknown {
  if (name === undefined) return leaf;
  const entries = new Map(isRecord(value) ? Object.entries(value) : []);
  entries.set(name, withValue(entries.get(name), rest, leaf));
  return Object.fromEntries(entries);
}

function withoutValue(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || !isRecord(value)) return value;
  const entries = new Map(Object.entries(value));
  if (rest.length === 0) entries.delete(name);
  else if (entries.has(name)) entries.set(name, withoutValue(entries.get(name), rest));
  return Object.fromEntries(entries);
}
