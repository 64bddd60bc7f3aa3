/** What is handed over without reading sentences, in any language, and what is never handed over. */
import { describe, expect, test } from "vitest";
import { nothingCarried, takeMessage } from "../digest.ts";
import { scoreMessage } from "../patterns/detect-patterns.ts";
import type { ReadMessage, SummaryItem, SummaryKind, TodoItem } from "../state.ts";
import { callFacts, resultOf } from "../read/tool-facts.ts";
import { judge } from "./judge.ts";

const LANGUAGES = [
  {
    name: "German",
    request: "Bitte baue die Zertifikate in die Ansible-Rolle edge_tls ein.",
    report: "Der Testlauf auf edge-01 scheitert am DNS-Eintrag.",
    done: "Die Rolle ist fertig und getestet.",
  },
  {
    name: "French",
    request: "Ajoute la pagination à la liste des factures, s'il te plaît.",
    report: "Le test de pagination échoue encore sur la dernière page.",
    done: "La pagination est en place, tous les tests passent.",
  },
  {
    name: "Japanese",
    request: "予約カレンダーに週表示を追加してください。",
    report: "週表示のテストがまだ失敗しています。",
    done: "週表示を追加しました。",
  },
];

describe.each(LANGUAGES)("facts in $name", ({ request, report, done }) => {
  test("a request that nobody answered, or whose answer was cut short", () => {
    expect(textsOf(lines(user(request)), "in-progress")).toEqual([request]);
    const cut = lines(user(request), { ...agent(""), isCut: true });
    expect(textsOf(cut, "in-progress")).toEqual([request]);
    expect(textsOf(cut, "request")).toEqual(["The last answer was cut short."]);
  });

  test("a failure that was not seen to pass since, in the agent's words", () => {
    const failing = [user(request), ...run("npm test", true), agent(report)];
    const items = lines(...failing);
    expect(textsOf(items, "blocker")).toEqual([report]);
    expect(textsOf(items, "failure")).toEqual(["`npm test` failed and did not pass since"]);
    const passing = lines(...failing, user("ok"), ...run("npm test", false), agent(done));
    expect(textsOf(passing, "failure")).toEqual([]);
    expect(textsOf(passing, "blocker")).toEqual([]);
    expect(textsOf(passing, "in-progress")).toEqual([]);
  });

  test("the open items of a to-do list, what is being done first", () => {
    const todos: TodoItem[] = [
      { text: request, status: "completed" },
      { text: done, status: "pending" },
      { text: report, status: "in_progress" },
    ];
    const items = lines(user(request), { ...agent(""), callsTools: true, todos }, agent(report));
    expect(textsOf(items, "in-progress")).toEqual([report, done]);
    expect(textsOf(items, "todo")).toEqual(["1 of 3 to-dos done"]);
  });

  test("commits, and files that were edited since", () => {
    const items = lines(
      user(request),
      ...edit("/repo/src/a.ts"),
      ...run("git commit -am x", false, { hash: "81c0f3e", branch: "main", subject: "Add the week view" }),
      ...edit("/repo/src/b.ts"),
      agent(done),
    );
    expect(textsOf(items, "accomplishment")).toContain("Committed 81c0f3e: Add the week view");
    expect(textsOf(items, "commit")).toEqual(["81c0f3e on main"]);
    expect(textsOf(items, "edited")).toEqual(["Edited, no commit seen since: src/b.ts"]);
  });
});

test("a program that only looks does not fail", () => {
  const items = lines(user("where is the parser?"), ...run("grep -rn parser src", true), agent("There is none."));
  expect(textsOf(items, "failure")).toEqual([]);
});

test("a request that was called off is not in progress", () => {
  const request = user("Please add a dark mode to the settings page.");
  expect(lines(request, user("never mind"))).toEqual([]);
  expect(textsOf(lines(request), "in-progress")).toEqual(["Please add a dark mode to the settings page."]);
});

test("a failed tool without a command is a failure until the tool works again", () => {
  const [call, failed] = use("mcp__tickets__create", true);
  const [again, passed] = use("mcp__tickets__create", false);
  const asked = user("Please open a ticket for the broken import.");
  expect(textsOf(lines(asked, call, failed), "failure")).toEqual([
    "`mcp__tickets__create` failed and did not pass since",
  ]);
  expect(textsOf(lines(asked, call, failed, again, passed), "failure")).toEqual([]);
});

test("half of a sentence can be a blocker", () => {
  const items = lines(user("Fixed the parser, but now the lexer crashes."));
  expect(textsOf(items, "blocker")).toEqual(["now the lexer crashes."]);
  expect(textsOf(items, "accomplishment")).toEqual(["Fixed the parser"]);
});

test("a blocker at the beginning and a decision at the end survive thirty reports", () => {
  const reports = Array.from({ length: 30 }, (_one, index) => agent(`Report ${index + 1}: the batch was imported.`));
  const items = lines(
    user("Please migrate the billing job. We are blocked: the staging database refuses connections."),
    ...reports,
    agent("We decided to use RabbitMQ instead of Kafka for the new queue."),
  );
  expect(textsOf(items, "blocker")).toEqual(["We are blocked: the staging database refuses connections."]);
  expect(textsOf(items, "decision")).toContain("We decided to use RabbitMQ instead of Kafka for the new queue.");
});

