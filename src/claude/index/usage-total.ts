/** Tokens of several days and models together, and what they cost. */
import type { DayUsage } from "../native/usage.ts";
import { tokenCost } from "../pricing.ts";

export interface UsageTotal {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  messages: number;
  costUsd: number;
  pricedMessages: number;
  unpricedTokens: number;
}

export function emptyTotal(): UsageTotal {
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return { ...tokens, messages: 0, costUsd: 0, pricedMessages: 0, unpricedTokens: 0 };
}

export function addUsage(total: UsageTotal, usage: DayUsage): void {
  const [, model, input, output, cacheRead, cacheWrite, cacheWriteHour, messages] = usage;
  total.input += input;
  total.output += output;
  total.cacheRead += cacheRead;
  total.cacheWrite += cacheWrite;
  total.messages += messages;
  const cost = tokenCost(model, { input, output, cacheRead, cacheWrite, cacheWriteHour });
  if (cost === undefined) {
    total.unpricedTokens += input + output + cacheRead + cacheWrite;
  } else {
    total.costUsd += cost;
    total.pricedMessages += messages;
  }
}

/** Undefined when no model of it has a known price. */
export function totalCost(total: UsageTotal): number | undefined {
  return total.pricedMessages === 0 ? undefined : total.costUsd;
}
