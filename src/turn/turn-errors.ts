/** The errors that end or put off a turn, and the text of a failure for a chat. */
import { HoldfastError, errorMessage, errorOutcome, hasCode } from "../base/errors.ts";
import { redactText } from "../base/redact.ts";
import type { ReplyPayload } from "./reply/payloads.ts";
import { printableLine } from "../base/text.ts";

const MAX_SENTENCE = 500;

/** What happened and what to do, without secrets and stack traces. */
export function failureText(error: unknown): string {
  if (!(error instanceof HoldfastError)) {
    return "Your message could not be answered because of an unexpected error. See the log of Holdfast, then try again.";
  }
  const parts = [error.message, error.hint ?? ""].map((part) => printableLine(redactText(part), MAX_SENTENCE));
  return parts
    .filter((part) => part !== "")
    .map((part) => (/[.!?…]$/.test(part) ? part : `${part}.`))
    .join(" ");
}

export function errorPayload(error: unknown): ReplyPayload {
  return { text: failureText(error), isError: true };
}

export function failedResult(error: unknown) {
  const payload = errorPayload(error);
  return { outcome: "failed" as const, payloads: [payload], text: payload.text, error };
}

export function isFenced(error: unknown): boolean {
  return error instanceof HoldfastError && error.kind === "fenced";
}

export function isStoreClosed(error: unknown): boolean {
  return hasCode(error, "store-closed");
}

/** A failure of the store or the disk may pass. Any other would happen again. */
export function canPass(error: unknown): boolean {
  return errorOutcome(error).retryable;
}

/** Turns any error of a turn that has lost its lease into `fenced`. */
export function fencedError(error: unknown): unknown {
  if (isFenced(error)) return error;
  return new HoldfastError("fenced", "lease-lost", `The session was taken over: ${errorMessage(error)}`, {
    hint: "Another process continues with it. Nothing was changed.",
    cause: error,
  });
}

export function turnStopped(reason: string): HoldfastError {
  return new HoldfastError("interrupted", "turn-stopped", `The turn was stopped: ${reason}`, {
    hint: "Send the message again to have it answered.",
  });
}

export function turnInterrupted(): HoldfastError {
  return new HoldfastError("interrupted", "turn-interrupted", "A newer message interrupted the turn", {
    hint: "This is the session's queue mode; /queue followup lets turns finish.",
  });
}

const PUT_OFF_CODE = "turn-put-off";

/** The process ends; the next one answers the messages of the turn. */
export function turnPutOff(): HoldfastError {
  return new HoldfastError("interrupted", PUT_OFF_CODE, "The gateway is stopping", {
    hint: "The message is answered after the next start.",
  });
}

export function isPutOff({ aborted, reason }: AbortSignal): boolean {
  return aborted && hasCode(reason, PUT_OFF_CODE);
}

export function diedTooOften(deaths: number): HoldfastError {
  const message = `Your message could not be answered: the process ended ${deaths} times while it was being answered`;
  const hint = "Rephrase it, or send less at a time. See the gateway's log for details.";
  return new HoldfastError("internal", "turn-given-up", message, { hint, data: { deaths } });
}

/** For messages that shared a turn. Each is tried on its own next. */
export function diedTogether(deaths: number, messages: number): HoldfastError {
  const message = `These ${messages} messages could not be answered together: the process ended ${deaths} times`;
  const hint = "Each of them is answered separately now.";
  return new HoldfastError("internal", "turn-taken-apart", message, { hint, data: { deaths, messages } });
}

export function turnFailed(): HoldfastError {
  return new HoldfastError("internal", "turn-failed", "The message could not be answered", {
    hint: "Send it again. The gateway's log has the details.",
  });
}

export function turnTooSlow(seconds: number): HoldfastError {
  const message = `Your message was not answered within ${seconds} s and was given up`;
  const hint = "Ask again, or for less at a time; turns.timeoutSeconds sets the limit.";
  return new HoldfastError("timeout", "turn-timeout", message, { hint });
}

/** The message is in the archive. Answered elsewhere, its tools might do their work twice. */
export function turnArchived(): HoldfastError {
  const message =
    "Your message was interrupted, and its conversation was archived or deleted before it could be answered";
  return new HoldfastError("conflict", "turn-archived", message, {
    hint: "Send it again if you still want an answer.",
  });
}

export function commandTooSlow(name: string, seconds: number): HoldfastError {
  return new HoldfastError("timeout", "command-too-slow", `/${name} took longer than ${seconds} s`, {
    hint: "Try it again. The gateway's log has the details.",
  });
}
