/**
 * What providers ask by their public lists, in US dollars per million tokens. A model of no known family
 * has no price, because a guess would look like a fact. Discounts, batches and long contexts with prices
 * of their own are left out. The configuration (`models.<name>.price`) goes before all of it.
 */

/** When the lists were read; shown with every cost that comes from them. */
export const LIST_PRICES_AS_OF = "2025-11";

export interface ListPrice {
  input: number;
  output: number;
  cacheRead: number;
  /** Kept for five minutes. */
  cacheWrite: number;
  /** Kept for an hour. */
  cacheWriteHour: number;
}

/** Undefined when the price is not known. */
export function anthropicPrice(model: string): ListPrice | undefined {
  return remembered(model, ANTHROPIC);
}

export function listPrice(provider: string, model: string): ListPrice | undefined {
  if (provider === "openai") return remembered(model, OPENAI);
  return provider === "google" ? remembered(model, GOOGLE) : anthropicPrice(model);
}

type Families = readonly (readonly [name: RegExp, price: ListPrice])[];

/** The first family that a model's name belongs to holds. */
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

/** With what cloud providers put around the name: `us.anthropic.claude-…-v1:0`, `claude-…@20251101`. */
function claude(name: string): RegExp {
  return new RegExp(`(^|[./])claude-${name}($|[^0-9a-z])`);
}

/** The name itself or one of its dated versions: another word behind it is another model. */
function dated(name: string): RegExp {
  return new RegExp(`^${name}(?:-\\d[\\d-]*)?$`);
}

/** Reading from the cache costs a tenth of the input, writing to it a quarter more, for an hour twice as much. */
function anthropic(input: number, output: number): ListPrice {
  return { input, output, cacheRead: input * 0.1, cacheWrite: input * 1.25, cacheWriteHour: input * 2 };
}

/** Writing to the cache costs nothing besides the input. */
function cached(input: number, output: number, cacheRead: number): ListPrice {
  return { input, output, cacheRead, cacheWrite: input, cacheWriteHour: input };
}

const known = new Map<Families, Map<string, ListPrice | undefined>>();

function remembered(model: string, families: Families): ListPrice | undefined {
  const seen = known.get(families) ?? new Map<string, ListPrice | undefined>();
  known.set(families, seen);
  if (!seen.has(model)) seen.set(model, families.find(([name]) => name.test(model))?.[1]);
  return seen.get(model);
}
