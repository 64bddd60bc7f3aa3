/**
 * What a model said about sessions, whatever it wrote around it. Every complete JSON object that names
 * an id of this call and a number counts, so prose, code fences and an answer that was cut off in the
 * middle cost at most what they hide. Nothing else can get in: ids of nobody are ignored, numbers are
 * brought into range, and an id that got two different ratings gets none.
 */
import { printableLine } from "../../base/printable.ts";
import { answerObjects } from "../../models/answer-objects.ts";

export interface ModelRating {
  relevance: number;
  reason: string;
}

/** By the index of the session. */
export function readRatings(answer: string, indexById: ReadonlyMap<string, number>): Map<number, ModelRating> {
  const ratings = new Map<number, ModelRating>();
  const contradicted = new Set<number>();
  for (const item of answerObjects(answer)) {
    const index = typeof item["id"] === "string" ? indexById.get(item["id"]) : undefined;
    const relevance = readNumber(item["relevance"]);
    if (index === undefined || relevance === undefined) continue;
    const known = ratings.get(index);
    if (known !== undefined && known.relevance !== relevance) contradicted.add(index);
    const reason = typeof item["reason"] === "string" ? printableLine(item["reason"], 120) : "";
    ratings.set(index, known ?? { relevance, reason });
  }
  for (const index of contradicted) ratings.delete(index);
  return ratings;
}

/** Some models write numbers as strings. */
function readNumber(value: unknown): number | undefined {
  const number = typeof value === "string" && /^[\d.]+$/.test(value.trim()) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? Math.min(1, Math.max(0, number)) : undefined;
}
