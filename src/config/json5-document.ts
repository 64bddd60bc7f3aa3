/**
 * Changes one value in JSON5 text and leaves every other character where it is: comments, spacing,
 * quotes, trailing commas. Callers check the result against what they meant before they write it.
 */
import { type Member, addMember, cutMember, memberOf, readPlaces, replaceValue } from "../base/json-places.ts";

/** The path's parents are created where they are missing; text without content becomes an object. */
export function setInText(text: string, path: readonly string[], value: unknown): string {
  if (/^(?:\{\s*\})?$/.test(text.trim())) return `${JSON.stringify(nest(path, value), undefined, 2)}\n`;
  let target = readPlaces(text);
  for (const [depth, name] of path.entries()) {
    const member = memberOf(target, name);
    const missing = path.slice(depth + 1);
    if (target?.kind !== "object") break;
    if (member === undefined) return addMember(text, target, nest(missing, value), name);
    // What is no object gives way to one.
    if (missing.length === 0 || member.value.kind !== "object") {
      return replaceValue(text, member.value, nest(missing, value));
    }
    target = member.value;
  }
  return text;
}

/** Undefined when nothing is set at this path. */
export function unsetInText(text: string, path: readonly string[]): string | undefined {
  let place = readPlaces(text);
  let found: Member | undefined;
  for (const name of path) {
    found = memberOf(place, name);
    place = found?.value;
  }
  return found === undefined ? undefined : cutMember(text, found);
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}
