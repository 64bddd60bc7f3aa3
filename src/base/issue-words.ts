/**
 * Plain messages for zod errors. Every check whose errors people see passes `plainWords` to zod (`safeParse(value, {
 * error: plainWords })`). A message of the schema itself still wins. Values are not quoted, because they may be
 * misplaced secrets; numbers and sizes are.
 */
import type { z } from "zod";

type RawIssue = z.core.$ZodRawIssue;

export function plainWords(issue: RawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return expectation([kindName(issue.expected)], issue.input);
    case "invalid_value":
      return expectation(issue.values.map(quoted), issue.input);
    case "too_small":
      return sizeWords(issue, "at least", issue.inclusive === false ? "more than" : undefined, issue.minimum);
    case "too_big":
      return sizeWords(issue, "at most", issue.inclusive === false ? "less than" : undefined, issue.maximum);
    case "invalid_format":
      return formatWords(issue);
    case "not_multiple_of":
      return `expected a multiple of ${issue.divisor}, found ${String(issue.input)}`;
    case "unrecognized_keys":
      return `there is no ${issue.keys.slice(0, MAX_KEYS).map(quoted).join(", ")}`;
    case "invalid_union":
      return unionWords(issue.errors, issue.input);
    case "invalid_key":
      return `the name is not valid: ${issue.issues[0]?.message ?? "it is not one of those that are known"}`;
    case "invalid_element":
      return issue.issues[0]?.message ?? "one of its items is not valid";
    default:
      return "the value is not valid";
  }
}

const MAX_KEYS = 5;

function quoted(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

/** `missing (expected text)`, or `expected text, found a number`. */
function expectation(allowed: readonly string[], input: unknown): string {
  const list = `${allowed.length > 2 ? "one of " : ""}${allowed.join(allowed.length === 2 ? " or " : ", ")}`;
  return input === undefined ? `missing (expected ${list})` : `expected ${list}, found ${foundName(input, allowed)}`;
}

const KIND_NAMES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  tuple: "a list",
  null: "null",
  undefined: "nothing",
  never: "nothing",
  nonoptional: "a value",
};

function kindName(kind: string): string {
  return KIND_NAMES[kind] ?? `a ${kind}`;
}

function foundName(input: unknown, allowed: readonly string[]): string {
  if (typeof input === "number") return Number.isFinite(input) ? String(input) : "a number without a value";
  if (typeof input === "boolean") return String(input);
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  const name = kindName(typeof input);
  return allowed.some((each) => each.startsWith('"')) && name === "text" ? "other text" : name;
}

type SizeIssue = Extract<RawIssue, { code: "too_small" | "too_big" }>;

function sizeWords(issue: SizeIssue, limit: string, strictLimit: string | undefined, size: number | bigint): string {
  const word = issue.exact === true ? "exactly" : (strictLimit ?? limit);
  const unit = SIZE_UNITS[issue.origin];
  const given = sizeOf(issue.input);
  const counted = unit === undefined ? "" : ` ${unit}${Number(size) === 1 ? "" : "s"}`;
  const found = given === 0 && unit !== undefined && issue.code === "too_small" ? "none" : given;
  return `expected ${word} ${size}${counted}${found === undefined ? "" : `, found ${found}`}`;
}

const SIZE_UNITS: Readonly<Record<string, string>> = { string: "character", array: "item" };

function sizeOf(input: unknown): number | undefined {
  if (typeof input === "number") return input;
  return typeof input === "string" || Array.isArray(input) ? input.length : undefined;
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  url: "an address such as https://example.org",
  email: "an email address",
  datetime: "a time such as 2026-01-31T08:00:00Z",
};

function formatWords(issue: Extract<RawIssue, { code: "invalid_format" }>): string {
  if (issue.format === "starts_with") return `expected text that starts with ${quoted(String(issue["prefix"]))}`;
  if (issue.format === "regex") return `expected text that matches ${String(issue.pattern)}`;
  return `expected ${FORMAT_NAMES[issue.format] ?? `text in the format ${issue.format}`}`;
}

/** Lists what the alternatives expect. If one fails only in an inner part, describes that part. */
function unionWords(alternatives: readonly (readonly z.core.$ZodIssue[])[], input: unknown): string {
  const inside = alternatives.flat().find(({ path }) => path.length > 0);
  if (inside !== undefined) return `${inside.path.map(String).join(".")}: ${inside.message}`;
  const kinds = alternatives.flat().flatMap((issue) => {
    if (issue.code === "invalid_type") return [kindName(issue.expected)];
    return issue.code === "invalid_value" ? issue.values.map(quoted) : [];
  });
  if (kinds.length === alternatives.flat().length && kinds.length > 0) return expectation([...new Set(kinds)], input);
  return alternatives.flat().find(({ code }) => code !== "invalid_type")?.message ?? "the value is not valid";
}
