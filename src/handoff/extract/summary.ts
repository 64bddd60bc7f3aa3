/** The summary's lines, taken from its items, so that the two never disagree. */
import type { StateSummary, SummaryItem, SummaryKind } from "../state.ts";

export function summaryOf(items: readonly SummaryItem[]): StateSummary {
  const texts = (kind: SummaryKind): string[] => items.filter((item) => item.kind === kind).map(({ text }) => text);
  return {
    lastTopic: texts("topic")[0] ?? "",
    inProgress: texts("in-progress"),
    blockers: texts("blocker"),
    decisions: texts("decision"),
    nextStep: texts("next-step")[0] ?? "",
  };
}
