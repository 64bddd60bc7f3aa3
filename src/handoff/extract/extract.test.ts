/** The rules of extraction, one by one. */
import { describe, expect, test } from "vitest";
import { toMessages } from "../../../test/fixtures/handoff/conversations/to-messages.ts";
import { clearedState, extract } from "./extract.ts";

const OPTIONS = { project: "work", active: true };

function of(...said: string[]) {
  return extract(undefined, toMessages(said), OPTIONS);
}

describe("the topic", () => {
  test("is the newest substantial thing that a person said", () => {
    const { summary, items } = of(
      "u please fix the login page",
      "a Fixed it.",
      "u ok thanks",
      "a You're welcome!",
      "u 👍",
    );
    expect(summary.lastTopic).toBe("please fix the login page");
    expect(items.find(({ kind }) => kind === "topic")?.entryId).toBe("e1");
  });

  test("is also told of a language that is not understood", () => {
    const { summary, patterns } = of("u Die Rechnung für Meyer ist noch nicht raus, kannst du das bitte prüfen?");
    expect(summary.lastTopic).toMatch(/^Die Rechnung für Meyer/);
    expect(summary.inProgress).toEqual([summary.lastTopic]);
    expect(patterns).toEqual([]);
  });
});

describe("blockers", () => {
  test("are over when somebody says so, however often they were told", () => {
    const said = [
      "u the nightly backup fails since Sunday",
      "a The nightly backup fails because the disk is full.",
      "u still failing, the nightly backup did not run",
    ];
    expect(of(...said).summary.blockers).toHaveLength(1);
    expect(of(...said, "a The nightly backup works again.").summary.blockers).toEqual([]);
  });

  test("an accomplishment resolves once, also when it is followed by captures", () => {
    const first = extract(undefined, toMessages(["u the login page is broken", "a Fixed the login page."]), OPTIONS);
    const later = toMessages(["u the login page is broken again on Safari"]).map((one) => ({
      ...one,
      entryId: "later",
    }));
    const second = extract(extract(first, later, OPTIONS), [], OPTIONS);
    expect(second.summary.blockers).toEqual(["the login page is broken again on Safari"]);
  });

  test("are told of a tool only when nobody came to say what became of it", () => {
    const said = ["u please run the import", "> Running it.", "x import.py: no space left on device"];
    expect(of(...said).summary.blockers).toEqual(["A tool failed: import.py: no space left on device"]);
    expect(of(...said, "a The import ran on the second disk.").summary.blockers).toEqual([]);
  });
});

describe("a blocker that the agent repeats", () => {
  test("is one, where the person told it", () => {
    const { items } = of(
      "u the test database won't start, port 5432 is taken",
      "a So the test database does not start because port 5432 is taken.",
      "u yes",
      "a The test database is still blocked: port 5432 is taken.",
    );
    expect(items.filter(({ kind }) => kind === "blocker")).toMatchObject([{ entryId: "e1" }]);
  });
});

describe("decisions", () => {
  test.each([
    ["We decided to use Postgres for the ledger.", "We decided to use Redis for the cache."],
    ["We decided to store timestamps in UTC.", "We decided to store amounts in cents."],
    ["We decided to drop Node 16.", "We decided to drop the XML export."],
    ["We decided to use feature flags for the rollout.", "We decided to use canaries for the database."],
  ])("about other things stand side by side: %j, %j", (one, other) => {
    expect(of(`u ${one}`, `u ${other}`).summary.decisions).toEqual([other, one]);
  });

  test("give way to one that says so", () => {
    const said = [
      "u We decided to use Postgres for the ledger.",
      "u We decided to use MySQL for the ledger after all.",
    ];
    expect(of(...said).summary.decisions).toEqual(["We decided to use MySQL for the ledger after all."]);
  });

  test("give way to later ones about the same thing", () => {
    const { summary } = of(
      "u let's use Redis for the session cache",
      "a OK.",
      "u no, let's use Postgres for the session cache",
    );
    expect(summary.decisions).toHaveLength(1);
    expect(summary.decisions[0]).toContain("Postgres");
  });

  test("of one message stand side by side", () => {
    const { summary } = of(
      "u We decided to use Redis for the session cache. We decided to use Kafka for the session log.",
    );
    expect(summary.decisions).toHaveLength(2);
  });

  test("can be a proposal that a person agreed to", () => {
    const { items } = of("u how do we ship the logs?", "a I suggest we ship the logs to Loki.", "u agreed");
    expect(items.find(({ kind }) => kind === "decision")).toMatchObject({ entryId: "e2" });
  });
});

