/** What a hook needs and does not have, in words. */
import { isRecord } from "../base/json-record.ts";
import type { HoldfastConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { findProgram } from "../project/run-command.ts";
import type { HookRequirements } from "./hook-head.ts";

/** OpenClaw's name for something that every agent of Holdfast has. */
const ALWAYS_SET = new Set(["workspace.dir"]);

export async function missingRequirements(
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
