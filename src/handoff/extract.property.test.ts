/** Whatever is said and wherever captures fall: the same state, within its bounds, without secrets. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../test/support/any-character.ts";
import { readConversations } from "../../scripts/handoff-conversations.ts";
import type { ReadMessage, TodoItem } from "./state.ts";
import { type ExtractState, extract } from "./extract.ts";
import { printableLine } from "../base/text.ts";

const PROJECT = "work";
const CONVERSATIONS = await readConversations(
  new URL("../../test/fixtures/handoff/conversations/earlier.jsonl", import.meta.url),
);
const POOL: ReadMessage[] = CONVERSATIONS.flatMap(({ messages }) =>
  messages.map(({ role, text }) => ({ entryId: "", timestamp: "2026-10-01T09:00:00.000Z", role, text })),
);
const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

const todo = fc.record({
  text: fc.constantFrom("write the tests", "port the tax tables", "call the venue", `use ${SECRET}`),
  status: fc.constantFrom<TodoItem["status"]>("pending", "in_progress", "completed"),
});
const oddText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.constantFrom(
    "",
    "Done.",
    "yes please",
    "never mind",
    "forget the tests",
    "Shall I deploy it to staging?",
    `The deploy fails with token ${SECRET}, please fix it`,
    `Next: rotate ${SECRET}\u001b[31m`,
    "I'm now looking at the deploy",
    "x".repeat(5000),
    "Können wir den Bericht bis Freitag fertig machen?",
  ),
);
const message = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...POOL) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        entryId: fc.constant(""),
        timestamp: fc.constant("2026-10-01T09:00:00.000Z"),
        role: fc.constantFrom("user", "assistant", "tool"),
        text: oddText,
        isError: fc.constant(true),
        isCut: fc.constant(true),
        callsTools: fc.constant(true),
        todos: fc.array(todo, { maxLength: 4 }),
        todoChanges: fc.array(
          fc.record({
            id: fc.constantFrom("1", "2"),
            text: fc.constant("review"),
            status: fc.constantFrom("pending", "deleted"),
          }),
          { maxLength: 2 },
        ),
      },
      { requiredKeys: ["entryId", "timestamp", "role", "text"] },
    ),
  },
);
const window = fc.array(message, { maxLength: 60 }).map((messages) => {
  return messages.map((one, index): ReadMessage => ({ ...one, entryId: `n${index}` }));
});

describe("extract", () => {
  test("gives the same in one go and in pieces, kept as JSON in between", () => {
    fc.assert(
      fc.property(window, fc.array(fc.nat(60), { maxLength: 8 }), (messages, cuts) => {
        const whole = extract(undefined, messages, PROJECT);
        const places = [0, ...cuts.filter((cut) => cut < messages.length), messages.length].sort((a, b) => a - b);
        let state: ExtractState | undefined;
        for (const [index, end] of places.entries()) {
          const before = state === undefined ? undefined : (JSON.parse(JSON.stringify(state)) as ExtractState);
          state = extract(before, messages.slice(places[index - 1] ?? 0, end), PROJECT);
        }
        expect(state).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });

  test("stays within its bounds and refers to entries that are there", () => {
    fc.assert(
      fc.property(window, (messages) => {
        const state = extract(undefined, messages, PROJECT);
        const entries = new Set(messages.map(({ entryId }) => entryId));
        const ids = state.patterns.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const { text, entryId } of state.items) {
          expect(entries).toContain(entryId);
          expect(text.length).toBeLessThanOrEqual(200);
          expect(text).toBe(printableLine(text));
          expect(text).not.toBe("");
        }
        const { inProgress, blockers, decisions } = state.summary;
        expect(inProgress.length).toBeLessThanOrEqual(3);
        expect(blockers.length).toBeLessThanOrEqual(3);
        expect(decisions.length).toBeLessThanOrEqual(3);
        expect(JSON.stringify(state)).not.toContain(SECRET);
      }),
      { numRuns: 150 },
    );
  });

  test("does not change the previous state", () => {
    const [first, rest] = [POOL.slice(0, 20), POOL.slice(20, 60)];
    const state = extract(undefined, first, PROJECT);
    const before = JSON.stringify(state);
    extract(state, rest, PROJECT);
    expect(JSON.stringify(state)).toBe(before);
  });
});
