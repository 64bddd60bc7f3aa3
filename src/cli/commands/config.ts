/** `holdfast config`: shows, changes and checks the configuration. */
import { fileExists } from "../../base/files.ts";
import { getConfigValue, setConfigValue, unsetConfigValue } from "../../config/edit.ts";
import { isOwnEngine } from "../../config/choices.ts";
import { configFile, resolveHome } from "../../config/layout.ts";
import type { Flags } from "../command.ts";
import { loadSetup } from "../context.ts";
import { print, printJson, talk } from "../output.ts";
import { suggestRestart } from "../channel-view.ts";

export async function get(key: string | undefined, options: Flags<"json">): Promise<void> {
  const { config } = await loadSetup();
  const value = key === undefined ? config : await getConfigValue(config, key);
  if (options.json === true) printJson(key === undefined ? { value } : { key, value });
  else if (value === undefined) talk(`${key} is not set.`);
  else print(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
}

export async function set(key: string, rawValue: string, options: Flags<"json">): Promise<void> {
  const home = resolveHome();
  const path = configFile(home);
  const value = await setConfigValue({ path, key, rawValue });
  if (options.json === true) printJson({ ok: true, path, key, value });
  else print(`${key} = ${JSON.stringify(value)}  (${path})`);
  await suggestRestart(home);
}

export async function unset(key: string, options: Flags<"json">): Promise<void> {
  const home = resolveHome();
  const path = configFile(home);
  const removed = await unsetConfigValue({ path, key });
  if (options.json === true) printJson({ ok: true, path, key, removed });
  else print(removed ? `${key} is reset to its default` : `${key} was not set`);
  if (removed) await suggestRestart(home);
}

export async function path(options: Flags<"json">): Promise<void> {
  const file = configFile(resolveHome());
  const exists = await fileExists(file);
  if (options.json === true) printJson({ path: file, exists });
  else print(file);
}

export async function schema(): Promise<void> {
  const { jsonSchema } = await import("../../config/schema.ts");
  printJson(jsonSchema());
}

export async function check(options: Flags<"json">): Promise<void> {
  const { config, sources } = await loadSetup();
  const { describeOverriddenDenies } = await import("../../session/send-policy.ts");
  const foreign = Object.entries(config.agents).flatMap(([id, { engine }]) =>
    engine === undefined || isOwnEngine(engine) ? [] : [`agents.${id}.engine: a program must register "${engine}"`],
  );
  const warnings = [...describeOverriddenDenies(config.session.sendPolicy?.rules ?? []), ...foreign];
  if (options.json === true) return printJson({ ok: true, sources, warnings });
  for (const warning of warnings) talk(`Warning: ${warning}`);
  if (sources.length === 0) print("No configuration file; the defaults apply.");
  for (const { path } of sources) print(`${path} is valid`);
}
