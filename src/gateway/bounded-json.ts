/**
 * JSON from outside. What is nested too deep is refused before it is parsed, and names that would reach
 * into an object's prototype are refused wherever they stand.
 */
import { HoldfastError } from "../base/errors.ts";

const MAX_DEPTH = 32;
const FORBIDDEN_NAMES = new Set(["__proto__", "constructor", "prototype"]);

export function parseBoundedJson(text: string): unknown {
  if (isTooDeep(text)) {
    throw new HoldfastError("usage", "json-too-deep", `JSON may be nested ${MAX_DEPTH} levels deep at most`, {
      hint: "No method needs more.",
    });
  }
  const value = parse(text);
  refuseForbiddenNames(value);
  return value;
}

/** One pass over the text, without recursion. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (isInString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and a secret may be in it.
    throw new HoldfastError("usage", "json-invalid", "The request is no valid JSON", {
      hint: "Send one JSON object, encoded in UTF-8.",
    });
  }
}

function refuseForbiddenNames(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && FORBIDDEN_NAMES.has(name)) {
      throw new HoldfastError("usage", "json-name-forbidden", `JSON may not hold the name ${name}`, {
        hint: "Leave it out.",
      });
    }
    refuseForbiddenNames(inner);
  }
}
