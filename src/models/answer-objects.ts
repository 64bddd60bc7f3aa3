/**
 * The JSON objects in what a model wrote, whatever stands around them: prose, code fences and an answer that
 * was cut off in the middle cost at most what they hide.
 */
import { isRecord } from "../base/json-record.ts";

const MAX_ANSWER_LENGTH = 100_000;
const MAX_OBJECT_LENGTH = 2000;

/** Every complete object, innermost first. Nothing here throws. */
export function* answerObjects(answer: string): Generator<Record<string, unknown>> {
  for (const text of objectTexts(answer.slice(0, MAX_ANSWER_LENGTH))) {
    const record = parseRecord(text);
    if (record !== undefined) yield record;
  }
}

/** Balanced `{…}` in one pass, innermost first; braces in strings do not count. */
function* objectTexts(text: string): Generator<string> {
  const open: number[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      // A quotation mark in prose around the JSON opens nothing.
      inString = open.length > 0;
    } else if (character === "{") {
      open.push(at);
    } else if (character === "}") {
      const start = open.pop();
      if (start !== undefined && at - start < MAX_OBJECT_LENGTH) yield text.slice(start, at + 1);
    }
  }
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
