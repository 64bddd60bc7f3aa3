/**
 * An error on its way to a client. What was raised on purpose says what to do; of anything else nothing
 * leaves but a reference to the log, because nobody has looked at what its message holds.
 */
import { nodeCrypto } from "../base/builtin.ts";
import { type ErrorReport, HoldfastError, errorOutcome, reportError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { redactValue } from "../base/redact.ts";

export function outgoingError(error: unknown, logger: Logger, place: string): ErrorReport {
  if (error instanceof HoldfastError) return redactValue(reportError(error)) as ErrorReport;
  const reference = nodeCrypto().randomUUID().slice(0, 8);
  logger.error("a request failed", { place, reference, error });
  return {
    code: "internal",
    kind: "internal",
    message: `Something went wrong inside the gateway (reference ${reference})`,
    hint: "Its log says more under this reference.",
    retryable: false,
  };
}

const STATUS_OF_CODE: Record<string, number> = {
  "token-missing": 401,
  "token-wrong": 401,
  "rate-limited": 429,
  "body-too-large": 413,
  "content-type": 415,
};

export function httpStatusOf(error: unknown): number {
  const special = error instanceof HoldfastError ? STATUS_OF_CODE[error.code] : undefined;
  return special ?? errorOutcome(error).httpStatus;
}
