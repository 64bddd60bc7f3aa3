/**
 * Reads and parses what clients send, within limits. The body is read from Node's stream, because a chunked
 * body announces no length. The server's `requestTimeout` limits the time.
 */
import type { IncomingMessage } from "node:http";
import { HoldfastError, type ErrorReport, errorOutcome, isOutOfFiles, reportError } from "../base/errors.ts";
import { nodeCrypto } from "../base/builtin.ts";
import type { Logger } from "../base/log.ts";
import { redactValue } from "../base/redact.ts";

/** A chunked body announces no length. */
export function checkAnnouncedLength(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
}

/**
 * Rejects with `body-too-large` once more than `maxBytes` have arrived. The stream stays open, so that the
 * client gets its answer while it still sends; the server discards the rest for a moment, then hangs up.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  checkAnnouncedLength(request, maxBytes);
  const body = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    chunks.push(chunk);
    if (size > maxBytes) body.reject(bodyTooLarge(maxBytes));
  };
  const onEnd = (): void => body.resolve(Buffer.concat(chunks));
  const onBreak = (error?: Error): void => body.reject(brokenOff(error));
  request.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak);
  // An ended or destroyed stream emits nothing more.
  if (request.readableEnded) onEnd();
  else if (request.destroyed) onBreak();
  try {
    return new TextDecoder().decode(await body.promise);
  } finally {
    request.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
  }
}

function bodyTooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "body-too-large", `A request can have at most ${maxBytes} bytes`, {
    hint: "Send less, or raise gateway.maxBodyBytes in the configuration.",
    data: { maxBytes },
  });
}

/** The client hung up; not an error of the gateway, so it is not logged. */
function brokenOff(cause: Error | undefined): HoldfastError {
  return new HoldfastError("interrupted", "request-broken-off", "The request ended early", {
    hint: "Send it again.",
    cause,
  });
}

const MAX_DEPTH = 32;
const FORBIDDEN_NAMES = new Set(["__proto__", "constructor", "prototype"]);

/** Refuses deep nesting, and names that would reach an object's prototype. */
export function parseBoundedJson(text: string): unknown {
  // Node parses without recursion, however deep the text is nested.
  const value = parse(text);
  checkValue(value, 1);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may contain a secret.
    throw new HoldfastError("usage", "json-invalid", "The request is not valid JSON", {
      hint: "Send one JSON object, encoded in UTF-8.",
    });
  }
}

function checkValue(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_DEPTH) {
    throw new HoldfastError("usage", "json-too-deep", `JSON can be nested at most ${MAX_DEPTH} levels deep`, {
      hint: "No method needs more.",
    });
  }
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && FORBIDDEN_NAMES.has(name)) {
      throw new HoldfastError("usage", "json-name-forbidden", `JSON must not contain the name ${name}`, {
        hint: "Remove it.",
      });
    }
    checkValue(inner, depth + 1);
  }
}

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
