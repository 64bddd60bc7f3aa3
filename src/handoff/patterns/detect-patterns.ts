/**
 * Finds notes for the next session in one message. A linear model scores each sentence; its weights are in
 * data/pattern-weights.tsv. The same message always gives the same notes.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";
import { redactText } from "../../base/redact.ts";
import { excerpt } from "./content.ts";
import { featuresOf, placesOf } from "./features.ts";
import { PATTERN_TYPES, type PatternMessage, type PatternNote, type PatternType, WORDED } from "./note.ts";
import { readSentences, type Sentence } from "./sentences.ts";

export interface DetectOptions {
  /** Default: 0.5. */
  minConfidence?: number;
  /** Keeps the surest notes of each type. Default: 6. */
  mostPerType?: number;
  /** Adds `why` to each note. */
  explain?: boolean;
}

const NOTHING = -99;

export interface ScoredSentence {
  sentence: Sentence;
  features: readonly string[];
  /** Log-odds in the order of PATTERN_TYPES. Empty for other languages and for "ok". */
  scores: readonly number[];
  /** What its words add to the log-odds of each section, in the order of WORDED. */
  words: readonly number[];
}

/** A string is a person's message; its notes have an empty time and entry id. */
export function detectPatterns(said: PatternMessage | string, options: DetectOptions = {}): PatternNote[] {
  const message = typeof said === "string" ? { role: "user" as const, text: said, timestamp: "", entryId: "" } : said;
  return notesOf(scoreMessage(message), message, options);
}

/** Secrets are removed first, because half of one would not be recognised. */
export function scoreMessage({ role, text }: Pick<PatternMessage, "role" | "text">): ScoredSentence[] {
  const sentences = readSentences(redactText(text));
  const places = placesOf(sentences, role);
  return sentences.map((sentence, index) => {
    const place = places[index];
    if (place === undefined || sentence.isForeign || sentence.isAgreement)
      return { sentence, features: [], scores: [], words: [] };
    const features = featuresOf(sentence, place);
    const all = scoresOf(features);
    return { sentence, features, scores: all.slice(0, TYPES), words: all.slice(TYPES) };
  });
}

export function notesOf(
  scored: readonly ScoredSentence[],
  { timestamp, entryId }: Pick<PatternMessage, "timestamp" | "entryId">,
  { minConfidence = 0.5, mostPerType = 6, explain = false }: DetectOptions = {},
): PatternNote[] {
  const notes = scored.flatMap(({ sentence, features, scores }) =>
    PATTERN_TYPES.flatMap((type, column): PatternNote[] => {
      const confidence = 1 / (1 + Math.exp(-(scores[column] ?? NOTHING)));
      if (confidence < minConfidence) return [];
      return [
        {
          type,
          content: excerpt(sentence.text),
          confidence: Math.round(confidence * 100) / 100,
          timestamp,
          sourceEntryId: entryId,
          ...(explain ? { why: reasonsFor(features, column) } : {}),
        },
      ];
    }),
  );
  return surest(notes, mostPerType);
}

/** Keeps the order of the message. */
function surest(notes: readonly PatternNote[], most: number): PatternNote[] {
  const ofType = (type: PatternType): PatternNote[] => notes.filter((note) => note.type === type);
  const kept = new Set(
    PATTERN_TYPES.flatMap((type) =>
      ofType(type)
        .sort((a, b) => b.confidence - a.confidence)
        .slice(0, most),
    ),
  );
  return notes.filter((note) => kept.has(note));
}

/** One row for each feature: a number for each type of note, then one for each section. */
interface Weights {
  rows: ReadonlyMap<string, number>;
  numbers: Float64Array;
}

const TYPES = PATTERN_TYPES.length;
const COLUMNS = TYPES + WORDED.length;
let weights: Weights | undefined;

function scoresOf(features: readonly string[]): number[] {
  const { rows, numbers } = (weights ??= readWeights());
  const scores = new Float64Array(COLUMNS);
  const addRow = (feature: string): void => {
    const row = rows.get(feature);
    if (row === undefined) return;
    const from = row * COLUMNS;
    for (let column = 0; column < COLUMNS; column += 1) {
      scores[column] = (scores[column] ?? 0) + (numbers[from + column] ?? 0);
    }
  };
  addRow("bias");
  features.forEach(addRow);
  return Array.from(scores);
}

function weightOf(feature: string, column: number): number {
  const row = weights?.rows.get(feature);
  return row === undefined ? 0 : (weights?.numbers[row * COLUMNS + column] ?? 0);
}

const MAX_REASONS = 8;

function reasonsFor(features: readonly string[], column: number): string[] {
  return features
    .map((feature) => ({ feature, weight: weightOf(feature, column) }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MAX_REASONS)
    .map(({ feature, weight }) => `${feature} +${weight}`);
}

function readWeights(): Weights {
  const lines = readFileSync(dataFile("pattern-weights.tsv"), "utf8").trimEnd().split("\n");
  const numbers = new Float64Array(lines.length * COLUMNS);
  const rows = new Map<string, number>();
  for (const [row, line] of lines.entries()) {
    const cells = line.split("\t");
    rows.set(cells[0] ?? "", row);
    for (let column = 0; column < COLUMNS; column += 1) {
      numbers[row * COLUMNS + column] = Number(cells[column + 1] ?? 0);
    }
  }
  return { rows, numbers };
}