describe("projects", () => {
  test("are not ended by what is done in another one", () => {
    const left = of("u please fix the login page", "u The nightly build is broken, we are blocked by it.");
    expect(left.summary.blockers).toHaveLength(1);
    const office = { project: "office", active: true };
    const more = [
      "u The nightly build is broken, we are blocked by it.",
      "u I fixed the nightly build and the login page.",
    ];
    const elsewhere = extract(left, toMessages(["u one", "u two", ...more]).slice(2), office);
    expect(elsewhere.summary.blockers).toEqual([]);
    const back = extract(elsewhere, [], OPTIONS);
    expect(back.summary.blockers).toEqual(left.summary.blockers);
    expect(back.summary.inProgress).toContain("please fix the login page");
  });

  test("do not grow old while another one is worked on, however long", () => {
    const left = of("u please fix the login page");
    const months = Array.from({ length: 60 }, (_, number) => `u please order chair number ${number + 100}`);
    const elsewhere = extract(left, toMessages(["u one", ...months]).slice(1), { project: "office", active: true });
    expect(extract(elsewhere, [], OPTIONS).summary.inProgress).toEqual(["please fix the login page"]);
  });

  const said = toMessages(["u the login page is broken", "u let's use Postgres for the session cache"]);

  test("nothing is noted when none is active, and the place is kept", () => {
    const state = extract(undefined, said, { project: "general", active: false });
    expect(state).toMatchObject({ patterns: [], items: [], lastMessageIndex: 2, lastMessageAt: said[1]?.timestamp });
  });

  test("what the transcript puts under another one stays there", () => {
    const [first, second] = said;
    if (first === undefined || second === undefined) throw new Error("two messages");
    const state = extract(undefined, [{ ...first, project: "site" }, second], OPTIONS);
    expect(state.patterns.map(({ project }) => project)).toEqual(["site", "work"]);
    expect(extract(undefined, [{ ...first, project: "general" }], OPTIONS).patterns).toEqual([]);
  });

  test("each has its own lines", () => {
    const first = extract(undefined, said, OPTIONS);
    const other = extract(first, toMessages(["u please order the new chairs"]), { project: "office", active: true });
    expect(other.summary).toMatchObject({ blockers: [], decisions: [], inProgress: ["please order the new chairs"] });
    expect(extract(other, [], OPTIONS).summary).toMatchObject({ blockers: first.summary.blockers });
    expect(other.patterns.every(({ project }) => project === "work" || project === "office")).toBe(true);
  });
});

test("what was cleared does not come back", () => {
  const state = clearedState(of("u the login page is broken", "u please fix it"));
  expect(state).toMatchObject({ patterns: [], items: [], lastMessageIndex: 2 });
  const next = extract(state, toMessages(["u thanks"]), OPTIONS);
  expect(next).toMatchObject({ patterns: [], items: [], lastMessageIndex: 3 });
});

test("modes", () => {
  expect(of("u hi, how was your weekend?", "a Lovely!").mode).toBe("chat");
  expect(of("u please fix the login page").mode).toBe("work");
  expect(of("u please fix the login page", ...Array.from({ length: 30 }, () => "t")).mode).toBe("deep");
});

test("notes are bounded: what is over goes first", () => {
  const said = Array.from({ length: 300 }, (_, index) => [
    `u the export of customer ${index}${"abcdefghij"[index % 10]} is broken`,
    `a Fixed the export of customer ${index}${"abcdefghij"[index % 10]}.`,
  ]).flat();
  const { patterns } = of("u let's use Postgres for the session cache", ...said);
  expect(patterns).toHaveLength(200);
  expect(patterns[0]).toMatchObject({ type: "decision", sourceMessageIndex: 1 });
});
