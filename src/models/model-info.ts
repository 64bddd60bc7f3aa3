/** What Holdfast knows about models: which name means which model, how much fits into a request, and the price. */
import { HoldfastError } from "../base/errors.ts";
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
  const named = aliased ?? SHORT_NAMES[wanted.toLowerCase()] ?? wanted;
  const slash = named.indexOf("/");
  if (slash > 0 && slash < named.length - 1 && !/\s/.test(named)) {
    return { provider: named.slice(0, slash), model: named.slice(slash + 1) };
  }
  const provider = slash === -1 && !/\s/.test(named) ? ownerOf(named) : undefined;
  if (provider === undefined) throw unknownModel(spec);
  return { provider, model: named };
}

/** A name without a version means the newest model that the installed packages know. */
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
  return new HoldfastError("usage", "model-unknown", `"${spec}" does not name a model provider.`, {
    hint: "Write provider/model, for example anthropic/claude-haiku-5-5 or ollama/llama3, or an alias from `models`.",
    data: { model: spec },
  });
}

interface ContextWindow {
  tokens: number;
  /** `assumed`: neither the configuration nor the table below has the model. */
  source: "config" | "built-in" | "assumed";
}

/** How many tokens fit into one request to `model`, named as in the configuration. */
export function resolveContextWindow(model: string | undefined, models: Models = {}): ContextWindow {
  const name = model === undefined ? "" : fullName(model, models);
  const configured = Object.hasOwn(models, name) ? models[name]?.contextWindow : undefined;
  if (configured !== undefined) return { tokens: configured, source: "config" };
  const known = CONTEXT_WINDOWS.find(([pattern]) => pattern.test(name))?.[1];
  return known === undefined ? { tokens: ASSUMED_WINDOW, source: "assumed" } : { tokens: known, source: "built-in" };
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

/** As stated by the providers in November 2025. The first match counts. */
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

/** US dollars. */
interface TokenCost extends TokenCounts {
  total: number;
}

/** The configuration (`models.<name>.price`) wins over the price list. Undefined when neither has a price. */
export function resolveModelPrice({ provider, model }: ModelName, models: Models = {}): ResolvedPrice | undefined {
  const name = `${provider}/${model}`;
  const configured = Object.hasOwn(models, name) ? models[name]?.price : undefined;
  const list = listPrice(provider, model);
  if (configured === undefined) {
    if (list === undefined) return undefined;
    const { input, output, cacheRead, cacheWrite } = list;
    return { input, output, cacheRead, cacheWrite, source: "list", asOf: LIST_PRICES_AS_OF };
  }
  const { input = list?.input ?? 0, output = list?.output ?? 0 } = configured;
  const { cacheRead = list?.cacheRead ?? 0, cacheWrite = list?.cacheWrite ?? 0 } = configured;
  return { input, output, cacheRead, cacheWrite, source: "config" };
}

export function tokenCostOf(tokens: TokenCounts, price: ResolvedPrice): TokenCost {
  const input = (tokens.input * price.input) / 1_000_000;
  const output = (tokens.output * price.output) / 1_000_000;
  const cacheRead = (tokens.cacheRead * price.cacheRead) / 1_000_000;
  const cacheWrite = (tokens.cacheWrite * price.cacheWrite) / 1_000_000;
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

/** Month of the price lists below. Shown with every cost computed from them. */
const LIST_PRICES_AS_OF = "2025-11";

/** Public list price in US dollars per million tokens, without discounts, batch prices or long-context prices. */
export interface ListPrice extends TokenCounts {
  /** `cacheWrite` is the price for five minutes, this one for an hour. */
  cacheWriteHour: number;
}

/** A model outside the known families has no price: a guess would look like a fact. */
function listPrice(provider: string, model: string): ListPrice | undefined {
  if (provider === "openai") return findPrice(model, OPENAI);
  return provider === "google" ? findPrice(model, GOOGLE) : anthropicPrice(model);
}

const anthropicPrices = new Map<string, ListPrice | undefined>();

/** Cached by model: a list of sessions asks thousands of times. */
export function anthropicPrice(model: string): ListPrice | undefined {
  if (!anthropicPrices.has(model)) anthropicPrices.set(model, findPrice(model, ANTHROPIC));
  return anthropicPrices.get(model);
}

type Families = readonly (readonly [name: RegExp, price: ListPrice])[];

function findPrice(model: string, families: Families): ListPrice | undefined {
  return families.find(([name]) => name.test(model))?.[1];
}

const ANTHROPIC: Families = [
  [claude("opus-4-[5-9]"), anthropic(5, 25)],
  [claude("opus-4"), anthropic(15, 75)],
  [claude("3-opus"), anthropic(15, 75)],
  [claude("sonnet-4"), anthropic(3, 15)],
  [claude("3-[57]-sonnet"), anthropic(3, 15)],
  [claude("3-sonnet"), anthropic(3, 15)],
  [claude("haiku-4-5"), anthropic(1, 5)],
  [claude("3-5-haiku"), anthropic(0.8, 4)],
  [claude("3-haiku"), { input: 0.25, output: 1.25, cacheRead: 0.03, cacheWrite: 0.3, cacheWriteHour: 0.5 }],
];

const OPENAI: Families = [
  [dated("gpt-5(?:\\.1)?"), cached(1.25, 10, 0.125)],
  [dated("gpt-5-mini"), cached(0.25, 2, 0.025)],
  [dated("gpt-5-nano"), cached(0.05, 0.4, 0.005)],
  [dated("gpt-4\\.1"), cached(2, 8, 0.5)],
  [dated("gpt-4\\.1-mini"), cached(0.4, 1.6, 0.1)],
  [dated("gpt-4\\.1-nano"), cached(0.1, 0.4, 0.025)],
  [dated("gpt-4o"), cached(2.5, 10, 1.25)],
  [dated("gpt-4o-mini"), cached(0.15, 0.6, 0.075)],
  [dated("o3"), cached(2, 8, 0.5)],
  [dated("o4-mini"), cached(1.1, 4.4, 0.275)],
];

const GOOGLE: Families = [
  [dated("gemini-2\\.5-pro"), cached(1.25, 10, 0.125)],
  [dated("gemini-2\\.5-flash"), cached(0.3, 2.5, 0.03)],
  [dated("gemini-2\\.5-flash-lite"), cached(0.1, 0.4, 0.01)],
];

/** Also matches names with a cloud provider's prefix or suffix: `us.anthropic.claude-…-v1:0`, `claude-…@20251101`. */
function claude(name: string): RegExp {
  return new RegExp(`(^|[./])claude-${name}($|[^0-9a-z])`);
}

/** The name itself or a dated version of it. Any other suffix names another model. */
function dated(name: string): RegExp {
  return new RegExp(`^${name}(?:-\\d[\\d-]*)?$`);
}

/** A cache read costs a tenth of the input, a cache write 1.25 times as much, a write for an hour twice as much. */
function anthropic(input: number, output: number): ListPrice {
  return { input, output, cacheRead: input * 0.1, cacheWrite: input * 1.25, cacheWriteHour: input * 2 };
}

/** Cache writes cost the same as input. */
function cached(input: number, output: number, cacheRead: number): ListPrice {
  return { input, output, cacheRead, cacheWrite: input, cacheWriteHour: input };
}
