/** The rules of extraction, one by one. */
import { describe, expect, test } from "vitest";
import { toMessages } from "../../test/support/handoff-messages.ts";
import { clearedState, extract } from "./extract.ts";

const PROJECT = "work";

function of(...said: string[]) {
  return extract(undefined, toMessages(said), PROJECT);
}

/** With the echo engine, only the person's words count. */
function alone(...said: string[]) {
  const messages = toMessages(
    said.map((words) => `u ${words}`),
    true,
  );
  return extract(undefined, messages, PROJECT);
}

describe("small talk", () => {
  test.each([
    [["u hi, how was your weekend?", "a Lovely, thanks!"]],
    [["u thanks, that's all for today!", "a Good night."]],
    [["u does kafka keep the order across partitions?", "a Only within one partition.", "u ha, thx"]],
  ])("leaves nothing: %j", (said) => {
    expect(of(...said)).toMatchObject({ items: [], mode: "chat" });
  });
});

describe("requests", () => {
  test("is in progress until it is answered", () => {
    const asked = "u when does the contract with Nordwind end?";
    expect(of(asked, "a On 30 June.").summary.inProgress).toEqual([]);
    expect(of("u please migrate the billing job to the queue").summary.inProgress).toHaveLength(1);
  });

  test("is in progress while the agent is at it, and when it was cut short", () => {
    const asked = "u please migrate the billing job to the queue";
    expect(of(asked, "> Looking at the job.", "t").summary.inProgress).toContain(asked.slice(2));
    expect(of(asked, "! Looking").summary.inProgress).toContain(asked.slice(2));
  });

  test("stays open beside something else of the kind", () => {
    const [one, other] = ["please add retries to the uploader", "please write the release notes"];
    expect(of(`u ${one}`, `u ${other}`).summary.inProgress).toEqual([one, other]);
  });

  test("is done when it is reported done", () => {
    const asked = ["u please migrate the billing job to the queue", "a I'll start tonight."];
    expect(of(...asked).summary.inProgress).toHaveLength(1);
    expect(of(asked[0] ?? "", "a Done: the billing job is migrated to the queue.").summary.inProgress).toEqual([]);
  });

  test("do not include the script of the echo engine", () => {
    expect(alone("tool:list_files .", "notice:The build is done.")).toMatchObject({ items: [], patterns: [] });
  });
});

describe("messages of a person alone", () => {
  test("is taken as it is", () => {
    const { summary } = alone(
      "Please add idempotency keys to the webhook handler.",
      "We decided to keep the keys in Postgres instead of Redis, because Redis is not backed up.",
      "I'm blocked: the integration tests fail on CI with connection refused.",
      "Next: ask Bob for the password of the CI database.",
    );
    expect(summary).toEqual({
      lastTopic: "Please add idempotency keys to the webhook handler.",
      inProgress: ["Please add idempotency keys to the webhook handler."],
      blockers: ["I'm blocked: the integration tests fail on CI with connection refused."],
      decisions: ["We decided to keep the keys in Postgres instead of Redis, because Redis is not backed up."],
      nextStep: "Next: ask Bob for the password of the CI database.",
    });
  });
});

describe("projects", () => {
  test("are not finished by work in another one", () => {
    const left = alone("please fix the login page", "The nightly build is broken, we are blocked by it.");
    expect(left.summary.blockers).toHaveLength(1);
    const more = ["u I fixed the nightly build and the login page."];
    const elsewhere = extract(left, toMessages(["u one", "u two", ...more]).slice(2), "office");
    expect(elsewhere.summary.blockers).toEqual([]);
    const back = extract(elsewhere, [], PROJECT);
    expect(back.summary).toEqual(left.summary);
  });

  const said = toMessages(["u the login page is broken", "u let's use Postgres for the session cache"]);

  test("nothing is noted when none is active, and the place is kept", () => {
    const state = extract(undefined, said, "general");
    expect(state).toMatchObject({ patterns: [], items: [], lastMessageIndex: 2, lastMessageAt: said[1]?.timestamp });
  });

  test("messages that the transcript assigns to another one stay there", () => {
    const [first, second] = said;
    if (first === undefined || second === undefined) throw new Error("two messages");
    const state = extract(undefined, [{ ...first, project: "site" }, second], PROJECT);
    expect(state.patterns.map(({ project }) => project)).toEqual(["site", "work"]);
    expect(extract(undefined, [{ ...first, project: "general" }], PROJECT).patterns).toEqual([]);
  });

  test("each has its own lines", () => {
    const first = extract(undefined, said, PROJECT);
    const other = extract(first, toMessages(["u please order the new chairs"]), "office");
    expect(other.summary).toMatchObject({ blockers: [], decisions: [], inProgress: ["please order the new chairs"] });
    expect(extract(other, [], PROJECT).summary).toMatchObject({ blockers: first.summary.blockers });
    expect(other.carried.open).toEqual(["office", "work"]);
  });
});

test("cleared items do not come back", () => {
  const state = clearedState(of("u the login page is broken", "u please fix it"));
  expect(state).toMatchObject({ patterns: [], items: [], lastMessageIndex: 2 });
  const next = extract(state, toMessages(["u thanks"]), PROJECT);
  expect(next).toMatchObject({ patterns: [], items: [], lastMessageIndex: 3 });
});

test("modes", () => {
  expect(of("u please fix the login page").mode).toBe("work");
  expect(of("u please fix the login page", ...Array.from({ length: 30 }, () => "t")).mode).toBe("deep");
});

test("notes are limited: resolved ones are dropped first", () => {
  const said = Array.from({ length: 300 }, (_, index) => [
    `u the export of customer ${index}${"abcdefghij"[index % 10]} is broken`,
    `a Fixed the export of customer ${index}${"abcdefghij"[index % 10]}.`,
  ]).flat();
  const { patterns, carried } = of("u let's use Postgres for the session cache", ...said);
  expect(patterns).toHaveLength(200);
  expect(patterns[0]).toMatchObject({ type: "decision", sourceMessageIndex: 1 });
  expect(carried.digests.length).toBeLessThanOrEqual(90);
});
