/** Parses and checks a configuration file. Loads json5 and zod, so only `import()` may reach this file. */
import JSON5 from "json5";
import type { z } from "zod";
import { plainWords } from "../base/issue-words.ts";
import { formatKeyPath, suggestKey } from "./key-path.ts";
import { type ConfigLayer, type FileKind, fileSchema, jsonSchema } from "./schema.ts";
import { closestMatch } from "../base/text.ts";

export type CheckedText = { layer: ConfigLayer } | { problems: string[] };

export function checkConfigText(text: string, kind: FileKind): CheckedText {
  const parsed = parseConfigText(text);
  return "problem" in parsed ? { problems: [parsed.problem] } : checkConfigValue(parsed.value, kind);
}

export function parseConfigText(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON5.parse(text) };
  } catch (error) {
    return { problem: syntaxProblem(error) };
  }
}

export function checkConfigValue(value: unknown, kind: FileKind): CheckedText {
  const hidden = prototypeKeys(value);
  if (hidden.length > 0) return { problems: hidden.map((path) => `unknown key "${formatKeyPath(path)}"`) };
  const result = fileSchema(kind).safeParse(value, { reportInput: true, error: plainWords });
  if (!result.success) return { problems: result.error.issues.flatMap((issue) => describeIssue(issue, kind)) };
  const { $schema: _, ...layer } = result.data;
  return { layer };
}

function syntaxProblem(error: unknown): string {
  const { message, lineNumber, columnNumber } = error as Error & { lineNumber?: number; columnNumber?: number };
  const reason = message.replace(/^JSON5: /, "").replace(/ at \d+:\d+$/, "");
  return lineNumber === undefined
    ? `syntax error: ${reason}`
    : `syntax error at line ${lineNumber}, column ${columnNumber}: ${reason}`;
}

/** Finds `__proto__` keys, which validators skip and assignments swallow. Iterative, because depth is unlimited. */
function prototypeKeys(value: unknown): string[][] {
  const found: string[][] = [];
  const pending: { value: unknown; path: string[] }[] = [{ value, path: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next.value !== "object" || next.value === null || next.path.length > MAX_DEPTH) continue;
    for (const [key, inner] of Object.entries(next.value)) {
      const path = [...next.path, key];
      if (key === "__proto__") found.push(path);
      pending.push({ value: inner, path });
    }
  }
  return found;
}

/** Deeper than any valid configuration. */
const MAX_DEPTH = 16;

function describeIssue(issue: z.core.$ZodIssue, kind: FileKind): string[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => unknownKey([...issue.path, key], kind));
  }
  const name = issue.path.length === 0 ? "the file" : `"${formatKeyPath(issue.path)}"`;
  if (issue.code === "invalid_key") return [`invalid name ${name}: ${issue.issues[0]?.message ?? issue.message}`];
  if (issue.code === "invalid_value") {
    const expected = issue.values.map((value) => JSON.stringify(value)).join(", ");
    const near = typeof issue.input === "string" ? closestMatch(issue.input, issue.values.map(String)) : undefined;
    const hint = near === undefined ? "" : ` (did you mean ${JSON.stringify(near)}?)`;
    return [`invalid value for ${name}: expected one of ${expected}, found ${shown(issue.input)}${hint}`];
  }
  return [`invalid value for ${name}: ${issue.message}`];
}

function unknownKey(path: readonly PropertyKey[], kind: FileKind): string {
  const [top] = path;
  if (kind === "project" && Object.hasOwn(jsonSchema("user").properties ?? {}, top ?? "")) {
    const isWhole = !Object.hasOwn(jsonSchema("project").properties ?? {}, top ?? "");
    if (isWhole) return `"${String(top)}" may only be set in the user's own configuration, not by a project`;
  }
  return `unknown key "${formatKeyPath(path)}"${suggestKey(jsonSchema(kind), path)}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
