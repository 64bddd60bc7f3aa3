/** The texts of a session as a row shows them: short, and on one line each. */
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { excerptLine } from "../model-text.ts";

const TEXT_LENGTH = 200;

/** What the session is about, in the words of whoever knows best. */
export function taskOf({ lastTask, title, lastPrompt, firstMessage }: DiscoveredSession): string {
  return shortText(lastTask ?? title ?? lastPrompt ?? firstMessage);
}

export function shortText(text: string): string {
  return excerptLine(text, TEXT_LENGTH);
}

/** The registry's count, unless it has counted nothing yet; else by list prices. */
export function costOf({ totalCostUsd, estimatedCostUsd }: DiscoveredSession): number | undefined {
  const cost = totalCostUsd === undefined || totalCostUsd === 0 ? (estimatedCostUsd ?? totalCostUsd) : totalCostUsd;
  return cost === undefined ? undefined : Number(cost.toFixed(4));
}
