/**
 * Brings a key into its one canonical form, so that every session has exactly one address: `main`,
 * `Agent:Main:Main` and `agent:main:main` are the same, and so are `…:direct:…` and `…:dm:…`. Any text gives a
 * key, the function is idempotent, and it does not change what the builders return. Escapes (`%xx`) stay.
 */
import { THREAD_MARKERS, encodeControls, foldCase, isCaseSensitiveChannel, keyShape } from "./encoding.ts";
import { normalizeAgentId, normalizeMainKey } from "./names.ts";
import { encodeMainKey } from "./session-key.ts";

export const GLOBAL_SESSION_KEY = "global";

interface CanonicalKeyOptions {
  /** The agent of keys without `agent:<agentId>:`. */
  agentId: string;
  mainKey?: string | undefined;
}

export function canonicalSessionKey(key: string, options: CanonicalKeyOptions): string {
  const segments = encodeControls(trimKey(key))
    .split(":")
    .filter((segment) => segment !== "");
  const [head = "", agentId = "", ...rest] = segments;
  if (foldCase(head) === "agent" && agentId.trim() !== "" && rest.length > 0) {
    return joinKey(agentId, canonicalRest(rest, options.mainKey));
  }
  if (segments.length === 1 && foldCase(head) === GLOBAL_SESSION_KEY) return GLOBAL_SESSION_KEY;
  return joinKey(options.agentId, canonicalRest(segments, options.mainKey));
}

function joinKey(agentId: string, rest: readonly string[]): string {
  return `agent:${normalizeAgentId(agentId)}:${rest.length === 0 ? "unknown" : rest.join(":")}`;
}

function canonicalRest(segments: readonly string[], mainKey: string | undefined): readonly string[] {
  const [head = "", ...tail] = segments.map(foldCase);
  if (isMainAlias(head, tail, mainKey)) return [encodeMainKey(mainKey), ...tail];
  const { kind, marker } = keyShape(segments);
  const keepCaseFrom = firstCaseSensitiveSegment(segments, kind, marker);
  return segments.map((segment, index) => {
    const folded = foldCase(segment);
    if (index === marker) return kind;
    return index >= keepCaseFrom && !THREAD_MARKERS.has(folded) ? segment : folded;
  });
}

function isMainAlias(head: string, tail: readonly string[], mainKey: string | undefined): boolean {
  const [next] = tail;
  if (next === undefined && head === normalizeMainKey(mainKey)) return true;
  return (head === "main" || head === encodeMainKey(mainKey)) && (next === undefined || THREAD_MARKERS.has(next));
}

/** On channels with case-sensitive ids, the group or channel id and thread ids keep their case. */
function firstCaseSensitiveSegment(segments: readonly string[], kind: string, marker: number): number {
  const isSensitive = marker > 0 && isCaseSensitiveChannel(foldCase(segments[0] ?? ""));
  if (!isSensitive) return Number.POSITIVE_INFINITY;
  if (kind !== "dm") return marker + 1;
  const thread = segments.findIndex((segment, index) => index > marker && THREAD_MARKERS.has(foldCase(segment)));
  return thread === -1 ? Number.POSITIVE_INFINITY : thread;
}

/** Trims blanks and colons. A regular expression would take quadratic time. */
function trimKey(key: string): string {
  let start = 0;
  let end = key.length;
  while (start < end && isBlankOrColon(key.charAt(start))) start++;
  while (end > start && isBlankOrColon(key.charAt(end - 1))) end--;
  return key.slice(start, end);
}

function isBlankOrColon(character: string): boolean {
  return character === ":" || character.trim() === "";
}
