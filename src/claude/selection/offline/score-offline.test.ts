/** What the offline comparison takes for related, and what it does not fall for. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { discoveredSession, NOON } from "../../../../test/support/claude-samples.ts";
import type { DiscoveredSession } from "../../discovered-session.ts";
import type { RelevanceContext } from "../selection.ts";
import { scoreOffline } from "./score-offline.ts";

const HOUR = 3_600_000;

describe("related", () => {
  it.each([
    ["other words for the same work", "Clean up HTTP endpoint logic", "Refactor webhook handler"],
    ["a word for its topic", "Implement authentication", "Add OAuth flow with Google"],
    [
      "short forms",
      "k8s liveness probe kills the pod",
      "Kubernetes deployment restarts constantly, the health check is wrong",
    ],
    [
      "another style of an identifier",
      "why does resolveTenantSchema fail",
      "resolve_tenant_schema picks the wrong one",
    ],
    ["a short form that the other one writes out", "CDRs with zero duration are lost", "Call detail record ingestion"],
    [
      "what people see for what developers do about it",
      "Trucks are sent zigzag across town",
      "Replace greedy stop ordering by 2-opt in the tour optimiser",
    ],
    ["an issue number", "#4512 again", "Issue #4512: avatars are mirrored"],
    ["words side by side", "Add pagination to the users endpoint", "Add sorting to the users endpoint"],
  ])("%s", (_what, task, before) => {
    expect(relevanceOf(task, session("a", before))).toBeGreaterThanOrEqual(0.6);
  });

  it("by the files alone", () => {
    const touched = session("a", "numbers do not add up", {
      filesTouched: [{ path: "/repo/src/billing/proration.ts", edited: true }],
    });
    expect(relevanceOf("src/billing/proration.ts", touched)).toBeGreaterThanOrEqual(0.6);
    expect(relevanceOf("have a look at proration.test.ts", touched)).toBeGreaterThanOrEqual(0.6);
  });

  it("and the right one of several stands out", () => {
    const answers = scoreOffline(
      "Access token is accepted after it expired",
      [
        session("lexer", "Tokenizer accepts invalid UTF-8 after a token"),
        session("jwt", "JWT exp claim is not verified"),
      ],
      {},
    );
    expect(answers.map((answer) => answer.sessionId)).toEqual(["lexer", "jwt"]);
    expect(answers[1]?.relevance).toBeGreaterThan((answers[0]?.relevance ?? 1) + 0.3);
    expect(answers[1]?.reasoning).toMatch(/jwt|json web token/i);
  });
});

describe("unrelated", () => {
  it.each([
    [
      "one noun of two meanings",
      "Session tokens should rotate after login",
      "Training session loader drops the last batch",
    ],
    ["words of every task", "Add a dry run to the deploy script", "Add a script that seeds demo users"],
    ["another issue of the tracker", "ENG-2207", "ENG-2270 tidy tags"],
    [
      "another function of the same pattern",
      "get_user_by_email is case sensitive",
      "get_order_by_id returns archived ones",
    ],
    ["nothing at all", "Upgrade terraform", "Tooltip flickers in Firefox"],
  ])("%s", (_what, task, before) => {
    expect(relevanceOf(task, session("a", before))).toBeLessThan(0.1);
  });

  it("a name that every code base has", () => {
    expect(
      relevanceOf("add is_active to voter_registrations", session("a", "isActive style of nav tabs not applied")),
    ).toBeLessThan(0.1);
  });

  it("the namesake of a file in another folder", () => {
    const touched = session("a", "SMS are delivered twice at night", {
      filesTouched: [{ path: "services/notify/worker.go", edited: true }],
    });
    expect(relevanceOf("services/media/worker.go: split it", touched)).toBeLessThan(0.1);
  });

  it("a file name that every project has", () => {
    const touched = session("a", "wire the new logger", {
      filesTouched: [{ path: "packages/logger/index.ts", edited: true }],
    });
    expect(relevanceOf("tidy src/index.ts", touched)).toBeLessThan(0.1);
  });
});

describe("in doubt", () => {
  it.each([
    ["Fix webhook error handling", "Refactor webhook handler"],
    ["Add tests for pagination", "Implement pagination for the orders list"],
    ["webhook WHOOP v2", "Refactor the WHOOP webhook handler to use v2 format"],
    ["Tune the circuit breaker thresholds", "Introduce a circuit breaker in the payment client"],
    ["The classifier confuses refunds with cancellations", "Train a classifier for support tickets"],
  ])("is work that shares a distinctive word: %s", (task, before) => {
    expect(relevanceOf(task, session("a", before))).toBeGreaterThanOrEqual(0.1);
    const others = [session("b", "Trim audio clips"), session("c", "Rotate TLS certificates", { branch: "ops" })];
    expect(scoreOffline(task, [session("a", before), ...others], {})[0]?.relevance).toBeGreaterThanOrEqual(0.1);
  });

  it("is not work that shares a word with every session of the repo", () => {
    const sessions = ["Trim audio in Kestrel", "Kestrel crashes on exit", "Kestrel icon"].map((before, at) =>
      session(`s${at}`, before),
    );
    for (const { relevance } of scoreOffline("Sell gift cards in Kestrel", sessions, {}))
      expect(relevance).toBeLessThan(0.1);
  });
});

describe("a follow-up", () => {
  const sessions = [
    session("elsewhere", "Crash when the avatar is missing", {
      branch: "main",
      lastModified: new Date(NOON - 0.1 * HOUR),
    }),
    session("old", "Empty state for results", { branch: "feat", lastModified: new Date(NOON - 20 * HOUR) }),
    session("last", "Highlight matches in results", { branch: "feat", lastModified: new Date(NOON - 2 * HOUR) }),
  ];
  const best = (task: string, context: RelevanceContext): string | undefined =>
    scoreOffline(task, sessions, context).find((answer) => answer.relevance >= 0.6)?.sessionId;

  it.each([
    "continue",
    "it still fails",
    "also add tests for that",
    "you forgot the case with zero",
    "ok go ahead",
    "commit and push",
    "push it",
    "retry",
    "undo that",
    "now the tests",
    "now the docs",
    "and commit it",
    "squash the commits",
    "same error again",
    "can you simplify that?",
  ])("belongs to the session used last on the branch: %s", (task) => {
    expect(best(task, { currentBranch: "feat" })).toBe("last");
    // No session on the branch: the one used last may be meant.
    const elsewhere = scoreOffline(task, sessions, { currentBranch: "gone" })[0];
    expect(elsewhere?.relevance).toBeGreaterThanOrEqual(0.3);
    expect(elsewhere?.relevance).toBeLessThan(0.6);
  });

  it("that names a session's subject belongs to that one", () => {
    expect(best("continue with the missing avatar", { currentBranch: "feat" })).toBe("elsewhere");
  });

  it.each([
    "Then translate the handbook to Polish",
    "Next, build a bot that posts the weather",
    "New task: benchmark zstd",
    "Push notifications",
    "push-to-talk",
    "Retry uploads that time out",
    "Undo/redo support",
    "undo history",
    "Resume parser for the hiring portal",
    "Continue shopping link",
    "Do this: add dark mode",
    "Do this please: add dark mode",
    "This is the task: add dark mode",
    "It would be nice to have dark mode",
    "support resume",
    "implement retry",
    "merge duplicate contacts",
    "Commit graph",
    "Document the REST API",
    "Show earlier messages in the chat",
    "Add a user form and sort it by name",
    "support Windows too",
    "Check that uploads are scanned",
  ])("is none with a topic of its own: %s", (task) => {
    for (const { relevance } of scoreOffline(task, sessions, { currentBranch: "feat" }))
      expect(relevance).toBeLessThan(0.1);
  });

  it.each(["retry with the new highlight", "push the highlight change", "undo the matches part"])(
    "may use words of the session: %s",
    (task) => {
      expect(best(task, { currentBranch: "feat" })).toBe("last");
    },
  );

  it("with a word that no session knows may still refer back by a pronoun", () => {
    const relevances = scoreOffline("now do it for Android", sessions, { currentBranch: "feat" });
    expect(relevances[2]?.relevance).toBe(0.4);
    expect(relevances[2]?.reasoning).toContain("may refer back");
  });
});

describe("whatever is written", () => {
  it("there is one answer for each session, between 0 and 1, and the same each time", () => {
    const text = fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.lorem({ maxCount: 8 }));
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 4 }), (task, texts) => {
        const sessions = texts.map((before, at) =>
          session(`s${at}`, before, { branch: before, filesTouched: [{ path: before, edited: true }] }),
        );
        const answers = scoreOffline(task, sessions, { currentBranch: "main", commitSubjects: texts });
        expect(answers.map((answer) => answer.sessionId)).toEqual(sessions.map((one) => one.sessionId));
        for (const { relevance } of answers) expect(relevance >= 0 && relevance <= 1).toBe(true);
        expect(scoreOffline(task, sessions, { currentBranch: "main", commitSubjects: texts })).toEqual(answers);
      }),
      { numRuns: 200 },
    );
  });
});

function relevanceOf(task: string, one: DiscoveredSession): number {
  return scoreOffline(task, [one], { currentBranch: "main" })[0]?.relevance ?? Number.NaN;
}

function session(sessionId: string, firstMessage: string, facts: Partial<DiscoveredSession> = {}): DiscoveredSession {
  return discoveredSession({
    sessionId,
    firstMessage,
    repoPath: "/repo",
    branch: "main",
    branches: [],
    prompts: [],
    filesTouched: [],
    lastModified: new Date(NOON - HOUR),
    ...facts,
  });
}
