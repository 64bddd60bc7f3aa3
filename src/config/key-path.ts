/**
 * Key paths such as `session.reset.atHour`, and which of them the schema knows. A name with a dot is written
 * in brackets: `models["openai/gpt-4.1"].alias`.
 */
import { HoldfastError } from "../base/errors.ts";
import type { JsonSchema } from "./schema.ts";
import { closestMatch } from "../base/text.ts";

const SEGMENT = /(?:^|\.)([^.[\]"'\s]+)|\[(?:"([^"]*)"|'([^']*)'|(\d+))\]/y;

export function parseKeyPath(text: string): string[] {
  const segments: string[] = [];
  const pattern = new RegExp(SEGMENT);
  const trimmed = text.trim();
  while (pattern.lastIndex < trimmed.length) {
    const match = pattern.exec(trimmed);
    if (match === null) throw invalidPath(text);
    segments.push(match.slice(1).find((group) => group !== undefined) ?? "");
  }
  if (segments.length === 0) throw invalidPath(text);
  return segments;
}

export function formatKeyPath(segments: readonly PropertyKey[]): string {
  return segments
    .map((segment, index) => {
      if (typeof segment === "number") return `[${segment}]`;
      const name = String(segment);
      if (!/^[^.[\]"'\s]+$/.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join("");
}

function invalidPath(text: string): HoldfastError {
  return new HoldfastError("usage", "invalid-config-key", `Not a configuration key: ${JSON.stringify(text)}`, {
    hint: 'Write it like session.reset.atHour; a name with a dot in brackets: models["openai/gpt-4.1"].alias.',
  });
}

export function schemaAt(root: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  let schema: JsonSchema | undefined = root;
  for (const segment of path) schema = schema === undefined ? undefined : child(schema, String(segment));
  return schema;
}

/** ` (did you mean "session.dmScope"?)`, or an empty string. */
export function suggestKey(root: JsonSchema, path: readonly PropertyKey[]): string {
  const parent = path.slice(0, -1);
  const name = String(path.at(-1));
  const siblings = Object.keys(schemaAt(root, parent)?.properties ?? {});
  const near = closestMatch(name, siblings);
  const elsewhere = near === undefined ? findByName(root, name) : undefined;
  const meant = near === undefined ? elsewhere : formatKeyPath([...parent, near]);
  return meant === undefined ? "" : ` (did you mean "${meant}"?)`;
}

function child(schema: JsonSchema, name: string): JsonSchema | undefined {
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  if (schema.items !== undefined && /^\d+$/.test(name)) return schema.items;
  const { additionalProperties } = schema;
  return typeof additionalProperties === "object" && name !== "__proto__" ? additionalProperties : undefined;
}

/** Finds the right name in the wrong place: `dmScope` for `session.dmScope`. */
function findByName(schema: JsonSchema, name: string, path: readonly string[] = []): string | undefined {
  for (const [key, value] of Object.entries(schema.properties ?? {})) {
    const here = [...path, key];
    if (key.toLowerCase() === name.toLowerCase()) return formatKeyPath(here);
    const deeper = findByName(value, name, here);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
