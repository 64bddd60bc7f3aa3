import { type JsonRecord, isRecord } from "../base/json-record.ts";
import type { ClaudeCodeConfig, HoldfastConfig } from "./config.ts";
import type { ConfigLayer } from "./schema.ts";

export interface NamedLayer {
  /** Where it came from, for `origins`. */
  source: string;
  layer: ConfigLayer;
}

export interface MergedConfig {
  config: HoldfastConfig;
  /** Top-level and nested keys that were set, by dotted path, with the source that won. */
  origins: ReadonlyMap<string, string>;
}

/** Later layers win. Objects are merged key by key; lists and plain values are replaced whole. */
export function mergeLayers(defaults: HoldfastConfig, layers: readonly NamedLayer[]): MergedConfig {
  const origins = new Map<string, string>();
  let config: JsonRecord = mergeObjects({}, { ...defaults }, () => undefined, []);
  for (const { source, layer } of layers) {
    config = mergeObjects(config, layer, (path) => origins.set(path.join("."), source), []);
  }
  // Complete, because the defaults are and nothing removes a key.
  return { config: config as unknown as HoldfastConfig, origins };
}

/** How Claude Code is used by an agent: the general settings, and what it does differently. */
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
  // Unlike assignment, this makes an own property of every name.
  return Object.fromEntries(merged);
}
