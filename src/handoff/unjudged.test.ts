/** What a session that starts right now is told of one that nobody has captured. */
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { writeLines } from "../../test/support/transcripts.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { nativeSessionKey } from "./handoff.ts";
import { nextState } from "./next-state.ts";
import type { SummaryItem } from "./state.ts";
import { readUnjudged } from "./unjudged.ts";

const SESSION = "aaaaaaaa-0000-4000-8000-000000000001";

describe("the end of a transcript, unjudged", () => {
  it.each([
    ["English", "Please make the importer retry its connection."],
    ["German", "Bitte den Importer die Verbindung neu aufbauen lassen."],
    ["Japanese", "インポーターが接続を再試行するようにしてください。"],
  ])("has a request without an answer, in %s", async (_language, asked) => {
    const items = await itemsOf([user(asked)]);
    expect(textsOf(items, "in-progress")).toEqual([asked]);
    expect(textsOf(items, "request")).toEqual(["The last message was not answered."]);
  });

  it("has the last exchange, the failure, the files without a commit and the branch, from a long turn too", async () => {
    const steps = Array.from({ length: 30 }, (_, step) => [
      ...call(`e${step}`, "Edit", { file_path: `/repo/src/part-${step % 2}.ts` }, "done", `Step ${step} of the work.`),
    ]).flat();
    const items = await itemsOf([
      user("Please split the importer into two parts."),
      ...steps,
      ...call("t", "Bash", { command: "npm test" }, "1 failed", "Now the tests.", true),
      assistant("The importer is split, but one test of the reader fails."),
    ]);
    expect(textsOf(items, "topic")).toEqual([
      "Please split the importer into two parts.",
      "The importer is split, but one test of the reader fails.",
    ]);
    expect(textsOf(items, "failure")).toEqual(["`npm test` failed and did not pass since"]);
    expect(textsOf(items, "edited")).toEqual(["Edited, no commit seen since: src/part-0.ts, src/part-1.ts"]);
    expect(textsOf(items, "branch")).toEqual(["main"]);
  });

  it("quotes as many of the last messages as it may, in their order", async () => {
    const said = [
      "Please move the importer.",
      "The broker refuses us.",
      "We decided on RabbitMQ.",
      "Then ask Dana next.",
    ];
    const talk = said.map((text, index) => (index % 2 === 0 ? user(text) : assistant(text)));
    await using folder = await temporaryFolder();
    const path = folder.join(`${SESSION}.jsonl`);
    await writeLines(path, talk);
    const textsOfLast = async (quotes: number): Promise<string[]> =>
      textsOf((await readUnjudged({ ...endAt(path), quotes }, undefined))?.items ?? [], "topic");
    expect(await textsOfLast(8)).toEqual(said);
    expect(await textsOfLast(1)).toEqual(said.slice(2));
  });

  it("has the open to-dos as work in progress", async () => {
    const todos = [
      { content: "Read the log", status: "completed" },
      { content: "Write the retry", status: "in_progress" },
    ];
    const items = await itemsOf([user("Go through the list."), ...call("w", "TodoWrite", { todos }, "ok")]);
    expect(textsOf(items, "in-progress")).toContain("Write the retry");
    expect(textsOf(items, "todo")).toEqual(["1 of 2 to-dos done"]);
  });

  it("has no secret, also where a line is cut", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`;
    const padding = "the deployment of the importer ".repeat(6);
    const read = await read1([user(`Please look at ${padding}with ${token} as its token.`)]);
    expect(JSON.stringify(read)).not.toContain(token.slice(0, 12));
  });

  it("has nothing of a greeting, nor of what a person has cleared", async () => {
    expect(await itemsOf([user("hi"), assistant("Hello!")])).toEqual([]);
    const cleared = { clearedAt: "2026-11-15T19:00:00.000Z" };
    expect(await read1([user("Please make the importer retry.")], cleared)).toBeUndefined();
  });

  it("keeps the lines of what was captured, and adds what was said since", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join(`${SESSION}.jsonl`);
    const before = [user("Which queue?"), user("We decided to use RabbitMQ instead of Kafka for the new queue.")];
    await writeLines(path, before);
    const source = {
      kind: "native",
      sessionKey: KEY,
      sessionId: SESSION,
      path,
      file: path,
      cwd: "/repo",
      project: "repo",
    } as const;
    const agent = { agentId: "main", clock: systemClock, logger: silentLogger };
    const kept = await nextState({ agent, config: DEFAULT_CONFIG.handoff }, source, "ended", undefined);
    const asked = "Please write the migration of the orders now.";
    await writeLines(path, [...before, user(asked)]);
    const texts = (await readUnjudged(endAt(path), kept))?.items.map(({ text }) => text);
    expect(texts).toContain("We decided to use RabbitMQ instead of Kafka for the new queue.");
    expect(texts).toContain(asked);
  });
});

const KEY = nativeSessionKey("main", SESSION);

function endAt(path: string): Parameters<typeof readUnjudged>[0] {
  const config = DEFAULT_CONFIG.handoff;
  return {
    agentId: "main",
    config,
    sessionKey: KEY,
    sessionId: SESSION,
    path,
    cwd: "/repo",
    project: "repo",
    reason: "found",
    quotes: 1,
  };
}

async function read1(lines: object[], kept?: unknown): ReturnType<typeof readUnjudged> {
  await using folder = await temporaryFolder();
  const path = folder.join(`${SESSION}.jsonl`);
  await writeLines(path, lines);
  return await readUnjudged(endAt(path), kept);
}

async function itemsOf(lines: object[]): Promise<SummaryItem[]> {
  return (await read1(lines))?.items ?? [];
}

function textsOf(items: readonly SummaryItem[], kind: SummaryItem["kind"]): string[] {
  return items.filter((item) => item.kind === kind).map(({ text }) => text);
}

const COMMON = { timestamp: "2026-11-15T18:13:04.816Z", isSidechain: false, sessionId: SESSION, gitBranch: "main" };
let lines = 0;

function user(content: unknown): object {
  return { type: "user", message: { role: "user", content }, uuid: `u${(lines += 1)}`, ...COMMON };
}

function assistant(content: unknown): object {
  return { type: "assistant", message: { role: "assistant", content }, uuid: `a${(lines += 1)}`, ...COMMON };
}

/** A call of a tool and its result. */
function call(id: string, name: string, input: object, output: string, said = "", isError = false): object[] {
  const text = said === "" ? [] : [{ type: "text", text: said }];
  return [
    assistant([...text, { type: "tool_use", id, name, input }]),
    user([{ type: "tool_result", tool_use_id: id, content: output, is_error: isError }]),
  ];
}
