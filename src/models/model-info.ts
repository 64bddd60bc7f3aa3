/** What Holdfast knows about models: which name means which model, how much fits into a request, and the price. */
import { readFileSync } from "node:fs";
import { HoldfastError } from "../base/errors.ts";
import { dataFile } from "../base/package.ts";
import type { ModelConfig } from "../config/config.ts";

export interface ModelName {
  provider: string;
  model: string;
}

type Models = Readonly<Record<string, ModelConfig>>;

/** `spec` is `provider/model`, an alias from the configuration, or a bare name such as `claude-haiku` or `gpt-4o-mini`. */
export function resolveModelName(spec: string, models: Models = {}): ModelName {
  const wanted = spec.trim();
  const aliased = Object.entries(models).find(([, { alias }]) => alias?.toLowerCase() === wanted.toLowerCase())?.[0];
  const named = aliased ?? modelData().shortNames[wanted.toLowerCase()] ?? wanted;
  const slash = named.indexOf("/");
  if (slash > 0 && slash < named.length - 1 && !/\s/.test(named)) {
    return { provider: named.slice(0, slash), model: named.slice(slash + 1) };
  }
  const provider = slash === -1 && !/\s/.test(named) ? ownerOf(named) : undefined;
  if (provider === undefined) throw unknownModel(spec);
  return { provider, model: named };
}

function ownerOf(model: string): string | undefined {
  if (/^claude-./i.test(model)) return "anthropic";
  if (/^gemini-./i.test(model)) return "google";
  return /^(?:gpt-.|o\d)/i.test(model) ? "openai" : undefined;
}

function unknownModel(spec: string): HoldfastError {
  return new HoldfastError("usage", "model-unknown", `"${spec}" does not name a model provider.`, {
    hint: "Write provider/model, for example anthropic/claude-haiku-5-5 or ollama/llama3, or an alias from `models`.",
    data: { model: spec },
  });
}

/** `assumed`: neither the configuration nor the table below has the model. */
export function resolveContextWindow(model: string | undefined, models: Models = {}) {
  const name = model === undefined ? "" : fullName(model, models);
  const configured = Object.hasOwn(models, name) ? models[name]?.contextWindow : undefined;
  if (configured !== undefined) return { tokens: configured, source: "config" as const };
  const known = listedWindow(name);
  return {
    tokens: known ?? ASSUMED_WINDOW,
    source: known === undefined ? ("assumed" as const) : ("built-in" as const),
  };
}

/** Every turn asks for it. */
const knownWindows = new Map<string, number | undefined>();

function listedWindow(name: string): number | undefined {
  if (!knownWindows.has(name)) {
    const row = modelData().contextWindows.find(([pattern]) => new RegExp(pattern, "i").test(name));
    knownWindows.set(name, row?.[1]);
  }
  return knownWindows.get(name);
}

function fullName(model: string, models: Models): string {
  try {
    const resolved = resolveModelName(model, models);
    return `${resolved.provider}/${resolved.model}`;
  } catch {
    // Without a provider, the name is looked up as written.
    return model.trim();
  }
}

/** Too small a guess flushes memory early, once; too large a guess never flushes. */
const ASSUMED_WINDOW = 32_768;

export interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** US dollars per million tokens. */
export interface ResolvedPrice extends TokenCounts {
  source: "config" | "list";
  /** Date of the price list, such as `2025-11`. Only set for list prices. */
  asOf?: string | undefined;
}

/** The configuration (`models.<name>.price`) wins over the price list. Undefined when neither has a price. */
export function resolveModelPrice({ provider, model }: ModelName, models: Models = {}): ResolvedPrice | undefined {
  const name = `${provider}/${model}`;
  const configured = Object.hasOwn(models, name) ? models[name]?.price : undefined;
  const list = listPrice(provider, model);
  if (configured === undefined) {
    if (list === undefined) return undefined;
    const { input, output, cacheRead, cacheWrite } = list;
    return { input, output, cacheRead, cacheWrite, source: "list", asOf: modelData().pricesAsOf };
  }
  const { input = list?.input ?? 0, output = list?.output ?? 0 } = configured;
  const { cacheRead = list?.cacheRead ?? 0, cacheWrite = list?.cacheWrite ?? 0 } = configured;
  return { input, output, cacheRead, cacheWrite, source: "config" };
}

export function tokenCostOf(tokens: TokenCounts, price: TokenCounts): TokenCounts & { total: number } {
  const input = (tokens.input * price.input) / 1_000_000;
  const output = (tokens.output * price.output) / 1_000_000;
  const cacheRead = (tokens.cacheRead * price.cacheRead) / 1_000_000;
  const cacheWrite = (tokens.cacheWrite * price.cacheWrite) / 1_000_000;
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

/** Public list price in US dollars per million tokens, without discounts, batch prices or long-context prices. */
export interface ListPrice extends TokenCounts {
  /** `cacheWrite` is the price for five minutes, this one for an hour. */
  cacheWriteHour: number;
}

/** A model outside the known families has no price: a guess would look like a fact. */
function listPrice(provider: string, model: string): ListPrice | undefined {
  return priceIn(provider === "openai" || provider === "google" ? provider : "anthropic", model);
}

export function anthropicPrice(model: string): ListPrice | undefined {
  return priceIn("anthropic", model);
}

const knownPrices = new Map<string, ListPrice | undefined>();

/** Cached by model: a list of sessions asks thousands of times. */
function priceIn(family: keyof ModelData["prices"], model: string): ListPrice | undefined {
  const name = `${family}/${model}`;
  if (!knownPrices.has(name)) {
    knownPrices.set(name, toPrice(modelData().prices[family].find(([pattern]) => new RegExp(pattern).test(model))));
  }
  return knownPrices.get(name);
}

type PriceRow = [pattern: string, ...dollars: [number, number, number, number, number]];

function toPrice(row: PriceRow | undefined): ListPrice | undefined {
  if (row === undefined) return undefined;
  const [, input, output, cacheRead, cacheWrite, cacheWriteHour] = row;
  return { input, output, cacheRead, cacheWrite, cacheWriteHour };
}

/** Patterns are regular expressions over the model's name; the first that matches counts. */
interface ModelData {
  /** `versionPath` completes a bare host. Without `keyEnv`, no key is needed. */
  providers: Readonly<Record<string, KnownProvider>>;
  /** A name without a version means the newest model that the installed packages know. */
  shortNames: Readonly<Record<string, string>>;
  contextWindows: [pattern: string, tokens: number][];
  /** Month of the prices. Shown with every cost computed from them. */
  pricesAsOf: string;
  prices: Record<"anthropic" | "openai" | "google", PriceRow[]>;
}

interface KnownProvider {
  protocol: "anthropic" | "openai" | "google" | "openai-compatible";
  baseUrl: string;
  /** The variable from which the provider's own tools read the address. */
  baseUrlEnv?: string | undefined;
  versionPath: string;
  keyEnv: readonly string[];
}

let data: ModelData | undefined;

/** `data/models.json`, as stated by the providers. */
export function modelData(): ModelData {
  return (data ??= JSON.parse(readFileSync(dataFile("models.json"), "utf8")) as ModelData);
}
