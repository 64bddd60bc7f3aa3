/**
 * All hooks of an agent and which of them are called. Later places go before earlier ones of the same name,
 * but a hook of the workspace only once the person turned it on, as it is now: an agent writes there, and must
 * neither run code of its own in Holdfast nor put something of no effect in the place of the person's hook.
 */
import { errorMessage } from "../base/errors.ts";
import { printableLine } from "../base/printable.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { type EnabledHook, readEnabledHooks } from "./enabled-hooks.ts";
import { type FoundHook, type HookPlaces, findHooks } from "./find-hooks.ts";
import type { Hook, HookState } from "./hook.ts";
import { readHookContent } from "./hook-content.ts";
import { missingRequirements } from "./missing-requirements.ts";

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
    const told = why === undefined ? {} : { problem: why };
    return { ...hook, enabled: isTurnedOn, missing, variables: requires.env, state, ...told };
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
    ? `it lies in the workspace and is not turned on; read it, then run ${how}`
    : `it is turned off; ${how} turns it on`;
}

/** Undefined when it is what the person turned on. */
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

export function changedSince(name: string): string {
  return `changed since you enabled it; run \`holdfast hooks enable ${name}\` again`;
}

function withoutOverridden(hooks: readonly Hook[]): Hook[] {
  return hooks.map((hook, index) => {
    const later = hooks.slice(index + 1).find((other) => other.name === hook.name && goesBefore(other, hook));
    if (later === undefined) return hook;
    return { ...hook, state: "overridden", problem: `the one in ${later.folder} goes before it` };
  });
}

function goesBefore(later: Hook, earlier: Hook): boolean {
  if (later.source === earlier.source) return false;
  return later.source !== "workspace" || later.state === "ready" || later.state === "missing";
}
