/** What a message took that no model wrote, or one that nobody pays for. */
import type { MessageUsage } from "./entries.ts";

export const NO_COST: MessageUsage["cost"] = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

export const NO_USAGE: MessageUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: NO_COST,
};
