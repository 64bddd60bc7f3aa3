/**
 * What a call costs by Anthropic's list prices, as of November 2025, in US dollars per million tokens. Only
 * families whose price is public are here; a model of no known family has no price, because a guess
 * would look like a fact. Discounts, batches and long contexts with prices of their own are left out.
 */

export interface ModelPrice {
  input: number;
  output: number;
  cacheRead: number;
  /** Kept for five minutes. */
  cacheWrite: number;
  /** Kept for an hour. */
  cacheWriteHour: number;
}

export interface PricedTokens {
  input: number;
  output: number;
  cacheRead: number;
  /** All of it. */
  cacheWrite: number;
  /** The part that is kept for an hour. */
  cacheWriteHour: number;
}

/** The first family that a model's name belongs to holds. */
const FAMILIES: [name: RegExp, price: ModelPrice][] = [
  [family("opus-4-[5-9]"), byInput(5, 25)],
  [family("opus-4"), byInput(15, 75)],
  [family("3-opus"), byInput(15, 75)],
  [family("sonnet-4"), byInput(3, 15)],
  [family("3-[57]-sonnet"), byInput(3, 15)],
  [family("3-sonnet"), byInput(3, 15)],
  [family("haiku-4-5"), byInput(1, 5)],
  [family("3-5-haiku"), byInput(0.8, 4)],
  [family("3-haiku"), { input: 0.25, output: 1.25, cacheRead: 0.03, cacheWrite: 0.3, cacheWriteHour: 0.5 }],
];

/** With what cloud providers put around the name: `us.anthropic.claude-…-v1:0`, `claude-…@20251101`. */
function family(name: string): RegExp {
  return new RegExp(`(^|[./])claude-${name}($|[^0-9a-z])`);
}

/** Reading from the cache costs a tenth of the input, writing to it a quarter more, for an hour twice as much. */
function byInput(input: number, output: number): ModelPrice {
  return { input, output, cacheRead: input * 0.1, cacheWrite: input * 1.25, cacheWriteHour: input * 2 };
}

const known = new Map<string, ModelPrice | undefined>();

/** Undefined when the price is not known. */
export function modelPrice(model: string): ModelPrice | undefined {
  if (!known.has(model)) known.set(model, FAMILIES.find(([name]) => name.test(model))?.[1]);
  return known.get(model);
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
