/** What is asked for, under way and planned: when it is open, and when it is over. */
import { describe, expect, test } from "vitest";
import { toMessages } from "../../../test/fixtures/handoff/conversations/to-messages.ts";
import type { ReadMessage, TodoChange } from "../state.ts";
import { extract } from "./extract.ts";

const OPTIONS = { project: "work", active: true };

function of(...said: string[]) {
  return extract(undefined, toMessages(said), OPTIONS);
}

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

  test.each([
    ["please add retries to the uploader", "please add metrics to the uploader"],
    ["please fix the login on Safari", "please fix the footer on Safari"],
    ["please write the release notes", "please write the upgrade guide"],
  ])("stays open beside something else of the kind: %j, %j", (one, other) => {
    expect(of(`u ${one}`, `u ${other}`).summary.inProgress).toEqual(expect.arrayContaining([one, other]));
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

  test("stays open when something else is not worth a thought any more", () => {
    const said = [
      "u please translate the manual into Dutch",
      "u I can't log in to Jenkins.",
      "u Never mind, that is solved.",
    ];
    expect(of(...said).summary.inProgress).toContain("please translate the manual into Dutch");
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

describe("steps of the echo engine's script", () => {
  test.each(["tool:list_files .", 'tool:write_file {"path": "a.txt", "content": "please fix the login"}', "sleep:200"])(
    "are neither work nor a topic once the engine has run them: %j",
    (step) => {
      const { summary, items } = alone(step);
      expect(summary).toMatchObject({ inProgress: [], nextStep: "" });
      expect(items).toEqual([]);
    },
  );

  test.each([
    "say:ok",
    "say:We decided to keep the keys in Postgres.",
    "fail:unavailable",
    "notice:The build is done.",
  ])("leave no notes once the engine has run them: %j", (step) => {
    expect(alone(step).items).toEqual([]);
  });

  test("leave what was asked for beside them", () => {
    const asked = "please migrate the billing job to the queue";
    const { summary } = alone(asked, "tool:list_files .");
    expect(summary.inProgress).toEqual([asked]);
  });

  test("are words like any other when a model answers", () => {
    expect(of("u please look at this:\ntool:list_files fails with EACCES on the server").items).not.toEqual([]);
  });
});

describe("a proposal to work on something", () => {
  test.each(["Let us plan the garden.", "Let us prepare the launch."])("is work, not a decision: %j", (said) => {
    const { items } = alone(said);
    expect(items.filter(({ kind }) => kind === "decision")).toEqual([]);
    expect(items.filter(({ kind }) => kind === "in-progress")).toHaveLength(1);
  });

  test.each(["Let us use Postgres for the keys.", "Let's drop IE11 support.", "Let's move the standup to 10."])(
    "is a decision where it settles something: %j",
    (said) => {
      expect(alone(said).items.filter(({ kind }) => kind === "decision")).toHaveLength(1);
    },
  );
});
