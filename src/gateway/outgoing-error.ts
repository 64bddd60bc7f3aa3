/**
 * Prepares an error for a client. A HoldfastError is sent, redacted. Any other error may contain secrets, so
 * the client only gets a reference to the log.
 */
import { nodeCrypto } from "../base/builtin.ts";
import { type ErrorReport, HoldfastError, errorOutcome, isOutOfFiles, reportError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { redactValue } from "../base/redact.ts";

export function outgoingError(thrown: unknown, logger: Logger, place: string): ErrorReport {
  const error = asKnownError(thrown);
  if (error instanceof HoldfastError) return redactValue(reportError(error)) as ErrorReport;
  const reference = nodeCrypto().randomUUID().slice(0, 8);
  logger.error("a request failed", { place, reference, error });
  return {
    code: "internal",
    kind: "internal",
    message: `Internal error in the gateway (reference ${reference})`,
    hint: "Look for this reference in the gateway's log.",
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

export function httpStatusOf(thrown: unknown): number {
  const error = asKnownError(thrown);
  const special = error instanceof HoldfastError ? STATUS_OF_CODE[error.code] : undefined;
  return special ?? errorOutcome(error).httpStatus;
}

/** Running out of file descriptors can happen anywhere and is temporary, not a defect. */
function asKnownError(error: unknown): unknown {
  if (error instanceof HoldfastError || !isOutOfFiles(error)) return error;
  return new HoldfastError("unavailable", "too-many-open-files", "The gateway has too many files open", {
    hint: "Try again in a moment, or start the gateway with a higher limit (ulimit -n).",
    cause: error,
  });
}