test("no sentence is listed twice, and no section has more than three lines", () => {
  const said = Array.from({ length: 40 }, (_, index) => [
    user(`We decided to keep export ${index} in Postgres. Export ${index} is blocked: the vendor has not answered.`),
    agent("Noted."),
  ]);
  const items = lines(...said.flat()).filter(({ kind }) => kind !== "todo");
  expect(new Set(items.map(({ text }) => text)).size).toBe(items.length);
  for (const kind of ["in-progress", "blocker", "decision", "accomplishment", "next-step"] as const) {
    expect(textsOf(items, kind).length).toBeLessThanOrEqual(3);
  }
});

test("a request with a short answer is not open", () => {
  const items = lines(
    user("Please rename the queue to retries."),
    agent("Renamed."),
    user("And add a line about the queue to the changelog, please."),
    agent("The changelog has a line about the new name of the queue."),
    user("Thanks, that's all."),
    agent("You're welcome!"),
  );
  expect(textsOf(items, "in-progress")).toEqual([]);
});

test("a plain request that nobody answered is in progress, not the next step", () => {
  const request = "Please write a migration that splits the name column into first_name and last_name.";
  const items = lines(user(request));
  expect(textsOf(items, "in-progress")).toEqual([request]);
  expect(textsOf(items, "next-step")).toEqual([]);
});

test("a decision that was taken back is replaced by its final form", () => {
  const items = lines(
    user("for the cache, let's go with Redis"),
    agent("Fine, Redis. I'll add the client."),
    user("hmm, ops doesn't want another service"),
    agent("Then an in-process LRU would do at your size."),
    user("ok, forget Redis. We use the in-process LRU, 10k entries"),
    ...edit("/repo/cache.ts"),
    agent("The LRU cache is in place with 10,000 entries."),
  );
  expect(textsOf(items, "decision")).toEqual(["We use the in-process LRU, 10k entries"]);
});

test("a pick of one word quotes the proposal", () => {
  const items = lines(
    user("lisbon or porto for the offsite?"),
    agent("Porto is cheaper in July: about 210 a night for the house."),
    user("Porto then"),
    agent("Porto it is. I'll book the house."),
  );
  expect(textsOf(items, "decision")).toEqual([
    "Porto then — Porto is cheaper in July: about 210 a night for the house.",
  ]);
});

test("small talk about what somebody did instead decides nothing", () => {
  const items = lines(
    user("hey, how's it going"),
    agent("Good, thanks! And you?"),
    user("tired. watched the match, then finished my book instead of sleeping"),
    agent("Which book?"),
    user("the new Tokarczuk. loved it"),
  );
  expect(items).toEqual([]);
});

test("the report of a commit does not repeat it", () => {
  const commit = { hash: "3fa9c1d", branch: "main", subject: "Include the last day in exports" };
  const items = lines(
    user("Please fix the export of the last day and commit it."),
    ...run("git commit -am x", false, commit),
    agent("Committed as 3fa9c1d."),
  );
  expect(textsOf(items, "accomplishment")).toEqual(["Committed 3fa9c1d: Include the last day in exports"]);
});

test("quotations and code are never listed", () => {
  const boss = user('my boss wrote: "we decided to move everything to Azure".');
  expect(lines(boss, agent("That would take weeks."))).toEqual([]);
  expect(lines(user("`git push origin main`"), agent("Shall I run it for you?"), user("no"))).toEqual([]);
});

function lines(...messages: Omit<ReadMessage, "entryId" | "timestamp">[]): SummaryItem[] {
  const carried = nothingCarried();
  for (const [index, message] of messages.entries()) {
    const place = { entryId: `e${index}`, timestamp: new Date(index * 1000).toISOString() };
    takeMessage(carried, { ...message, ...place }, { index, project: "p" }, scoreMessage);
  }
  return judge(carried, { project: "p" });
}

type Message = Omit<ReadMessage, "entryId" | "timestamp">;

function user(text: string): Message {
  return { role: "user", text };
}

function agent(text: string): Message {
  return { role: "assistant", text };
}

function run(
  command: string,
  isError: boolean,
  commit?: { hash: string; branch: string; subject: string },
): [Message, Message] {
  const result = { id: command, ...(isError ? { isError } : {}), ...(commit === undefined ? {} : { commit }) };
  return [
    { ...agent(""), callsTools: true, calls: [{ id: command, command }] },
    { role: "tool", text: "", results: [result] },
  ];
}

function use(name: string, isError: boolean): [Message, Message] {
  const { calls } = callFacts([{ id: name, name, input: {} }], false);
  return [
    { role: "assistant", text: "", callsTools: true, calls },
    { role: "tool", text: "", results: resultOf(name, "", isError) },
  ];
}

function edit(file: string): [Message, Message] {
  return [
    { ...agent(""), callsTools: true, calls: [{ id: file, file }] },
    { role: "tool", text: "", results: [{ id: file }] },
  ];
}

function textsOf(items: readonly SummaryItem[], wanted: SummaryKind): string[] {
  return items.filter(({ kind }) => kind === wanted).map(({ text }) => text);
}
