/**
 * Loads the configuration for a command. Precedence: environment, project file, user file, default. One error
 * reports the problems of all sources.
 *
 * Loading zod takes as long as a whole command may take to start. So zod and json5 are imported only for a new
 * or changed file; an unchanged file comes from the cache.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { type JsonRecord, isRecord } from "../base/json-record.ts";
import { LOG_LEVELS } from "../base/log.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { ClaudeCodeConfig } from "./claude-code.ts";
import { readConfigText, readCachedLayer, writeCachedLayer, type ConfigProblem, invalidConfig } from "./config-file.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "./config.ts";
import { type Environment, configFile, expandHome, PROJECT_FILE_NAME } from "./layout.ts";
import type { FileKind, ConfigLayer } from "./schema.ts";
import { closestMatch } from "../base/text.ts";

export interface LoadConfigOptions {
  env: Environment;
  cwd: string;
  home: string;
}

/**
 * `sources` are all sources, weakest first. `origins` has the file or variable that set a value, by the dotted path of
 * every non-default value.
 */
export async function loadConfig({ env, cwd, home }: LoadConfigOptions) {
  const problems: ConfigProblem[] = [];
  const userHome = env["HOME"] ?? homedir();
  const projectFile = findProjectFile(cwd, userHome);
  const found = [
    await readLayer({ kind: "user", path: configFile(home) }, home, problems),
    projectFile === undefined ? undefined : await readLayer({ kind: "project", path: projectFile }, home, problems),
    ...Object.entries(VARIABLES).map(([name, read]) => readVariable(name, read, env, problems)),
  ].filter((source) => source !== undefined);
  if (problems.length > 0) throw invalidConfig(problems);
  return { ...mergeLayers(found, userHome), sources: found.map(({ kind, path }) => ({ kind, path })) };
}

interface FoundLayer {
  kind: FileKind | "environment";
  /** File path, or name of the variable. */
  path: string;
  layer: ConfigLayer;
}

async function readLayer(
  file: { kind: FileKind; path: string },
  home: string,
  problems: ConfigProblem[],
): Promise<FoundLayer | undefined> {
  const text = readConfigText(file.path);
  if (text === undefined) return undefined;
  const content = { ...file, text };
  const cached = readCachedLayer(home, content);
  if (cached !== undefined) return { ...file, layer: cached };
  const { checkConfigText } = await import("./config-text.ts");
  const checked = checkConfigText(text, file.kind);
  if ("problems" in checked) {
    problems.push(...checked.problems.map((message) => ({ source: basename(file.path), file: file.path, message })));
    return undefined;
  }
  await writeCachedLayer(home, content, checked.layer);
  return { ...file, layer: checked.layer };
}

function readVariable(
  path: string,
  read: VariableReader,
  env: Environment,
  problems: ConfigProblem[],
): FoundLayer | undefined {
  const value = env[path]?.trim() ?? "";
  if (value === "") return undefined;
  const result = read(value);
  if ("layer" in result) return { kind: "environment", path, layer: result.layer };
  problems.push({ source: path, message: result.problem });
  return undefined;
}

/**
 * Searches from the working folder up to the root of its git repository or the user's home. Outside both, only
 * the working folder counts: a file in a shared parent such as /tmp may belong to another user.
 */
function findProjectFile(cwd: string, userHome: string): string | undefined {
  return searchFolders(resolve(cwd), resolve(userHome))
    .map((folder) => join(folder, PROJECT_FILE_NAME))
    .find((path) => existsSync(path));
}

function searchFolders(start: string, userHome: string): string[] {
  const folders: string[] = [];
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder);
    if (folder === userHome || existsSync(join(folder, ".git"))) return folders;
    if (folder === dirname(folder)) return [start];
  }
}

type VariableReader = (value: string) => { layer: ConfigLayer } | { problem: string };

/** Checked without the schema. */
const VARIABLES: Record<string, VariableReader> = {
  HOLDFAST_AGENT: (value) => {
    const id = normalizeAgentId(value);
    if (id === value) return { layer: { defaultAgent: id } };
    return { problem: `not an agent id: ${JSON.stringify(value)} (did you mean "${id}"?)` };
  },
  HOLDFAST_STORE: oneOf(["sqlite", "json", "postgres"], (kind) => ({ store: { kind } })),
  HOLDFAST_DURABILITY: oneOf(["turn", "entry", "none"], (durability) => ({ transcript: { durability } })),
  HOLDFAST_LOG: oneOf(LOG_LEVELS, (level) => ({ log: { level } })),
};

function oneOf<T extends string>(allowed: readonly T[], layerOf: (choice: T) => ConfigLayer): VariableReader {
  return (value) => {
    const found = allowed.find((each) => each === value);
    if (found !== undefined) return { layer: layerOf(found) };
    const near = closestMatch(value, allowed);
    const hint = near === undefined ? "" : ` (did you mean "${near}"?)`;
    return { problem: `expected one of ${allowed.join(", ")}, found ${JSON.stringify(value)}${hint}` };
  };
}

/** Later layers win. Objects are merged key by key; lists and plain values are replaced. */
function mergeLayers(layers: readonly FoundLayer[], userHome: string) {
  const origins = new Map<string, string>();
  let config: JsonRecord = mergeObjects({}, { ...DEFAULT_CONFIG }, () => undefined, []);
  for (const { path: source, layer } of layers) {
    config = mergeObjects(config, layer, (path) => origins.set(path.join("."), source), []);
  }
  // Complete, because the defaults are and merging removes no key.
  return { config: expandPaths(config, userHome) as unknown as HoldfastConfig, origins };
}

const PATH_SETTINGS: ReadonlySet<string> = new Set(["workspace", "tokenFile", "passwordFile", "repos", "command"]);

/** Replaces `~` in all settings that are paths. */
function expandPaths(config: JsonRecord, userHome: string): JsonRecord {
  const expand = (value: unknown): unknown => (typeof value === "string" ? expandHome(value, userHome) : value);
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => {
      if (isRecord(value)) return [key, expandPaths(value, userHome)];
      if (!PATH_SETTINGS.has(key)) return [key, value];
      return [key, Array.isArray(value) ? value.map(expand) : expand(value)];
    }),
  );
}

/** The Claude Code settings of an agent: the general ones with its overrides. */
export function mergeClaudeConfig(config: HoldfastConfig, agentId: string): ClaudeCodeConfig {
  const own = config.agents[agentId]?.claudeCode;
  if (own === undefined) return config.claudeCode;
  return mergeObjects({ ...config.claudeCode }, { ...own }, () => undefined, []) as unknown as ClaudeCodeConfig;
}

function mergeObjects(
  base: JsonRecord,
  layer: JsonRecord,
  onValue: (path: readonly string[]) => void,
  path: readonly string[],
): JsonRecord {
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(layer)) {
    const here = [...path, key];
    const old = merged.get(key);
    if (isRecord(value)) {
      merged.set(key, mergeObjects(isRecord(old) ? old : {}, value, onValue, here));
    } else if (value !== undefined) {
      merged.set(key, Array.isArray(value) ? structuredClone(value) : value);
      onValue(here);
    }
  }
  // Unlike an assignment, this also creates an own `__proto__`.
  return Object.fromEntries(merged);
}
