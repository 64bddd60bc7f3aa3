/**
 * Loads the hooks of an agent and decides which of them run. A hook overrides hooks of the same name in earlier
 * places, but a workspace hook only after the person enabled its current content: agents write to the workspace, and
 * must neither run code in Holdfast nor replace a hook of the person.
 */
import { errorMessage } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { findProgram } from "../project/run-git.ts";
import { type EnabledHook, readEnabledHooks, readHookContent, changedSince } from "./enabled-hooks.ts";
import { type FoundHook, type HookPlaces, findHooks, type HookRequirements } from "./find-hooks.ts";
import type { Hook, HookState } from "./hook.ts";
import { printableLine } from "../base/text.ts";

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

async function judge(
  found: FoundHook,
  enabled: ReadonlyMap<string, EnabledHook>,
  options: LoadHooksOptions,
): Promise<Hook> {
  const { requires, problem, ...hook } = found;
  const entry = Object.hasOwn(options.config.hooks.entries, hook.name)
    ? options.config.hooks.entries[hook.name]
    : undefined;
  const missing = await missingRequirements(requires, options);
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

/** Undefined: it is what the person enabled. */
async function changeSince(
  { name, folder }: Pick<FoundHook, "name" | "folder">,
  enabled: EnabledHook | undefined,
): Promise<string | undefined> {
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

async function missingRequirements(
  requires: HookRequirements,
  { config, env }: { config: HoldfastConfig; env: Environment },
): Promise<string[]> {
  const missing: string[] = [];
  if (requires.os.length > 0 && !requires.os.includes(process.platform)) {
    missing.push(`system ${requires.os.join(" or ")}, not ${process.platform}`);
  }
  for (const program of requires.bins) {
    if (!(await isOnPath(program, env))) missing.push(`program ${program}`);
  }
  const any = await Promise.all(requires.anyBins.map(async (program) => await isOnPath(program, env)));
  if (any.length > 0 && !any.includes(true)) missing.push(`program ${requires.anyBins.join(" or ")}`);
  for (const name of requires.env) if ((env[name] ?? "") === "") missing.push(`environment variable ${name}`);
  for (const key of requires.config) if (!isSet(config, key)) missing.push(`setting ${key}`);
  return missing;
}

async function isOnPath(program: string, env: Environment): Promise<boolean> {
  return !/[/\\]/.test(program) && (await findProgram(program, env)) !== undefined;
}

function isSet(config: HoldfastConfig, key: string): boolean {
  if (ALWAYS_SET.has(key)) return true;
  let value: unknown = config;
  for (const name of key.split(".")) value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return value !== undefined && value !== null && value !== false && value !== "";
}
