/**
 * Changes one value in JSON5 text and leaves every other character where it is: comments, spacing,
 * quotes, trailing commas. Setting is done by the parser library, which follows the style of the
 * surrounding text; it loses comments when removing, so removing is done here, token by token.
 * Callers check the result against what they meant before they write it.
 */
import {
  JsonLexer,
  JsonObjectNode,
  JsonParser,
  type JsonPropertyNode,
  type JsonToken,
  JsonTokenType,
  type JsonValueNode,
} from "@croct/json5-parser";

type JsonValue = Parameters<JsonObjectNode["set"]>[1];

/** The path's parents are created where they are missing; text without content becomes an object. */
export function setInText(text: string, path: readonly string[], value: unknown): string {
  if (/^(?:\{\s*\})?$/.test(text.trim())) return `${JSON.stringify(nest(path, value), undefined, 2)}\n`;
  const root = JsonParser.parse(text, JsonObjectNode);
  let target = root;
  let remaining = path;
  for (let [name, ...rest] = remaining; name !== undefined && rest.length > 0; [name, ...rest] = remaining) {
    const inner = propertyOf(target, name)?.value;
    if (!(inner instanceof JsonObjectNode)) break;
    target = inner;
    remaining = rest;
  }
  const [name = "", ...missing] = remaining;
  target.set(name, nest(missing, value) as JsonValue);
  return root.toString();
}

/** Undefined when nothing is set at this path. */
export function unsetInText(text: string, path: readonly string[]): string | undefined {
  let node: JsonValueNode = JsonParser.parse(text, JsonObjectNode);
  let property: JsonPropertyNode | undefined;
  for (const name of path) {
    property = node instanceof JsonObjectNode ? propertyOf(node, name) : undefined;
    if (property === undefined) return undefined;
    node = property.value;
  }
  return property === undefined ? undefined : cutProperty(text, property);
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

/** The last of several properties of one name is the one that counts. */
function propertyOf(object: JsonObjectNode, name: string): JsonPropertyNode | undefined {
  return object.properties.findLast((property) => property.key.toJSON() === name);
}

function cutProperty(text: string, property: JsonPropertyNode): string {
  const start = property.location.start.index;
  const end = property.location.end.index;
  const tokens = JsonLexer.tokenize(text).filter(isSignificant);
  const next = tokens.find((token) => token.location.start.index >= end);
  const previous = tokens.findLast((token) => token.location.end.index <= start);
  const cuts: [number, number][] = [[start, end]];
  if (isComma(next)) cuts.push(span(next));
  else if (isComma(previous)) cuts.unshift(span(previous));
  return cuts.reduceRight((rest, [from, to]) => cutRange(rest, from, to), text);
}

/** Takes the whole line along when nothing else is on it. */
function cutRange(text: string, from: number, to: number): string {
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const lineEnd = text.indexOf("\n", to);
  const isAlone = text.slice(lineStart, from).trim() === "" && lineEnd !== -1 && text.slice(to, lineEnd).trim() === "";
  return isAlone ? text.slice(0, lineStart) + text.slice(lineEnd + 1) : text.slice(0, from) + text.slice(to);
}

function isSignificant({ type }: JsonToken): boolean {
  const insignificant: readonly JsonTokenType[] = [
    JsonTokenType.WHITESPACE,
    JsonTokenType.NEWLINE,
    JsonTokenType.LINE_COMMENT,
    JsonTokenType.BLOCK_COMMENT,
  ];
  return !insignificant.includes(type);
}

function isComma(token: JsonToken | undefined): token is JsonToken {
  return token?.type === JsonTokenType.COMMA;
}

function span({ location }: JsonToken): [number, number] {
  return [location.start.index, location.end.index];
}
