/**
 * The configuration that a command runs with. Precedence: flag, environment, project file, user
 * file, default. All problems of all sources are reported in one error.
 *
 * zod alone takes about as long to load as a whole command may take to start, hence the dynamic
 * imports: without a file neither zod nor json5 is loaded, and an unchanged file comes from the
 * cache (`config-cache.ts`).
 */
import { homedir } from "node:os";
import { basename } from "node:path";
import { readCachedLayer, writeCachedLayer } from "./config-cache.ts";
import { readConfigText } from "./config-file.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "./config.ts";
import { type Environment, configFile } from "./layout.ts";
import { type NamedLayer, mergeLayers } from "./merge.ts";
import { OVERRIDES, type OverrideName, overrideLayer } from "./overrides.ts";
import { type ConfigProblem, invalidConfig } from "./problems.ts";
import { findProjectFile } from "./project-file.ts";
import type { FileKind } from "./schema.ts";

export interface LoadConfigOptions {
  env: Environment;
  cwd: string;
  /** Holdfast's home, see `resolveHome`. */
  home: string;
  flags?: Partial<Record<OverrideName, string | undefined>>;
}

export interface LoadedConfig {
  config: HoldfastConfig;
  /** What was read, from the weakest to the strongest. */
  sources: ConfigSource[];
  /** Dotted path of every value that is not a default → path, variable or flag that set it. */
  origins: ReadonlyMap<string, string>;
}

interface ConfigSource {
  kind: FileKind | "environment" | "flag";
  /** File path, or the name of the variable or flag. */
  path: string;
}

export async function loadConfig({ env, cwd, home, flags = {} }: LoadConfigOptions): Promise<LoadedConfig> {
  const problems: ConfigProblem[] = [];
  const projectFile = findProjectFile(cwd, env["HOME"] ?? homedir());
  const found = [
    await readLayer({ kind: "user", path: configFile(home) }, home, problems),
    projectFile === undefined ? undefined : await readLayer({ kind: "project", path: projectFile }, home, problems),
    ...OVERRIDES.map((name) => readOverride("environment", `HOLDFAST_${name.toUpperCase()}`, name, env, problems)),
    ...OVERRIDES.map((name) => readOverride("flag", `--${name}`, name, { [`--${name}`]: flags[name] }, problems)),
  ].filter((source) => source !== undefined);
  if (problems.length > 0) throw invalidConfig(problems);
  const sources = found.map(({ kind, path }) => ({ kind, path }));
  return { ...mergeLayers(DEFAULT_CONFIG, found), sources };
}

type FoundLayer = ConfigSource & NamedLayer;

async function readLayer(
  file: { kind: FileKind; path: string },
  home: string,
  problems: ConfigProblem[],
): Promise<FoundLayer | undefined> {
  const text = await readConfigText(file.path);
  if (text === undefined) return undefined;
  const content = { ...file, text };
  const cached = await readCachedLayer(home, content);
  if (cached !== undefined) return { ...file, source: file.path, layer: cached };
  const { checkConfigText } = await import("./config-text.ts");
  const checked = checkConfigText(text, file.kind);
  if ("problems" in checked) {
    problems.push(...checked.problems.map((message) => ({ source: basename(file.path), file: file.path, message })));
    return undefined;
  }
  await writeCachedLayer(home, content, checked.layer);
  return { ...file, source: file.path, layer: checked.layer };
}

function readOverride(
  kind: "environment" | "flag",
  path: string,
  name: OverrideName,
  values: Environment,
  problems: ConfigProblem[],
): FoundLayer | undefined {
  const value = values[path]?.trim() ?? "";
  if (value === "") return undefined;
  const override = overrideLayer(name, value);
  if ("layer" in override) return { kind, path, source: path, layer: override.layer };
  problems.push({ source: path, message: override.problem });
  return undefined;
}
