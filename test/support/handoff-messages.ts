/** Short ways to write the messages that a capture reads. */
import type { ReadMessage } from "../../src/handoff/state.ts";

const FIRST_AT = Date.UTC(2026, 9, 1, 9);

/**
 * One message each; its entry is `e1`, `e2`, …. The first character says who: `u` a person, `a` the agent's answer,
 * `>` the agent on its way (it called a tool), `t` a tool's result, `x` a tool's error, `!` the agent's turn was cut.
 */
export function toMessages(said: readonly string[], isEchoed = false): ReadMessage[] {
  return said.flatMap((line, index) => {
    const message: ReadMessage = {
      entryId: `e${index + 1}`,
      timestamp: new Date(FIRST_AT + index * 60_000).toISOString(),
      text: line.slice(2),
      ...roleOf(line),
    };
    return isEchoed ? [message, echoOf(message, index)] : [message];
  });
}

/** As the echo engine answers. */
function echoOf({ entryId, timestamp, text }: ReadMessage, index: number): ReadMessage {
  return {
    entryId: `${entryId}-echo`,
    timestamp,
    role: "assistant",
    text: `[echo] message ${index + 1} of this window: ${text}`,
    isEcho: true,
  };
}

function roleOf(line: string): Pick<ReadMessage, "role" | "isError" | "isCut" | "callsTools"> {
  switch (line[0]) {
    case "u":
      return { role: "user" };
    case "t":
      return { role: "tool" };
    case "x":
      return { role: "tool", isError: true };
    case "!":
      return { role: "assistant", isCut: true };
    case ">":
      return { role: "assistant", callsTools: true };
    default:
      return { role: "assistant" };
  }
}
