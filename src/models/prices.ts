/** What a request costs: by the configuration, else by the providers' lists, else unknown. */
import type { ModelConfig } from "../config/config.ts";
import { LIST_PRICES_AS_OF, listPrice } from "./list-prices.ts";
import type { ModelName } from "./model-name.ts";

/** US dollars per million tokens. */
export interface ResolvedPrice {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  source: "config" | "list";
  /** Of the lists, `2025-11`. Left out: everything is from the configuration. */
  asOf?: string;
}

export interface TokenCounts {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** In US dollars. */
export interface TokenCost extends TokenCounts {
  total: number;
}

/** Undefined: nobody knows. */
export function resolveModelPrice(
  { provider, model }: ModelName,
  models: Readonly<Record<string, ModelConfig>> = {},
): ResolvedPrice | undefined {
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
