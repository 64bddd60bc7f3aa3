/** Conversations about work in plain words, and what a colleague would write down of them. */
import { describe, expect, test } from "vitest";
import { ALONE } from "../../../test/fixtures/handoff/conversations/alone.ts";
import { OTHER_WORK } from "../../../test/fixtures/handoff/conversations/other-work.ts";
import { SOFTWARE } from "../../../test/fixtures/handoff/conversations/software.ts";
import { toMessages } from "../../../test/fixtures/handoff/conversations/to-messages.ts";
import { WITH_AGENT } from "../../../test/fixtures/handoff/conversations/with-agent.ts";
import type { Conversation, Expected } from "../../../test/fixtures/handoff/conversations/types.ts";
import type { SummaryItem, SummaryKind } from "../state.ts";
import { extract } from "./extract.ts";

describe.each([...SOFTWARE, ...OTHER_WORK, ...ALONE, ...WITH_AGENT])("$name", (conversation) => {
  const { items, told, of } = tellOf(conversation);

  test("topic and next step", () => {
    expect(missing(of("topic"), conversation.topic === undefined ? [] : [conversation.topic]), told).toEqual([]);
    expect(missing(of("next-step"), [conversation.next]), told).toEqual([]);
  });

  test("what is in progress", () => {
    expect(missing(of("in-progress"), conversation.inProgress), told).toEqual([]);
  });

  test("what is over is not told as open", () => {
    const open = items.filter(({ kind }) => kind !== "accomplishment" && kind !== "topic").map(({ text }) => text);
    const over = conversation.over ?? [];
    expect(
      open.filter((text) => over.some((words) => words.test(text))),
      told,
    ).toEqual([]);
  });

  test("the agent that only repeats what it heard is never referred to", () => {
    expect(items.filter(({ entryId }) => entryId.endsWith("-echo"))).toEqual([]);
  });
});

describe.each([...SOFTWARE, ...OTHER_WORK])("$name", (conversation) => {
  const { told, of } = tellOf(conversation);

  test("blockers", () => {
    expect(missing(of("blocker"), conversation.blockers), told).toEqual([]);
    // One reading more can be fair; a list of them would bury the ones that matter.
    expect(of("blocker").length, told).toBeLessThanOrEqual(conversation.blockers.length + 1);
  });

  test("decisions", () => {
    expect(missing(of("decision"), conversation.decisions), told).toEqual([]);
  });
});

/** Written without a look at what pattern detection finds, which does not find everything. */
test("most blockers and decisions of other people's conversations", () => {
  const faults = [...ALONE, ...WITH_AGENT].flatMap((conversation) => {
    const { of } = tellOf(conversation);
    const lost = [
      ...missing(of("blocker"), conversation.blockers),
      ...missing(of("decision"), conversation.decisions),
    ].map((what) => `${conversation.name}: ${what} is missing`);
    const more = of("blocker").length - conversation.blockers.length;
    return more > 0 && lost.length === 0 ? [`${conversation.name}: ${more} blockers more`] : lost;
  });
  expect(faults.length, faults.join("\n")).toBeLessThanOrEqual(MOST_FAULTS);
});

/** Of 61 facts. Lower it when detection gets better. */
const MOST_FAULTS = 10;

function tellOf({ said, isEchoed }: Conversation): {
  items: readonly SummaryItem[];
  told: string;
  of: (kind: SummaryKind) => SummaryItem[];
} {
  const { items } = extract(undefined, toMessages(said, isEchoed), { project: "work", active: true });
  return {
    items,
    told: items.map(({ kind, entryId, text }) => `${kind} [${entryId}] ${text}`).join("\n"),
    of: (kind) => items.filter((item) => item.kind === kind),
  };
}

/** What was expected and is not there. */
function missing(items: readonly SummaryItem[], expected: readonly Expected[]): string[] {
  return expected.flatMap(([entry, words]) => {
    const entries = [entry].flat().map((number) => `e${number}`);
    const isThere = items.some(({ entryId, text }) => entries.includes(entryId) && words.test(text));
    return isThere ? [] : [`${entries.join(" or ")} ${String(words)}`];
  });
}
