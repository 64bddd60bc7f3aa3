/** What a person in a chat is told of a failure: what happened and what to do, no secrets and no stack. */
import { HoldfastError } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import { redactText } from "../../base/redact.ts";

const LONGEST = 500;

export function failureText(error: unknown): string {
  if (!(error instanceof HoldfastError)) {
    return "Your message could not be answered because of an unexpected error. The log of Holdfast says more; try again.";
  }
  const parts = [error.message, error.hint ?? ""].map((part) => printableLine(redactText(part), LONGEST));
  return parts
    .filter((part) => part !== "")
    .map((part) => (/[.!?…]$/.test(part) ? part : `${part}.`))
    .join(" ");
}
