/** The rules of extraction, one by one. */
import { describe, expect, test } from "vitest";
import { toMessages } from "../../../test/fixtures/handoff/conversations/to-messages.ts";
import type { ReadMessage, TodoChange } from "../state.ts";
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

describe("what is asked for", () => {
  test("is in progress until it is answered", () => {
    const asked = "u when does the contract with Nordwind end?";
    expect(of(asked).summary.inProgress).toEqual([asked.slice(2)]);
    expect(of(asked, "a On 30 June.").summary.inProgress).toEqual([]);
  });

  test("is in progress while the agent is at it, and when it was cut short", () => {
    const asked = "u please migrate the billing job to the queue";
    expect(of(asked, "> Looking at the job.", "t").summary.inProgress).toContain(asked.slice(2));
    expect(of(asked, "! Looking").summary.inProgress).toContain(asked.slice(2));
    expect(of(asked, "! Looking").summary.nextStep).toBe(asked.slice(2));
  });

  test("is open again when the agent goes on after what looked like an answer", () => {
    const said = ["u please migrate the billing job to the queue", "a Here is the list of callers.", "t"];
    expect(of(...said).summary.inProgress).toEqual(["please migrate the billing job to the queue"]);
  });

  test("is done when it is reported done, in the same words or in none", () => {
    const asked = ["u please migrate the billing job to the queue", "a I'll start tonight."];
    expect(of(...asked).summary.inProgress).toHaveLength(1);
    expect(of(...asked, "u ok", "a The billing job is migrated to the queue.").summary.inProgress).toEqual([]);
    expect(of(...asked, "u ok", "a Done.").summary.inProgress).toEqual([]);
  });

  test("can be an offer that a person took up", () => {
    const { items } = of("u is the report out?", "a Yes. Shall I also send the report to the board?", "u yes please");
    expect(items.filter(({ kind }) => kind === "in-progress")).toMatchObject([
      { text: "Shall I also send the report to the board?", entryId: "e2" },
    ]);
  });

  test("is dropped when it is called off", () => {
    const said = ["u please translate the manual into Dutch", "a I'll start with chapter one.", "u never mind"];
    expect(of(...said).summary).toMatchObject({ inProgress: [], nextStep: "" });
  });
});

/** Alone with the echo engine: what is known comes from the person's words. */
function alone(...said: string[]) {
  return extract(
    undefined,
    toMessages(
      said.map((words) => `u ${words}`),
      true,
    ),
    OPTIONS,
  );
}

const BLOCKED = "the vendor has not sent us the license key, so we are blocked";

describe("what a person says is in progress", () => {
  test.each([
    "I'm working on the payment retries",
    "I am halfway through the onboarding checklist",
    "we're migrating the billing tables to Aurora",
    "currently refactoring the session store",
    "started on the landing page copy",
    "Please add an export button to the reports page",
    "Can you implement pagination for the users endpoint?",
    "let's build a prototype of the scanner app",
    "the task is to cut the build time in half",
    "Today I want to get the tax return done",
    "still need to update the seating chart",
    "WIP: new header component",
    "half of the endpoints are ported, the rest is open",
    "I've been rewriting the parser for two days",
    "Been busy with the grant proposal all week",
    "The docs rewrite is about 60% done",
    "My job today: wire the new thermostat",
    "Back to the invoice templates",
    "Need to finish the risk assessment by Friday",
  ])("%s", (words) => {
    expect(alone("hello", words, BLOCKED, "how are you?").items).toContainEqual(
      expect.objectContaining({ kind: "in-progress", text: words, entryId: "e2" }),
    );
  });

  test.each([
    ["I'm working on the payment retries", "payment retries are done"],
    ["started on the landing page copy", "finished the landing page copy"],
    ["we're migrating the billing tables to Aurora", "the billing tables are migrated"],
    ["add retry logic to the importer", "done"],
    ["Please add an export button to the reports page", "never mind"],
    ["Can you implement pagination for the users endpoint?", "forget it"],
    ["let's build a prototype of the scanner app", "cancel that"],
    ["I'm fixing the login redirect bug", "fixed and deployed"],
    ["I'm fixing the login redirect bug", "Done, merged and shipped."],
  ])("%s, then: %s", (words, end) => {
    expect(alone(words, end).summary.inProgress).toEqual([]);
  });

  test("no answer ends it", () => {
    const { summary } = of(
      "u I'm rewriting the tax module",
      "a Nice, tell me if you need anything.",
      "u sure",
      "a Good.",
    );
    expect(summary.inProgress).toEqual(["I'm rewriting the tax module"]);
  });

  test("is nothing in small talk and questions", () => {
    for (const words of ["What is the capital of Portugal?", "I'm having lunch", "I'm going to bed", "I am tired"]) {
      expect(alone(words)).toMatchObject({ mode: "chat", summary: { inProgress: [], nextStep: "" } });
    }
  });

  test("is what it is all about, when nobody says it", () => {
    const { summary } = alone("the newsletter should reach 400 members on the 12th", BLOCKED);
    expect(summary.inProgress).toEqual(["the newsletter should reach 400 members on the 12th"]);
    expect(summary.nextStep).toBe(`Resolve: ${BLOCKED}`);
  });
});

