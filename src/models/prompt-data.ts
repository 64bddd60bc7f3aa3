/**
 * Untrusted text on its way into a prompt, and JSON on its way out of a model's answer. In a prompt each text is a
 * JSON string that cannot end early or look like a tag; in an answer only complete JSON objects count.
 */
import { isRecord, parseJson } from "../base/json-record.ts";
import { redactText } from "../base/redact.ts";

/** One line without secrets and invisible characters. Redacts before cutting: half a secret is not recognised. */
export function plainText(text: string, length: number): string {
  const line = redactText(text.slice(0, 20 * length).toWellFormed())
    // Invisible marks, including the tag characters that some models read.
    .replace(/\p{Cf}/gu, "")
    .replace(/\p{Cc}/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  const characters = Array.from(line);
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}

/** JSON on one line without angle brackets, so that no text looks like a tag. */
export function quotedJson(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

const MAX_ANSWER_LENGTH = 100_000;
const MAX_OBJECT_LENGTH = 2000;

/** Every complete JSON object in an answer, innermost first. Prose, code fences and cut objects are ignored. */
export function* answerObjects(answer: string): Generator<Record<string, unknown>> {
  for (const text of objectTexts(answer.slice(0, MAX_ANSWER_LENGTH))) {
    const value = parseJson(text);
    if (isRecord(value)) yield value;
  }
}

/** Balanced `{…}` in one pass; braces in strings do not count. */
function* objectTexts(text: string): Generator<string> {
  const open: number[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      // A quotation mark in the prose around the JSON does not open a string.
      inString = open.length > 0;
    } else if (character === "{") {
      open.push(at);
    } else if (character === "}") {
      const start = open.pop();
      if (start !== undefined && at - start < MAX_OBJECT_LENGTH) yield text.slice(start, at + 1);
    }
  }
}
