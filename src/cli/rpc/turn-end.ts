/** How the end of a turn leaves the process. */
import { ERROR_KINDS, type ErrorReport, HoldfastError } from "../../base/errors.ts";
import { failureText } from "../../turn/run/failure-text.ts";
import type { TurnEnd } from "../../turn/turn-events.ts";

/** An error that came over the wire, as if it had been thrown here. */
export function errorFromReport({ code, kind, message, hint, data }: ErrorReport): HoldfastError {
  const known = Object.hasOwn(ERROR_KINDS, kind) ? kind : "internal";
  return new HoldfastError(known, code, message, { hint, data });
}

/** Undefined for a turn that ended as it should. */
export function turnFailure(end: Pick<TurnEnd, "outcome" | "error">): HoldfastError | undefined {
  switch (end.outcome) {
    case "failed":
      return end.error === undefined
        ? new HoldfastError("internal", "turn-failed", "The turn failed", { hint: "The gateway's log says why." })
        : errorFromReport(end.error);
    case "aborted":
      return new HoldfastError("interrupted", "turn-aborted", "The turn was stopped");
    case "dropped":
      return new HoldfastError("unavailable", "message-dropped", "The message was not answered: too many are waiting", {
        hint: "Try again when the session is quieter.",
      });
    default:
      return undefined;
  }
}

/** What there is to say about a turn that leaves nothing to show; undefined for any other. */
export function silenceText({ outcome, text }: { outcome: string; text?: string | undefined }): string | undefined {
  if (outcome === "silent") return "The agent chose not to answer.";
  if (outcome !== "answered" || (text !== undefined && text !== "")) return undefined;
  return "The answer is not delivered: the session's send policy keeps it back (`/send on` changes that), or it has no text.";
}

/** What was said until it failed: the text of a turn ends with the failure, which is told on stderr. */
export function saidBefore(failure: HoldfastError | undefined, text: string | undefined): string | undefined {
  if (failure === undefined || text === undefined) return text;
  const told = failureText(failure);
  if (!text.endsWith(told)) return text;
  const said = text.slice(0, -told.length).trimEnd();
  return said === "" ? undefined : said;
}
