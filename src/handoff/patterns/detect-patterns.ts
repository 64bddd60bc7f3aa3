/**
 * Finds in one message what the next session should know. Works on sentences, without a model, and the
 * same message always gives the same notes.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";
import { redactText } from "../../base/redact.ts";
import { excerpt } from "./content.ts";
import { placesOf, readAround, readFirst, readSecond } from "./features.ts";
import { isRemark } from "./remark.ts";
import { PATTERN_TYPES, type PatternMessage, type PatternNote, type PatternType } from "./note.ts";
import { createNames, createTally, readWeights, reasonsFor, type Scores, type Tally, type Weights } from "./score.ts";
import { type Sentence, readSentences } from "./sentences.ts";

export interface DetectOptions {
  /** A note needs at least this confidence. Default 0.5. */
  minConfidence?: number;
  /** Most notes of one type from one message, the surest first kept. Default 6. */
  mostPerType?: number;
  /** Say with each note which features spoke for it. */
  explain?: boolean;
  /** What `readSentences` gave for the message's text without its secrets, where somebody has read it already. */
  sentences?: readonly Sentence[];
}

interface Model {
  weights: Weights;
  tally: Tally;
}

let model: Model | undefined;

/** A plain string is read as a person's message; its notes have an empty time and entry id. */
export function detectPatterns(said: PatternMessage | string, options: DetectOptions = {}): PatternNote[] {
  const message = typeof said === "string" ? { role: "user" as const, text: said, timestamp: "", entryId: "" } : said;
  const { minConfidence = 0.5, mostPerType = 6, explain = false } = options;
  const { weights, tally } = (model ??= readModel());
  // Before it is cut: the halves of a secret do not look like one.
  const sentences = options.sentences ?? readSentences(redactText(message.text));
  const { looked, found } = look(sentences, message.role, tally);
  const notes: PatternNote[] = [];
  for (const { sentence, index, scores } of looked) {
    tally.resume(scores);
    readAround(found, index, tally);
    for (const [place, confidence] of tally.confidences().entries()) {
      const type = PATTERN_TYPES[place];
      if (type === undefined || confidence < minConfidence) continue;
      notes.push({
        type,
        content: excerpt(sentence.text),
        confidence: Math.round(confidence * 100) / 100,
        timestamp: message.timestamp,
        sourceEntryId: message.entryId,
        ...(explain ? { why: reasonsFor(type, namesOf(sentences, index, message.role, found), weights) } : {}),
      });
    }
  }
  const current = notes.filter((note, index) => !isOver(note, notes.slice(index + 1)));
  return limited(current, mostPerType);
}

function readModel(): Model {
  const weights = readWeights(readFileSync(dataFile("pattern-weights.tsv"), "latin1"));
  return { weights, tally: createTally(weights) };
}

interface Looked {
  sentence: Sentence;
  index: number;
  scores: Scores;
}

/** The sentences that were worth a second look, and of each sentence which cues it has (see readSecond). */
function look(
  sentences: readonly Sentence[],
  role: "user" | "assistant",
  tally: Tally,
): { looked: Looked[]; found: number[] } {
  const looked: Looked[] = [];
  const places = placesOf(sentences, role);
  const found = sentences.map((sentence, index) => {
    const place = places[index];
    if (place === undefined || isRemark(sentence)) return 0;
    tally.start();
    const words = readFirst(sentence, place, tally);
    if (!tally.isWorthSecondLook()) return 0;
    const types = readSecond(sentence, words, role, tally);
    looked.push({ sentence, index, scores: tally.pause() });
    return types;
  });
  return { looked, found };
}

function namesOf(
  sentences: readonly Sentence[],
  index: number,
  role: "user" | "assistant",
  found: readonly number[],
): ReadonlySet<string> {
  const sink = createNames();
  const sentence = sentences[index];
  const place = placesOf(sentences, role)[index];
  if (sentence === undefined || place === undefined) return sink.names;
  readSecond(sentence, readFirst(sentence, place, sink), role, sink);
  readAround(found, index, sink);
  return sink.names;
}

const PAST = /\b(?:was|were|had|died|failed|crashed|broke|hung|threw|kept|stopped|timed out|ran out)\b/i;
const PRESENT = /\b(?:is|are|still|now|keeps?|cannot|can't|won't|doesn't|don't|hasn't|haven't|fails|again)\b/i;

/** What a message tells as past before it says what was done about it is a story, not a blocker. */
function isOver(note: PatternNote, later: readonly PatternNote[]): boolean {
  if (note.type !== "blocker" || !PAST.test(note.content) || PRESENT.test(note.content)) return false;
  return later.some(
    ({ type, content, confidence }) => type === "accomplishment" && content !== note.content && confidence >= 0.7,
  );
}

function limited(notes: PatternNote[], mostPerType: number): PatternNote[] {
  return PATTERN_TYPES.some((type) => countOf(notes, type) > mostPerType) ? surest(notes, mostPerType) : notes;
}

function countOf(notes: readonly PatternNote[], type: PatternType): number {
  return notes.filter((note) => note.type === type).length;
}

/** Keeps the order of the message. */
function surest(notes: readonly PatternNote[], most: number): PatternNote[] {
  const kept = new Set(
    PATTERN_TYPES.flatMap((type) =>
      notes
        .filter((note) => note.type === type)
        .sort((a, b) => b.confidence - a.confidence)
        .slice(0, most),
    ),
  );
  return notes.filter((note) => kept.has(note));
}
