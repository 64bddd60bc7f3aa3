/**
 * What can go wrong with a request to a model, as errors that tell a caller whether waiting, another
 * key or another model helps. Neither the request nor the body of an answer is kept in them: both may
 * hold what nobody wants in a log.
 */
import { type ErrorKind, HoldfastError, errorMessage } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { printableLine } from "../base/printable.ts";
import { redactText } from "../base/redact.ts";

export type ModelErrorCode =
  | "model-auth"
  | "model-rate-limited"
  | "model-timeout"
  | "model-interrupted"
  | "model-unreachable"
  | "model-refused"
  | "model-not-found"
  | "model-request-invalid"
  | "model-server-failed"
  | "model-answer-too-large"
  | "model-answer-unreadable";

interface Call {
  provider: string;
  model: string;
  signal?: AbortSignal | undefined;
}

export function modelError(error: unknown, call: Call): HoldfastError {
  const own = findInChain(error, (link) => link instanceof HoldfastError);
  if (own instanceof HoldfastError) return own;
  if (call.signal?.aborted === true) {
    return describe(isTimeout(call.signal.reason) ? "model-timeout" : "model-interrupted", error, call);
  }
  const failed = findInChain(error, (link) => isRecord(link) && typeof link["statusCode"] === "number");
  if (isRecord(failed) && typeof failed["statusCode"] === "number" && failed["statusCode"] >= 400) {
    return describe(codeOfStatus(failed["statusCode"]), error, call, {
      status: failed["statusCode"],
      ...retryAfter(failed["responseHeaders"]),
    });
  }
  return describe(isNetworkError(error) ? "model-unreachable" : "model-answer-unreadable", error, call);
}

/** A request that succeeded without anything in it. */
export function emptyAnswerError(call: Call): HoldfastError {
  return describe("model-answer-unreadable", undefined, call);
}

/** The provider's own filter, or the model itself, declined to answer. */
export function refusedError(call: Call): HoldfastError {
  return describe("model-refused", undefined, call);
}

const KINDS: Record<ModelErrorCode, { kind: ErrorKind; says: string; hint: string }> = {
  "model-auth": { kind: "forbidden", says: "refused the key", hint: "Check the key and what it may be used for." },
  "model-rate-limited": {
    kind: "unavailable",
    says: "has had too many requests",
    hint: "Wait a little, or raise the limit with the provider.",
  },
  "model-timeout": {
    kind: "timeout",
    says: "did not answer in time",
    hint: "Try again, take a faster model, or allow more time.",
  },
  "model-interrupted": { kind: "interrupted", says: "was interrupted", hint: "Ask again when you want the answer." },
  "model-unreachable": {
    kind: "unavailable",
    says: "cannot be reached",
    hint: "Check the network and providers.<name>.baseUrl.",
  },
  "model-refused": {
    kind: "forbidden",
    says: "declined to answer",
    hint: "Put the request in other words, or take another model.",
  },
  "model-not-found": {
    kind: "not-found",
    says: "does not know this model",
    hint: "Check the model's name and providers.<name>.baseUrl.",
  },
  "model-request-invalid": {
    kind: "usage",
    says: "does not accept the request",
    hint: "Check that the model takes what is asked of it, such as its number of tokens.",
  },
  "model-server-failed": { kind: "unavailable", says: "failed", hint: "Try again; the provider has a problem." },
  "model-answer-too-large": { kind: "unavailable", says: "sent too much", hint: "Check providers.<name>.baseUrl." },
  "model-answer-unreadable": {
    kind: "unavailable",
    says: "sent something that is no answer",
    hint: "Check that providers.<name>.baseUrl speaks the provider's protocol.",
  },
};

function describe(code: ModelErrorCode, cause: unknown, call: Call, data: object = {}): HoldfastError {
  const { kind, says, hint } = KINDS[code];
  const aborted = code === "model-timeout" || code === "model-interrupted";
  const detail = cause === undefined || aborted ? "" : `: ${printableLine(redactText(errorMessage(cause)), 200)}`;
  return new HoldfastError(kind, code, `${call.provider}/${call.model} ${says}${detail}`, {
    hint,
    data: { provider: call.provider, model: call.model, ...data },
  });
}

function codeOfStatus(status: number): ModelErrorCode {
  if (status === 401 || status === 403) return "model-auth";
  if (status === 404) return "model-not-found";
  if (status === 408 || status === 504) return "model-timeout";
  if (status === 429) return "model-rate-limited";
  return status < 500 ? "model-request-invalid" : "model-server-failed";
}

function retryAfter(headers: unknown): { retryAfterSeconds?: number } {
  const seconds = isRecord(headers) ? Number(headers["retry-after"]) : Number.NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? { retryAfterSeconds: seconds } : {};
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "TimeoutError";
}

/** The packages wrap a failed connection once or twice; what the system said is at the bottom. */
function isNetworkError(error: unknown): boolean {
  const found = findInChain(error, (link) => {
    return isRecord(link) && typeof link["code"] === "string" && /^(?:E(?!RR_)[A-Z]|UND_ERR)/.test(link["code"]);
  });
  return found !== undefined || /fetch failed|cannot connect|terminated/i.test(errorMessage(error));
}

function findInChain(error: unknown, matches: (link: unknown) => boolean): unknown {
  let link = error;
  for (let depth = 0; depth < 8 && link !== undefined && link !== null; depth++) {
    if (matches(link)) return link;
    link = isRecord(link) ? (link["cause"] ?? link["lastError"]) : undefined;
  }
  return undefined;
}
