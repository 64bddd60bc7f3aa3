/** Which lines of a hand-off a model writes. */
import type { ModelWork, SummaryItem, SummaryKind } from "./state.ts";

/** What a model may write. All other lines are facts. */
export const MODEL_KINDS = [
  "in-progress",
  "blocker",
  "decision",
  "accomplishment",
  "next-step",
] as const satisfies readonly SummaryKind[];

/** The model's lines instead of those that words were matched for, as long as nothing was said since. */
export function withModelItems(
  items: readonly SummaryItem[],
  model: ModelWork | undefined,
  { lastMessageIndex, project }: Pick<ModelWork, "lastMessageIndex" | "project">,
): SummaryItem[] {
  const isValid = model?.lastMessageIndex === lastMessageIndex && model.project === project && model.items.length > 0;
  if (!isValid) return [...items];
  return [...items.filter((item) => !isReplaced(item)), ...model.items];
}

function isReplaced({ kind, sessionId }: SummaryItem): boolean {
  return sessionId === undefined && MODEL_KINDS.some((one) => one === kind);
}