describe("a piece of work that was asked for", () => {
  const asked = "u Please translate the manual into Dutch, all 14 chapters";

  test("is not done with an answer that reports nothing", () => {
    expect(of(asked, "a The manual has many screenshots.").summary.inProgress).toHaveLength(1);
  });

  test("is not done with a part of it", () => {
    expect(of(asked, "a Chapters 1 to 3 are translated and in the shared folder.").summary.inProgress).toHaveLength(1);
    expect(of(asked, "a I translated two chapters. The rest follows.").summary.inProgress).toHaveLength(1);
  });

  test("goes with everything that came of it when it is called off", () => {
    const said = [
      "u can you build a Slack bot for the menu?",
      "a Sure. I need a Slack app with the chat:write scope for that.",
      "u forget it, IT will never allow that",
    ];
    expect(of(...said).summary).toMatchObject({ inProgress: [], nextStep: "" });
  });
});

describe("the words of an agent that only repeats", () => {
  test("are never noted or referred to", () => {
    const state = alone(
      "I'm porting the parser",
      BLOCKED,
      "we decided to use Postgres for the cache",
      "next: call Bob",
    );
    const entries = [...state.items.map(({ entryId }) => entryId), ...state.patterns.map((one) => one.sourceEntryId)];
    expect(entries.filter((entryId) => entryId.endsWith("-echo"))).toEqual([]);
    expect(state.patterns.map(({ content }) => content).join()).not.toContain("[echo]");
  });
});

describe("a to-do list", () => {
  const [call, result] = toMessages(["> ", "t "]) as [ReadMessage, ReadMessage];
  const list: ReadMessage = {
    ...call,
    todos: [
      { text: "publish the package", status: "pending" },
      { text: "write the tests", status: "in_progress" },
      { text: "set up the repo", status: "completed" },
    ],
  };

  test("says what is in progress and what comes next", () => {
    const { summary } = extract(undefined, [list], OPTIONS);
    expect(summary.inProgress).toEqual(["write the tests", "publish the package"]);
    expect(summary.nextStep).toBe("publish the package");
  });

  const change = (todoChanges: readonly TodoChange[], entryId: string): ReadMessage => {
    return { ...result, entryId, todoChanges };
  };

  test("changes item by item", () => {
    const messages = [
      change([{ id: "1", text: "draft the page", status: "pending" }], "a"),
      change([{ id: "2", text: "ask for photos", status: "pending" }], "b"),
      change([{ id: "1", status: "in_progress" }], "c"),
      change(
        [
          { id: "2", status: "deleted" },
          { id: "9", status: "completed" },
        ],
        "d",
      ),
    ];
    const { summary, items } = extract(undefined, messages, OPTIONS);
    expect(summary.inProgress).toEqual(["draft the page"]);
    expect(items.every(({ entryId }) => entryId === "d")).toBe(true);
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

describe("the next step", () => {
  test("is what somebody said comes next", () => {
    expect(of("u the parser is done", "a Next: write the rollback script.").summary.nextStep).toBe(
      "Next: write the rollback script.",
    );
  });

  test.each([
    "next we need to call the bank",
    "next step: rotate the certificates",
    "after that we can switch the DNS",
    "then we'll test the restore",
    "tomorrow I'll order the tiles",
    "what's left is the appendix",
    "remaining: tests and docs",
    "the next thing is the search index",
    "first thing tomorrow, restart the cluster",
    "TODO: write release notes",
    "The plan for tomorrow is to tape the joints",
    "Once that's done, we deploy to production",
    "report.pl is next",
  ])("a person says it: %s", (words) => {
    const { items } = alone("I'm working on the museum relaunch", BLOCKED, words, "thanks!");
    expect(items.find(({ kind }) => kind === "next-step")).toMatchObject({ text: words, entryId: "e3" });
  });

  test("is to go on, when there is nothing else", () => {
    expect(alone("I'm working on the museum relaunch").summary.nextStep).toBe(
      "Continue: I'm working on the museum relaunch",
    );
  });

  test("is not what somebody does at the weekend", () => {
    expect(of("u tomorrow we will take my dog hiking, the weather is great", "a Enjoy!").summary.nextStep).toBe("");
  });

  test("is over when it is done", () => {
    const said = ["u ok", "a Next: write the rollback script.", "u go", "a The rollback script is written and tested."];
    expect(of(...said).summary.nextStep).toBe("");
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
