import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseOutboundMessage } from "../../protocol/messages.ts";
import type { ClaudeEvent, ClaudeTurn } from "./claude-process.ts";
import { createTurnKeeper, createCostMeter } from "./turns.ts";

const OURS = "aaaaaaaa-0000-4000-8000-000000000001";

describe("the turns of real sessions", () => {
  test("splits the cost between several turns", () => {
    const turns = replay("multi.ndjson");
    expect(turns.map(({ outcome, text }) => [outcome, text])).toEqual([
      ["completed", "echo: first"],
      ["completed", "done after 1 tool result(s)"],
      ["completed", "echo: third"],
    ]);
    expect(turns.map(({ costUsd }) => costUsd.toFixed(5))).toEqual(["0.00075", "0.00150", "0.00075"]);
  });

  test("keeps the text of an interrupted turn", () => {
    expect(replay("control-interrupt.ndjson")).toMatchObject([
      { outcome: "interrupted", text: "word0 word1 word2 ", canContinue: true },
      { outcome: "completed" },
    ]);
    expect(replay("sigint.ndjson")[0]?.text).toMatch(/^word0 .*word7 $/);
  });

  test("does not use the text of subagents as the answer", () => {
    expect(replay("subagent.ndjson")).toMatchObject([{ text: "done after 2 tool result(s)", numTurns: 3 }]);
  });
});

describe("who started a turn", () => {
  const init = { type: "system", subtype: "init" };
  const echoed = { type: "user", uuid: OURS, isReplay: true, message: { role: "user", content: "hello" } };
  const notified = { ...result("a command has ended"), origin: { kind: "task-notification" } };

  test("a turn that already ran when our message came does not answer it", async () => {
    const { keeper, ended, take } = createKeeper();
    const own = keeper.begin(OURS);
    take(init, notified);
    expect(ended).toMatchObject([{ asked: false, text: "a command has ended" }]);
    expect(keeper.current).toBe(own);
    take(init, echoed, result("our answer"));
    expect(ended).toMatchObject([{}, { asked: true, text: "our answer" }]);
    expect((await own.over).text).toBe("our answer");
    expect(keeper.current).toBeUndefined();
  });

  test("a turn that echoed our message answers it", () => {
    const { keeper, ended, take } = createKeeper();
    keeper.begin(OURS);
    take(init, echoed, notified);
    expect(ended).toMatchObject([{ asked: true }]);
  });

  test("a turn that Claude Code started itself makes the process busy", () => {
    const { keeper, ended, take } = createKeeper();
    take(init);
    expect(keeper.current).toMatchObject({ uuid: undefined });
    take(notified);
    expect(keeper.current).toBeUndefined();
    expect(ended).toMatchObject([{ asked: false }]);
  });
});

describe("outcomes", () => {
  test.each([
    [{ is_error: true, result: "API Error: 500 x", api_error_status: 500 }, "api-error"],
    [{ is_error: true, result: "API Error", api_error_status: 429 }, "rate-limited"],
    [{ subtype: "error_max_turns", is_error: true }, "limit-turns"],
    [{ subtype: "error_max_budget_usd", is_error: true }, "limit-budget"],
    [
      { subtype: "error_during_execution", is_error: true, errors: ["No conversation found with session ID: x"] },
      "stale-resume",
    ],
    [{ subtype: "error_during_execution", is_error: true, errors: ["something broke"] }, "crashed"],
    [{ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_tools" }, "interrupted"],
    [{ permission_denials: [{ tool_name: "Bash", tool_use_id: "t", tool_input: {} }] }, "permission-denied"],
  ] as const)("%j", (members, outcome) => {
    const { keeper, ended, take } = createKeeper();
    keeper.begin(OURS);
    take({ ...result(""), ...members });
    expect(ended).toMatchObject([{ outcome, error: expect.any(String) }]);
  });

  test("a limit of the account is a rate limit, whatever the status", () => {
    const { keeper, ended, take } = createKeeper();
    keeper.begin(OURS);
    take({ type: "assistant", error: "rate_limit", message: { content: "You've hit your limit" } });
    take({ ...result("You've hit your limit"), is_error: true });
    expect(ended).toMatchObject([{ outcome: "rate-limited", error: "You've hit your limit", text: "" }]);
  });

  test("the end of the process ends the turn with the text and exit so far", () => {
    const { keeper, ended, take } = createKeeper();
    keeper.begin(OURS);
    take({ type: "system", subtype: "init", session_id: "s-1" });
    take({
      type: "stream_event",
      event: { type: "content_block_delta", delta: { type: "text_delta", text: "half an" } },
    });
    keeper.breakOff({ code: undefined, signal: "SIGSEGV", stderr: "oh \u001b[31mno\n" });
    expect(ended).toMatchObject([
      {
        outcome: "crashed",
        text: "half an",
        sessionId: "s-1",
        error: "claude ended by SIGSEGV before the turn had a result: oh \\u001b[31mno",
        canContinue: false,
      },
    ]);
  });

  test("a turn that Holdfast ended at its time limit has timed out", () => {
    const { keeper, ended, take } = createKeeper();
    keeper.begin(OURS).ending = "timed-out";
    take({ ...result(""), subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" });
    expect(ended).toMatchObject([{ outcome: "timed-out", canContinue: true }]);
  });
});

test("newer versions include the cost of a resumed session", () => {
  const older = createCostMeter(0.5);
  expect([older.add(0.7, "2.1.197"), older.add(0.9, "2.1.197")].map(cents)).toEqual([70, 20]);
  const newer = createCostMeter(0.5);
  expect([newer.add(0.7, "2.1.325"), newer.add(0.9, "2.1.325"), newer.add(0.1, "2.1.325")].map(cents)).toEqual([
    20, 20, 10,
  ]);
  expect(cents(createCostMeter(undefined).add(0.7, "3.0.0"))).toBe(70);
});

function createKeeper() {
  const ended: (ClaudeTurn & { asked: boolean })[] = [];
  const keeper = createTurnKeeper({
    costs: createCostMeter(undefined),
    isOpen: () => true,
    publish: (event: ClaudeEvent) => {
      if (event.type === "turn-ended") ended.push({ ...event.turn, asked: event.asked });
    },
  });
  const take = (...messages: object[]): void => {
    for (const message of messages) keeper.take(parseOutboundMessage(JSON.stringify(message)));
  };
  return { keeper, ended, take };
}

function replay(file: string): ClaudeTurn[] {
  const path = fileURLToPath(new URL(`../../../../test/fixtures/claude-code/stdout-ndjson/${file}`, import.meta.url));
  const { keeper, ended } = createKeeper();
  for (const line of readFileSync(path, "utf8").split("\n")) if (line !== "") keeper.take(parseOutboundMessage(line));
  return ended;
}

function result(text: string): Record<string, unknown> {
  return { type: "result", subtype: "success", is_error: false, result: text, total_cost_usd: 0 };
}

function cents(usd: number): number {
  return Math.round(usd * 100);
}
