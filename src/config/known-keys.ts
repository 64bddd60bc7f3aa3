/** Which keys the schema knows, and which of them somebody may have meant. */
import { closestMatch } from "../base/suggest.ts";
import { formatKeyPath } from "./key-path.ts";
import type { JsonSchema } from "./schema.ts";

/** The schema of the value at this path, or undefined when no such key exists. */
export function schemaAt(root: JsonSchema, path: readonly PropertyKey[]): JsonSchema | undefined {
  let schema: JsonSchema | undefined = root;
  for (const segment of path) schema = schema === undefined ? undefined : child(schema, String(segment));
  return schema;
}

/** ` (did you mean "session.dmScope"?)`, or nothing when nothing is near. */
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

/** The right name in the wrong place: `dmScope` for `session.dmScope`. */
function findByName(schema: JsonSchema, name: string, path: readonly string[] = []): string | undefined {
  for (const [key, value] of Object.entries(schema.properties ?? {})) {
    const here = [...path, key];
    if (key.toLowerCase() === name.toLowerCase()) return formatKeyPath(here);
    const deeper = findByName(value, name, here);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}
