/** What becomes of a message that could not be sent. */
import { backOffMs } from "../../base/back-off.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { redactText } from "../../base/redact.ts";
import type { OutboxItem } from "../../store/store.ts";

export type FailureVerdict =
  | { do: "retry"; dueAt: number; note: string }
  /** It would fail the same way again, or has waited long enough. */
  | { do: "give-up"; note: string };

const GIVE_UP_MS = 24 * 60 * 60 * 1000;
const PAUSES = { firstMs: 1000, maxMs: 5 * 60 * 1000 };
/** A defect may be a passing one, but hardly for a day. */
const DEFECT_ATTEMPTS = 5;

/** Begins the note of an attempt of which nobody knows whether it arrived. */
const UNKNOWN = "may have arrived: ";

/** `item` as it was before the attempt. */
export function judgeFailure(item: OutboxItem, error: unknown, now: number): FailureVerdict {
  const reason = redactText(errorMessage(error));
  const attempts = item.attempts + 1;
  const isOld = now - item.createdAt >= GIVE_UP_MS;
  const isDefect = !(error instanceof HoldfastError);
  if (isOld || (isDefect && attempts >= DEFECT_ATTEMPTS)) {
    return { do: "give-up", note: `${reason} (given up after ${attempts} attempts)` };
  }
  if (!isDefect && !PASSING.has(error.kind)) return { do: "give-up", note: reason };
  const asked = isDefect ? undefined : error.data["retryAfterMs"];
  const pause = typeof asked === "number" && asked >= 0 ? asked : 0;
  const dueAt = now + Math.max(pause, backOffMs(attempts, PAUSES));
  const isUnknown = isDefect || error.kind === "timeout";
  return { do: "retry", dueAt, note: isUnknown ? `${UNKNOWN}${reason}` : reason };
}

/** Whether the platform may have the message already. */
export function mayRepeat({ state, note }: OutboxItem): boolean {
  return state === "sending" || note?.startsWith(UNKNOWN) === true;
}

const PASSING: ReadonlySet<string> = new Set(["unavailable", "timeout", "locked"]);

export function sendTimedOut(channel: string, ms: number): HoldfastError {
  return new HoldfastError("timeout", "send-timed-out", `${channel} did not answer within ${Math.round(ms / 1000)} s`, {
    hint: "It is sent again. If this stays so, restart the gateway.",
  });
}
