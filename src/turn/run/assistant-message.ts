/** The last words of a turn that its engine could not say itself. */
import type { AssistantMessage } from "../../transcript/entries.ts";
import { NO_USAGE } from "../../transcript/no-usage.ts";

export interface LastWords {
  text: string;
  /** `provider/model`, as far as it is known. */
  model: string | undefined;
  stopReason: "stop" | "length" | "aborted" | "error";
  errorMessage?: string;
  timestamp: number;
}

export function createAssistantMessage(words: LastWords): AssistantMessage {
  const { text, model = "", stopReason, errorMessage, timestamp } = words;
  const slash = model.indexOf("/");
  return {
    role: "assistant",
    content: text === "" ? [] : [{ type: "text", text }],
    api: "holdfast",
    provider: slash > 0 ? model.slice(0, slash) : "holdfast",
    model: model.slice(slash + 1) || "unknown",
    usage: NO_USAGE,
    stopReason,
    ...(errorMessage === undefined ? {} : { errorMessage }),
    timestamp,
  };
}
