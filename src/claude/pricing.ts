/** What a call of Claude Code costs by Anthropic's list prices, in US dollars. */
import { type ListPrice, anthropicPrice } from "../models/list-prices.ts";

export interface PricedTokens {
  input: number;
  output: number;
  cacheRead: number;
  /** All of it. */
  cacheWrite: number;
  /** The part that is kept for an hour. */
  cacheWriteHour: number;
}

/** Undefined when the price is not known. */
export function modelPrice(model: string): ListPrice | undefined {
  return anthropicPrice(model);
}

/** In US dollars; undefined when the model's price is not known. */
export function tokenCost(model: string, tokens: PricedTokens): number | undefined {
  const price = modelPrice(model);
  if (price === undefined) return undefined;
  const shortWrites = tokens.cacheWrite - tokens.cacheWriteHour;
  return (
    (tokens.input * price.input +
      tokens.output * price.output +
      tokens.cacheRead * price.cacheRead +
      shortWrites * price.cacheWrite +
      tokens.cacheWriteHour * price.cacheWriteHour) /
    1_000_000
  );
}
