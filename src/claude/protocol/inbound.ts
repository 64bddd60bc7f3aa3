/** What is written to Claude Code's stdin, one line each. A malformed line there ends the process. */
import { encodeLine } from "../../base/jsonl.ts";
import type { ControlRequest } from "./messages.ts";

/** With `--replay-user-messages` the uuid comes back when the message's turn begins. */
export function encodeUserMessage(text: string, uuid: string): string {
  return encodeLine({ type: "user", message: { role: "user", content: text }, parent_tool_use_id: null, uuid });
}

export function encodeControlRequest(requestId: string, request: ControlRequest): string {
  return encodeLine({ type: "control_request", request_id: requestId, request });
}

/** The answer to a request of Claude Code's that is not understood. */
export function encodeControlRefusal(requestId: string, error: string): string {
  return encodeLine({ type: "control_response", response: { subtype: "error", request_id: requestId, error } });
}
