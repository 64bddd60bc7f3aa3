/** What a turn used, as the messages in its transcript tell it. */
import type { EngineUsage } from "../../engine/engine.ts";
import type { EngineMessage } from "./turn-record.ts";

/** Of the newest answer that was counted; undefined when none was. */
export function usageOf(messages: readonly EngineMessage[]): EngineUsage | undefined {
  for (const message of messages.toReversed()) {
    if (message.role !== "assistant" || message.usage === undefined || !(message.usage.totalTokens > 0)) continue;
    const { provider = "unknown", model = "unknown", usage } = message;
    const { input, output, cacheRead, cacheWrite } = usage;
    return { provider, model, input, output, cacheRead, cacheWrite };
  }
  return undefined;
}
