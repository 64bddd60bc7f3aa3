/** What ends or puts off a turn, and what a person is told of it. */
import { HoldfastError, errorOutcome } from "../../base/errors.ts";
import type { ReplyPayload } from "../reply/payload.ts";
import { failureText } from "../run/failure-text.ts";

export function turnStopped(reason: string): HoldfastError {
  return new HoldfastError("interrupted", "turn-stopped", `The turn was stopped: ${reason}`, {
    hint: "Send the message again to have it answered.",
  });
}

export function turnInterrupted(): HoldfastError {
  return new HoldfastError("interrupted", "turn-interrupted", "A newer message interrupted the turn", {
    hint: "The queue mode of the session says so: /queue followup lets turns finish.",
  });
}

export const PUT_OFF_CODE = "turn-put-off";

/** The process ends; the turn's messages are queued again for the next one. */
export function turnPutOff(): HoldfastError {
  return new HoldfastError("interrupted", PUT_OFF_CODE, "The gateway is being stopped", {
    hint: "The message is answered when it runs again.",
  });
}

export function tooManyAttempts(attempts: number): HoldfastError {
  return new HoldfastError(
    "internal",
    "turn-never-ended",
    `The turn for this message was begun ${attempts} times and never ended`,
    { hint: "Send the message again, or in other words; the log of the gateway tells what happened." },
  );
}

export function commandTooSlow(name: string, seconds: number): HoldfastError {
  return new HoldfastError("timeout", "command-too-slow", `/${name} took longer than ${seconds} s`, {
    hint: "Try it again; the log of the gateway tells what happened.",
  });
}

export function isFenced(error: unknown): boolean {
  return error instanceof HoldfastError && error.kind === "fenced";
}

export function isStoreClosed(error: unknown): boolean {
  return error instanceof HoldfastError && error.code === "store-closed";
}

/** The store or the disk may be well again later; anything else would fail the same way again. */
export function canPass(error: unknown): boolean {
  return errorOutcome(error).retryable;
}

export function errorPayload(error: unknown): ReplyPayload {
  return { text: failureText(error), isError: true };
}
