/**
 * From what a person writes for a model to provider and model: `anthropic/claude-haiku-5-5`, an alias
 * of the configuration, or a bare name such as `claude-haiku` or `gpt-4o-mini`.
 */
import { HoldfastError } from "../base/errors.ts";
import type { ModelConfig } from "../config/config.ts";

export interface ModelName {
  provider: string;
  model: string;
}

export function resolveModelName(spec: string, models: Readonly<Record<string, ModelConfig>> = {}): ModelName {
  const wanted = spec.trim();
  const aliased = Object.entries(models).find(([, { alias }]) => alias?.toLowerCase() === wanted.toLowerCase())?.[0];
  const named = aliased ?? SHORT_NAMES[wanted.toLowerCase()] ?? wanted;
  const slash = named.indexOf("/");
  if (slash > 0 && slash < named.length - 1 && !/\s/.test(named)) {
    return { provider: named.slice(0, slash), model: named.slice(slash + 1) };
  }
  const provider = slash === -1 && !/\s/.test(named) ? ownerOf(named) : undefined;
  if (provider === undefined) throw unknownModel(spec);
  return { provider, model: named };
}

/** Names without a version mean the newest model that the installed packages know. */
const SHORT_NAMES: Record<string, string> = {
  "claude-haiku": "anthropic/claude-haiku-5-5",
  "claude-sonnet": "anthropic/claude-sonnet-5-5",
  "claude-opus": "anthropic/claude-opus-5-5",
  "gemini-flash": "google/gemini-flash-latest",
  "gemini-flash-lite": "google/gemini-flash-lite-latest",
  "gemini-pro": "google/gemini-pro-latest",
};

function ownerOf(model: string): string | undefined {
  if (/^claude-./i.test(model)) return "anthropic";
  if (/^gemini-./i.test(model)) return "google";
  return /^(?:gpt-.|o\d)/i.test(model) ? "openai" : undefined;
}

function unknownModel(spec: string): HoldfastError {
  return new HoldfastError("usage", "model-unknown", `"${spec}" does not say which provider serves the model.`, {
    hint: "Write provider/model, for example anthropic/claude-haiku-5-5 or ollama/llama3, or an alias from `models`.",
    data: { model: spec },
  });
}
