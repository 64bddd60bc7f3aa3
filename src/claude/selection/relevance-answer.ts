/**
 * What a model said about sessions, whatever it wrote around it. Every complete JSON object that names
 * an id of this call and a number counts, so prose, code fences and an answer that was cut off in the
 * middle cost at most what they hide. Nothing else can get in: ids of nobody are ignored, numbers are
 * brought into range, and an id that got two different ratings gets none.
 */
import { isRecord } from "../../base/json-record.ts";
import { printableLine } from "../../base/printable.ts";

export interface ModelRating {
  relevance: number;
  reason: string;
}

/** By the index of the session. */
export function readRatings(answer: string, indexById: ReadonlyMap<string, number>): Map<number, ModelRating> {
  const ratings = new Map<number, ModelRating>();
  const contradicted = new Set<number>();
  for (const text of objectTexts(answer.slice(0, MAX_ANSWER_LENGTH))) {
    const item = parseRecord(text);
    const index = typeof item?.["id"] === "string" ? indexById.get(item["id"]) : undefined;
    const relevance = readNumber(item?.["relevance"]);
    if (item === undefined || index === undefined || relevance === undefined) continue;
    const known = ratings.get(index);
    if (known !== undefined && known.relevance !== relevance) contradicted.add(index);
    const reason = typeof item["reason"] === "string" ? printableLine(item["reason"], 120) : "";
    ratings.set(index, known ?? { relevance, reason });
  }
  for (const index of contradicted) ratings.delete(index);
  return ratings;
}

const MAX_ANSWER_LENGTH = 100_000;
const MAX_OBJECT_LENGTH = 2000;

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

/** Some models write numbers as strings. */
function readNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && /^[\d.]+$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.min(1, Math.max(0, number)) : undefined;
}
