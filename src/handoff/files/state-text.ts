/** A state as it stands in a file: readable, and redacted once more, whatever went before. */
import { redactValue } from "../../base/redact.ts";
import type { SessionState } from "../state.ts";

export function stateText(state: SessionState): string {
  return `${JSON.stringify(redactValue(state), null, 2)}\n`;
}
