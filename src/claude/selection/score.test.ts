/** The numbers of the score at and near each boundary, and properties for all numbers. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NOON, discoveredSession } from "../../../test/support/claude-samples.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { type ScoreFacts, scoreSession } from "./score.ts";
import type { Evidence } from "./selection.ts";
import { keywordFallback } from "./evaluate.ts";

const CONFIG = DEFAULT_CONFIG.claudeCode.sessionSelection;
const HOUR = 3_600_000;

describe("the factors", () => {
  it("add up to 1 for the same work on the same branch right now", () => {
    const { score, factors, recommendation } = rate({}, { relevance: 1 });
    expect(factors).toEqual({
      branchMatch: 0.25,
      recency: 0.2,
      taskRelevance: 0.25,
      sessionHealth: 0.15,
      contextCapacity: 0.15,
    });
    expect({ score, recommendation }).toEqual({ score: 1, recommendation: "resume" });
  });

  it.each([
    ["main", "main", 0.25],
    ["feature", "main", 0],
    ["", "", 0],
    ["HEAD", "", 0],
    ["HEAD", "HEAD", 0],
    ["", undefined, 0.25],
    ["main", undefined, 0],
  ])("branch %j on %j gives %d", (branch, currentBranch, points) => {
    expect(rate({ branch }, { currentBranch }).factors.branchMatch).toBe(points);
  });

  it.each([
    [-5, 0.2],
    [0, 0.2],
    [0.999, 0.2],
    [1, 0.16],
    [5.999, 0.16],
    [6, 0.12],
    [23.999, 0.12],
    [24, 0.08],
    [71.999, 0.08],
    [72, 0.04],
    [167.999, 0.04],
    [168, 0],
    [10_000, 0],
  ])("%d hours of age give %d for recency", (hours, points) => {
    expect(rate({ lastModified: new Date(NOON - hours * HOUR) }).factors.recency).toBe(points);
  });

  it.each([
    [1, 0.25],
    [0.6, 0.25],
    [0.599_999, 0.249_999_5],
    [0.45, 0.175],
    [0.3, 0.1],
    [0.299_999, 0],
    [0.1, 0],
    [0.099_999, -0.15],
    [0, -0.15],
    [Number.NaN, -0.15],
  ])("relevance %d gives %d", (relevance, points) => {
    expect(rate({}, { relevance }).factors.taskRelevance).toBeCloseTo(points, 5);
  });

  it.each([
    [{ messageCount: 500 }, 0.15],
    [{ messageCount: 501 }, 0.08],
    [{ fileSizeBytes: 5_000_000 }, 0.15],
    [{ fileSizeBytes: 5_000_001 }, 0.11],
    [{ lastModified: new Date(NOON - 168 * HOUR) }, 0.15],
    [{ lastModified: new Date(NOON - 169 * HOUR) }, 0.11],
    [{ messageCount: 501, fileSizeBytes: 6e6, lastModified: new Date(0) }, 0],
  ])("health of %j is %d", (special, points) => {
    expect(rate(special).factors.sessionHealth).toBe(points);
  });

  it.each([
    [{ compactionCount: 1 }, 0.11],
    [{ compactionCount: 2 }, 0.06],
    [{ budgetUsedPct: 0.3 }, 0.15],
    [{ budgetUsedPct: 0.31 }, 0.13],
    [{ budgetUsedPct: 0.5 }, 0.13],
    [{ budgetUsedPct: 0.51 }, 0.11],
    [{ messageCount: 10, totalInputTokens: 30_000, totalOutputTokens: 10_000 }, 0.15],
    [{ messageCount: 10, totalInputTokens: 30_000, totalOutputTokens: 10_001 }, 0.12],
    [{ messageCount: 0, totalInputTokens: 30_000 }, 0.15],
    [{ compactionCount: 2, budgetUsedPct: 0.6, messageCount: 1, totalInputTokens: 9000 }, 0],
  ])("capacity of %j is %d", (special, points) => {
    expect(rate(special).factors.contextCapacity).toBe(points);
  });
});

describe("the threshold", () => {
  it("is reached by sums that floating point would miss", () => {
    // Another branch, 0.08 for recency, 0.22 for relevance, 0.15 and 0.15.
    const lastModified = new Date(NOON - 30 * HOUR);
    const rated = rate({ branch: "other", lastModified }, { relevance: 0.54 });
    expect(rated).toMatchObject({ score: 0.6, recommendation: "resume" });
    expect(rate({ branch: "other", lastModified }, { relevance: 0.5399 }).recommendation).toBe("fresh");
  });

  it("is not enough for unrelated work, though the points reach it exactly", () => {
    expect(rate({}, { relevance: 0.05 })).toMatchObject({
      score: 0.6,
      recommendation: "fresh",
      ceiling: "unrelated work",
    });
  });

  it("is configurable, like every other number", () => {
    const scoring = structuredClone(CONFIG.scoring);
    scoring.branchMatch = 0.05;
    scoring.ceilings.compactions = 9;
    const config = { ...CONFIG, resumeThreshold: 0.9, scoring };
    const rated = rate({ compactionCount: 5 }, { relevance: 1, config });
    expect(rated).toMatchObject({ score: 0.71, recommendation: "fresh" });
    expect(rated.ceiling).toBeUndefined();
  });
});

describe("a ceiling", () => {
  it.each([
    [{ compactionCount: 3 }, 1, "compacted 3 times"],
    [{ budgetUsedPct: 0.7 }, 1, "70 % of the budget"],
    [{ messageCount: 201 }, 0.05, "201 messages"],
  ])("%j forces a fresh session with score 0", (special, relevance, text) => {
    const rated = rate(special, { relevance });
    expect(rated).toMatchObject({ score: 0, recommendation: "fresh" });
    expect(rated.ceiling).toContain(text);
    expect(Object.values(rated.factors)).toEqual([0, 0, 0, 0, 0]);
  });

  it.each([
    [{ compactionCount: 2 }, 1],
    [{ budgetUsedPct: 0.699 }, 1],
    [{ messageCount: 201 }, 0.1],
  ])("does not count just below it: %j", (special, relevance) => {
    expect(rate(special, { relevance }).ceiling).toBeUndefined();
  });

  it("of the repo keeps the score for the table", () => {
    const gone: Evidence = { kind: "worktree-gone", text: "its worktree is gone", forcesFresh: true };
    expect(rate({}, { relevance: 1, evidence: [gone] })).toMatchObject({
      score: 1,
      recommendation: "fresh",
      ceiling: "its worktree is gone",
      evidence: [gone],
    });
  });
});

it("gives its reasons as text for a terminal", () => {
  const relevance = { sessionId: "", relevance: 0.6, reasoning: "shares \u001b[31mwebhook\nhandler" };
  const facts = { currentBranch: "main", relevance, now: NOON + 2 * HOUR, config: CONFIG };
  expect(scoreSession(discoveredSession({ compactionCount: 1, budgetUsedPct: 0.4 }), facts).reason).toBe(
    "same branch, used 2 h ago, related (shares \\u001b[31mwebhook handler), 1× compacted, 40 % of the budget used",
  );
});

describe("whatever the session is", () => {
  it("the score is between 0 and 1, and nothing above a ceiling is resumed", () => {
    fc.assert(
      fc.property(anySession, fc.double({ min: -1, max: 2 }), fc.array(anyEvidence), (session, relevance, evidence) => {
        const rated = rate(session, { relevance, evidence });
        expect(rated.score).toBeGreaterThanOrEqual(0);
        expect(rated.score).toBeLessThanOrEqual(1);
        const held =
          (session.compactionCount ?? 0) >= 3 ||
          (session.budgetUsedPct ?? 0) >= 0.7 ||
          !(relevance >= 0.1) ||
          evidence.some(({ forcesFresh }) => forcesFresh);
        expect(rated.ceiling !== undefined).toBe(held);
        expect(rated.recommendation).toBe(!held && rated.score >= 0.6 ? "resume" : "fresh");
      }),
    );
  });

  it("the score never falls with more recency or relevance", () => {
    const pair = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(anySession, pair, pair, (session, [r1, r2], [a1, a2]) => {
        const at = (relevance: number, age: number) => {
          return rate({ ...session, lastModified: new Date(NOON - age * 400 * HOUR) }, { relevance }).score;
        };
        expect(at(Math.max(r1, r2), a1)).toBeGreaterThanOrEqual(at(Math.min(r1, r2), a1));
        expect(at(r1, Math.min(a1, a2))).toBeGreaterThanOrEqual(at(r1, Math.max(a1, a2)));
      }),
    );
  });
});

describe("the word overlap of the RFC", () => {
  it.each([
    ["Refactor the webhook handler", "Refactor webhook parser", 1],
    ["Refactor webhook handler", "Clean up HTTP endpoint logic", 0],
    ["fix the bug", "add a new tab", 0],
    ["write tests", "write tests", 1],
    ["parse dates quickly please", "parse numbers", 0.4],
  ])("of %j and %j is %d", (task, lastTask, relevance) => {
    expect(keywordFallback(task, discoveredSession({ lastTask })).relevance).toBe(relevance);
  });

  it("uses the first message without a known task", () => {
    expect(keywordFallback("write tests", discoveredSession({ firstMessage: "write tests" })).relevance).toBe(1);
  });
});

const anyEvidence = fc.record({
  kind: fc.constantFrom<Evidence["kind"]>("files-changed", "worktree-gone"),
  text: fc.constant("found"),
  forcesFresh: fc.boolean(),
});

const anySession: fc.Arbitrary<Partial<DiscoveredSession>> = fc.record({
  branch: fc.constantFrom("main", "other", "", "HEAD"),
  messageCount: fc.integer({ min: 0, max: 1000 }),
  fileSizeBytes: fc.integer({ min: 0, max: 20_000_000 }),
  compactionCount: fc.integer({ min: 0, max: 5 }),
  budgetUsedPct: fc.double({ min: 0, max: 2, noNaN: true }),
  totalInputTokens: fc.integer({ min: 0, max: 10_000_000 }),
});

function rate(
  special: Partial<DiscoveredSession>,
  facts: Partial<Omit<ScoreFacts, "relevance">> & { relevance?: number } = {},
) {
  const relevance = { sessionId: "", relevance: facts.relevance ?? 0.6, reasoning: "because" };
  return scoreSession(discoveredSession(special), {
    currentBranch: "main",
    now: NOON,
    config: CONFIG,
    ...facts,
    relevance,
  });
}
