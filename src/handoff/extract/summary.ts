/** The summary's lines, taken from its items, so that the two never disagree. */
import type { StateSummary, SummaryItem, SummaryKind } from "../state.ts";

/** What it is about, in the order of preference. */
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
