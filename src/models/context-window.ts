/** How many tokens fit into one request to a model. */
import { resolveModelName } from "./model-name.ts";

export interface ContextWindow {
  tokens: number;
  /** `assumed`: neither the configuration nor the table knows the model. */
  source: "config" | "built-in" | "assumed";
}

/** The settings of a model that matter here; `models` of the configuration has this shape. */
interface ModelWindowConfig {
  alias?: string;
  contextWindow?: number;
}

/** `model` as in the configuration: `provider/model`, an alias or a bare name. Left out: the assumption. */
export function resolveContextWindow(
  model: string | undefined,
  models: Readonly<Record<string, ModelWindowConfig>> = {},
): ContextWindow {
  const name = model === undefined ? "" : fullName(model, models);
  const configured = Object.hasOwn(models, name) ? models[name]?.contextWindow : undefined;
  if (configured !== undefined) return { tokens: configured, source: "config" };
  const known = CONTEXT_WINDOWS.find(([pattern]) => pattern.test(name))?.[1];
  return known === undefined ? { tokens: ASSUMED_WINDOW, source: "assumed" } : { tokens: known, source: "built-in" };
}

function fullName(model: string, models: Readonly<Record<string, ModelWindowConfig>>): string {
  try {
    const resolved = resolveModelName(model, models);
    return `${resolved.provider}/${resolved.model}`;
  } catch {
    // A name that says no provider is still looked up as it is.
    return model.trim();
  }
}

/** Too small means an early flush, once; too large means that it never comes. */
const ASSUMED_WINDOW = 32_768;

/** As the providers state them, November 2025; the first that fits counts. Names are data: config goes first. */
const CONTEXT_WINDOWS: [name: RegExp, tokens: number][] = [
  [/(^|[./])claude-\S*\[1m\]$/i, 1_000_000],
  [/(^|[./])claude-/i, 200_000],
  [/(^|\/)gpt-5(?!\d)/i, 272_000],
  [/(^|\/)gpt-4\.1/i, 1_047_576],
  [/(^|\/)(gpt-4o|gpt-4-turbo|o1-mini|o1-preview)/i, 128_000],
  [/(^|\/)gpt-4(-|$)/i, 8192],
  [/(^|\/)gpt-3\.5/i, 16_385],
  [/(^|\/)o\d/i, 200_000],
  [/(^|\/)gemini-/i, 1_048_576],
];
