/**
 * The bundled hook that captures a hand-off while the conversation is at hand. Without it, the same is captured from
 * the transcript when the next window starts.
 */
import type { Handoff } from "../handoff/handoff.ts";
import { CAPTURE_REASONS, type CaptureReason } from "../handoff/state.ts";
import type { BundledHook, HookEvent } from "./hook.ts";

export function createSessionHandoffHook(handoff: Pick<Handoff, "capture">): BundledHook {
  return {
    name: "session-handoff",
    handle: async (event) => {
      const reason = captureReason(event);
      if (reason === undefined) return;
      const { sessionKey, context } = event;
      // The session may have moved on while other hooks ran.
      await handoff.capture({ kind: "session", sessionKey, sessionId: context.sessionId }, reason);
    },
  };
}

/** Undefined: another event. */
function captureReason({ type, action, context }: HookEvent): CaptureReason | undefined {
  switch (`${type}:${action}`) {
    case "command:new":
      return "new";
    case "command:reset":
      return "reset";
    case "session:compact":
      return "compaction";
    case "session:end":
      return endReason(context.reason);
    // The conversation continues after it.
    case "command:stop":
      return "messages";
    default:
      return undefined;
  }
}

/** Maps the reason of a closed window to a capture reason. */
function endReason(reason: string | undefined): CaptureReason {
  if (reason === "command") return "reset";
  return CAPTURE_REASONS.find((known) => known === reason) ?? "ended";
}
