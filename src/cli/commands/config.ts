/** `holdfast config`: the effective values, the file behind them, and its schema. */
import { getConfigValue, setConfigValue, unsetConfigValue } from "../../config/edit.ts";
import { configFile, resolveHome } from "../../config/layout.ts";
import { loadConfig } from "../../config/load.ts";
import { tellIfGatewayRuns } from "../idle-accounts.ts";
import { print, printJson } from "../output.ts";

interface ConfigOptions {
  json?: boolean;
}

export async function get(key: string | undefined, options: ConfigOptions): Promise<void> {
  const { config } = await load();
  const value = key === undefined ? config : await getConfigValue(config, key);
  if (options.json === true) printJson(key === undefined ? { value } : { key, value });
  else print(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
}

export async function set(key: string, rawValue: string, options: ConfigOptions): Promise<void> {
  const home = resolveHome();
  const path = configFile(home);
  const value = await setConfigValue({ path, key, rawValue });
  if (options.json === true) printJson({ ok: true, path, key, value });
  else print(`${key} = ${JSON.stringify(value)}  (${path})`);
  await tellIfGatewayRuns(home);
}

export async function unset(key: string, options: ConfigOptions): Promise<void> {
  const home = resolveHome();
  const path = configFile(home);
  const removed = await unsetConfigValue({ path, key });
  if (options.json === true) printJson({ ok: true, path, key, removed });
  else print(removed ? `${key} is back at its default` : `${key} was not set`);
  if (removed) await tellIfGatewayRuns(home);
}

export async function schema(): Promise<void> {
  const { jsonSchema } = await import("../../config/schema.ts");
  printJson(jsonSchema());
}

export async function check(options: ConfigOptions): Promise<void> {
  const { sources } = await load();
  if (options.json === true) return printJson({ ok: true, sources });
  if (sources.length === 0) print("No configuration file: the defaults apply.");
  for (const { path } of sources) print(`${path} is valid`);
}

async function load() {
  return await loadConfig({ env: process.env, cwd: process.cwd(), home: resolveHome() });
}
