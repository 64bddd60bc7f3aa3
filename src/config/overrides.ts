/** The settings that a flag or an environment variable can override, checked without the schema. */
import { LOG_LEVELS } from "../base/log.ts";
import { closestMatch } from "../base/suggest.ts";
import { normalizeAgentId } from "../keys/names.ts";
import type { ConfigLayer } from "./schema.ts";

/** `agent` is `--agent` and `HOLDFAST_AGENT`, and so on. */
export const OVERRIDES = ["agent", "store", "durability", "log"] as const;
export type OverrideName = (typeof OVERRIDES)[number];

export type Override = { layer: ConfigLayer } | { problem: string };

export function overrideLayer(name: OverrideName, value: string): Override {
  return OVERRIDE_READERS[name](value);
}

const OVERRIDE_READERS: Record<OverrideName, (value: string) => Override> = {
  agent: (value) => {
    const id = normalizeAgentId(value);
    if (id === value) return { layer: { defaultAgent: id } };
    return { problem: `not an agent id: ${JSON.stringify(value)} (did you mean "${id}"?)` };
  },
  store: (value) => choice(value, ["sqlite", "json"], (kind) => ({ store: { kind } })),
  durability: (value) => choice(value, ["turn", "entry", "none"], (durability) => ({ transcript: { durability } })),
  log: (value) => choice(value, LOG_LEVELS, (level) => ({ log: { level } })),
};

function choice<T extends string>(value: string, allowed: readonly T[], layerOf: (choice: T) => ConfigLayer): Override {
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return { layer: layerOf(found) };
  const near = closestMatch(value, allowed);
  const hint = near === undefined ? "" : ` (did you mean "${near}"?)`;
  return { problem: `expected one of ${allowed.join(", ")}, found ${JSON.stringify(value)}${hint}` };
}
