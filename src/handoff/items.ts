/** The lines of a hand-off: their summary, the lines of a model, and the windows that they come from. */
import { SECTIONS } from "./patterns/note.ts";
import type { ModelWork, SessionState, StateSummary, SummaryItem, SummaryKind } from "./state.ts";

/** Kinds for `lastTopic`, best first. */
const TOPICS: readonly SummaryKind[] = ["topic", "in-progress", "blocker", "decision"];

export function summaryOf(items: readonly SummaryItem[]): StateSummary {
  const texts = (kind: SummaryKind): string[] => items.filter((item) => item.kind === kind).map(({ text }) => text);
  return {
    lastTopic: TOPICS.flatMap(texts)[0] ?? "",
    inProgress: texts("in-progress"),
    blockers: texts("blocker"),
    decisions: texts("decision"),
    nextStep: texts("next-step")[0] ?? "",
  };
}

/** True for a line of a section, false for facts. */
export function isLine({ kind }: Pick<SummaryItem, "kind">): boolean {
  return SECTIONS.some((section) => section === kind);
}

/** Leaves out a next step that a line above already says, for texts that people and engines read. */
export function withoutRepeats<Item extends Pick<SummaryItem, "kind" | "text">>(items: readonly Item[]): Item[] {
  const above = items.filter(({ kind }) => kind !== "next-step").map(({ text }) => comparable(text));
  return items.filter(({ kind, text }) => kind !== "next-step" || !above.some((one) => one.includes(comparable(text))));
}

function comparable(text: string): string {
  return text.toLowerCase().replace(/[.!\s]+$/, "");
}

/** Replaces detected lines with the model's, as long as there are no newer messages. */
export function withModelItems(
  items: readonly SummaryItem[],
  model: ModelWork | undefined,
  { lastMessageIndex, project }: Pick<ModelWork, "lastMessageIndex" | "project">,
): SummaryItem[] {
  const isValid = model?.lastMessageIndex === lastMessageIndex && model.project === project && model.items.length > 0;
  if (!isValid) return [...items];
  return [...items.filter((item) => !isReplaced(item)), ...model.items];
}

function isReplaced(item: SummaryItem): boolean {
  return item.sessionId === undefined && isLine(item);
}

/** Adds the window to lines from earlier windows. */
export function withWindows(items: readonly SummaryItem[], earlier: SessionState["earlier"]): SummaryItem[] {
  return items.map((item) => {
    const sessionId = earlierWindow(earlier, item.entryId);
    return sessionId === undefined ? item : { ...item, sessionId };
  });
}

/** An id of another tool can be any text, even `constructor`. */
export function earlierWindow(earlier: SessionState["earlier"], entryId: string): string | undefined {
  return earlier !== undefined && Object.hasOwn(earlier, entryId) ? earlier[entryId] : undefined;
}
