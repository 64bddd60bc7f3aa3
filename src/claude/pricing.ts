/** What Claude Code's model calls cost by Anthropic's list prices, and how Claude Code itself counts costs. */

import { anthropicPrice } from "../models/model-info.ts";
export interface PricedTokens {
  input: number;
  output: number;
  cacheRead: number;
  /** Includes `cacheWriteHour`. */
  cacheWrite: number;
  /** Cached for an hour. */
  cacheWriteHour: number;
}

/** In US dollars; undefined for a model without a known price. */
export function tokenCost(model: string, tokens: PricedTokens): number | undefined {
  const price = anthropicPrice(model);
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

const CARRIES_FROM = [2, 1, 325];
const CARRIES_NOT_UP_TO = [2, 1, 197];

/**
 * Whether a `claude` of this version that resumes or forks a session includes the session's earlier cost in
 * `total_cost_usd`. Measured for two versions; undefined between them and for an unreadable version.
 */
export function carriesCostOver(cliVersion: string): boolean | undefined {
  const parts = cliVersion.split(".").map((part) => Number.parseInt(part, 10));
  if (parts.length < 3 || parts.some(Number.isNaN)) return undefined;
  if (compare(parts, CARRIES_FROM) >= 0) return true;
  return compare(parts, CARRIES_NOT_UP_TO) <= 0 ? false : undefined;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = [0, 1, 2].find((index) => a[index] !== b[index]) ?? 0;
  return (a[at] ?? 0) - (b[at] ?? 0);
}
