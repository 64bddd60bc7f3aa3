/**
 * Precision and recall on the labelled messages. "Unseen" is what weights do on the messages of an author
 * none of whose messages they were learned from, with the line drawn where it is best for that author; "trained" is what the shipped weights do on the messages
 * that taught them, and promises nothing for others. scripts/train-patterns.ts says it for every stranger
 * and learns from all others; here a part of them has to do.
 */
import { describe, expect, it } from "vitest";
import {
  bestThreshold,
  describeTally,
  precisionOf,
  readLabelled,
  recallOf,
  scoreStranger,
  tally,
  type Tally,
  toExamples,
} from "../../../scripts/pattern-training.ts";
import { triggersOf } from "../../../scripts/pattern-triggers.ts";
import { CLAUSE_EXPRESSIONS } from "./clauses.ts";
import { tagDoneVerbs, tagSteps } from "./cues/lexicon.ts";
import { detectPatterns } from "./detect-patterns.ts";
import { CUES } from "./features.ts";
import { PATTERN_TYPES, type PatternType } from "./note.ts";
import { presenceIn } from "./presence.ts";
import { readSentences } from "./sentences.ts";

const FIXTURE = new URL("../../../test/fixtures/handoff/messages.jsonl", import.meta.url);
const MAIN: readonly PatternType[] = ["blocker", "decision", "accomplishment"];
const LEAST = { precision: 0.85, recall: 0.8 };
/** Of weights learned in few rounds from a part of the messages. */
const LEAST_UNSEEN = { precision: 0.75, recall: 0.7 };

describe("labelled messages", async () => {
  const messages = await readLabelled(FIXTURE);

  it("are many, varied and a third of them say nothing", () => {
    expect(messages.length).toBeGreaterThanOrEqual(2000);
    expect(messages.filter(({ labels }) => labels.length === 0).length).toBeGreaterThan(messages.length / 3);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  });

  it("are told apart by weights that have not seen their author", { timeout: 60_000 }, () => {
    const part = messages.filter(({ topic }, index) => /^c[123]$/.test(topic) || index % 3 === 0);
    const examples = toExamples(part);
    for (const type of MAIN) {
      const { held, scores } = scoreStranger(examples, "c1", type, 30);
      const result = tally(held, scores, type, bestThreshold(held, scores, type));
      print("unseen", type, result);
      expect(precisionOf(result), `${type} precision`).toBeGreaterThanOrEqual(LEAST_UNSEEN.precision);
      expect(recallOf(result), `${type} recall`).toBeGreaterThanOrEqual(LEAST_UNSEEN.recall);
    }
  });

  it("are told apart by the shipped weights", () => {
    const started = performance.now();
    const found = messages.map(({ role, text, id }) => {
      const notes = detectPatterns({ role, text, timestamp: "2026-05-04T10:00:00.000Z", entryId: id });
      return new Set(notes.map((note) => note.type));
    });
    const each = (performance.now() - started) / messages.length;
    for (const type of PATTERN_TYPES) {
      const scores = found.map((types) => (types.has(type) ? 1 : 0));
      const result = tally(messages, scores, type, 1);
      print("trained", type, result);
      expect(precisionOf(result), `${type} precision`).toBeGreaterThanOrEqual(LEAST.precision - slackOf(type));
      expect(recallOf(result), `${type} recall`).toBeGreaterThanOrEqual(LEAST.recall - slackOf(type));
    }
    process.stdout.write(`${each.toFixed(3)} ms a message\n`);
  });

  it("match no expression whose triggers they lack, and the triggers are up to date", () => {
    expect(triggersOf(String.raw`\b(?:is|are) (?:broken|dead)\b|foo(?:bar)?`, (piece) => piece.length)).toBeDefined();
    for (const { plain } of messages.flatMap(({ text }) => readSentences(text))) {
      const tagged = tagDoneVerbs(plain);
      const steps = tagSteps(plain);
      const mayMatch = presenceIn(plain, [...(tagged === plain ? [] : ["D"]), ...(steps === plain ? [] : ["S"])]);
      const missed = [
        ...CLAUSE_EXPRESSIONS.filter((one) => !mayMatch(one) && one.regexp.test(plain)),
        ...CUES.filter(({ pattern, onTagged, onSteps }) => {
          if (mayMatch(pattern)) return false;
          return (onSteps ? steps : onTagged ? tagged : plain).search(pattern.regexp) >= 0;
        }),
      ];
      expect(
        missed.map(({ name }) => name),
        `${plain}: run scripts/train-patterns.ts`,
      ).toEqual([]);
    }
  });
});

/** The other types have too few messages to ask as much of them. */
function slackOf(type: PatternType): number {
  return MAIN.includes(type) ? 0 : 0.1;
}

function print(title: string, type: PatternType, result: Tally): void {
  process.stdout.write(`${title.padEnd(16)}${describeTally(type, result)}\n`);
}
