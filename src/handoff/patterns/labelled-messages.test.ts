/**
 * Precision and recall of the shipped weights. "Unseen" is measured on the exam, whose messages were used neither for
 * training nor for the code. "Trained" is measured on the training messages and says little about others.
 */
import { describe, expect, it } from "vitest";
import {
  describeTally,
  type Labelled,
  precisionOf,
  readLabelled,
  recallOf,
  tally,
  type Tally,
} from "../../../scripts/pattern-training.ts";
import { detectPatterns } from "./detect-patterns.ts";
import { PATTERN_TYPES, type PatternType } from "./note.ts";

const MESSAGES = new URL("../../../test/fixtures/handoff/messages.jsonl", import.meta.url);
const EXAM = new URL("../../../test/fixtures/handoff/exam.jsonl", import.meta.url);
const MAIN: readonly PatternType[] = ["blocker", "decision", "accomplishment"];
const LEAST = { precision: 0.85, recall: 0.8 };
const LEAST_UNSEEN = { precision: 0.75, recall: 0.7 };

describe("labelled messages", async () => {
  const messages = await readLabelled(MESSAGES);
  const exam = await readLabelled(EXAM);

  it("are many, varied and a third of them say nothing", () => {
    expect(messages.length).toBeGreaterThanOrEqual(2000);
    expect(messages.filter(({ labels }) => labels.length === 0).length).toBeGreaterThan(messages.length / 3);
    const all = [...messages, ...exam];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const taught = new Set(messages.map(({ text }) => text));
    expect(exam.filter(({ text }) => taught.has(text))).toEqual([]);
  });

  it("are classified well in the exam", () => {
    const found = notedTypes(exam);
    for (const type of MAIN) {
      const result = tallyOf(exam, found, type);
      print("unseen", type, result);
      expect(precisionOf(result), `${type} precision`).toBeGreaterThanOrEqual(LEAST_UNSEEN.precision);
      expect(recallOf(result), `${type} recall`).toBeGreaterThanOrEqual(LEAST_UNSEEN.recall);
    }
  });

  it("are classified well in the training data", () => {
    const started = performance.now();
    const found = notedTypes(messages);
    const each = (performance.now() - started) / messages.length;
    for (const type of PATTERN_TYPES) {
      const result = tallyOf(messages, found, type);
      print("trained", type, result);
      expect(precisionOf(result), `${type} precision`).toBeGreaterThanOrEqual(LEAST.precision - slackOf(type));
      expect(recallOf(result), `${type} recall`).toBeGreaterThanOrEqual(LEAST.recall - slackOf(type));
    }
    process.stdout.write(`${each.toFixed(3)} ms a message\n`);
  });
});

function notedTypes(messages: readonly Labelled[]): ReadonlySet<PatternType>[] {
  return messages.map(({ role, text, id }) => {
    const notes = detectPatterns({ role, text, timestamp: "2026-05-04T10:00:00.000Z", entryId: id });
    return new Set(notes.map((note) => note.type));
  });
}

function tallyOf(messages: readonly Labelled[], found: readonly ReadonlySet<PatternType>[], type: PatternType): Tally {
  const scores = found.map((types) => (types.has(type) ? 1 : 0));
  return tally(messages, scores, type, 1);
}

/** The other types have too few messages to ask as much of them. */
function slackOf(type: PatternType): number {
  return MAIN.includes(type) ? 0 : 0.1;
}

function print(title: string, type: PatternType, result: Tally): void {
  process.stdout.write(`${title.padEnd(16)}${describeTally(type, result)}\n`);
}
