/**
 * Turns a failed model request into an error whose code says whether to wait, to change the key or to change the
 * model. Errors never contain the request or the body of an answer, so both stay out of logs.
 */
import { type ErrorKind, HoldfastError, errorMessage } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { redactText } from "../base/redact.ts";
import { printableLine } from "../base/text.ts";

export type ModelErrorCode = keyof typeof ERRORS;

interface Call {
  provider: string;
  model: string;
  signal?: AbortSignal | undefined;
}

export function modelError(error: unknown, call: Call): HoldfastError {
  const own = findInChain(error, (link) => link instanceof HoldfastError);
  if (own instanceof HoldfastError) return own;
  if (call.signal?.aborted === true) {
    const reason: unknown = call.signal.reason;
    const isTimeout = reason instanceof DOMException && reason.name === "TimeoutError";
    return describe(isTimeout ? "model-timeout" : "model-interrupted", error, call);
  }
  const failed = findInChain(error, (link) => isRecord(link) && typeof link["statusCode"] === "number");
  if (isRecord(failed) && typeof failed["statusCode"] === "number" && failed["statusCode"] >= 400) {
    const code = saysContextTooLong(error) ? "context-too-long" : codeOfStatus(failed["statusCode"]);
    const retryAfterSeconds = retryAfter(failed["responseHeaders"]);
    return describe(code, error, call, { status: failed["statusCode"], retryAfterSeconds });
  }
  return describe(codeOfWords(error), error, call);
}

/** Whether the same request may succeed a little later. Our own time limits do not count. */
export function isTransient(error: HoldfastError): boolean {
  return TRANSIENT.has(error.code) && !(error.code === "model-timeout" && error.data["status"] === undefined);
}

const TRANSIENT: ReadonlySet<string> = new Set<ModelErrorCode>([
  "model-rate-limited",
  "model-server-failed",
  "model-unreachable",
  "model-timeout",
]);

export function emptyAnswerError(call: Call): HoldfastError {
  return describe("model-answer-unreadable", undefined, call);
}

export function refusedError(call: Call): HoldfastError {
  return describe("model-refused", undefined, call);
}

/** Kind, what the model did, hint. */
const ERRORS = {
  "model-auth": ["forbidden", "rejected the key", "Check the key and its permissions."],
  "model-rate-limited": ["unavailable", "is rate limited", "Wait a moment, or raise your limit with the provider."],
  "model-timeout": ["timeout", "did not answer in time", "Try again, use a faster model, or allow more time."],
  "model-interrupted": ["interrupted", "was interrupted", "Ask again to get the answer."],
  "model-unreachable": ["unavailable", "cannot be reached", "Check the network and providers.<name>.baseUrl."],
  "model-refused": ["forbidden", "declined to answer", "Rephrase the request, or use another model."],
  "model-not-found": ["not-found", "does not know this model", "Check the model's name and providers.<name>.baseUrl."],
  "model-request-invalid": [
    "usage",
    "does not accept the request",
    "Check that the model supports the request, for example its number of tokens.",
  ],
  "context-too-long": [
    "usage",
    "cannot take a conversation this long",
    "Shorten it with /compact, start a new one with /new, or use a model with a larger window.",
  ],
  "model-server-failed": ["unavailable", "failed", "Try again later; the provider has a problem."],
  "model-answer-too-large": ["unavailable", "sent too much", "Check providers.<name>.baseUrl."],
  "model-answer-unreadable": [
    "unavailable",
    "sent an unreadable answer",
    "Check that providers.<name>.baseUrl uses the provider's protocol.",
  ],
} as const satisfies Record<string, readonly [ErrorKind, string, string]>;

function describe(code: ModelErrorCode, cause: unknown, call: Call, data: object = {}): HoldfastError {
  const [kind, says, hint] = ERRORS[code];
  const aborted = code === "model-timeout" || code === "model-interrupted";
  const detail =
    cause === undefined || aborted || isFormComplaint(cause)
      ? ""
      : `: ${printableLine(redactText(wordsOf(cause)), 200)}`;
  return new HoldfastError(kind, code, `${call.provider}/${call.model} ${says}${detail}`, {
    hint,
    data: { provider: call.provider, model: call.model, ...data },
  });
}

/** Validation errors of the packages quote the answer and list internal fields, so their text is not shown. */
function isFormComplaint(error: unknown): boolean {
  const found = findInChain(error, (link) => {
    return isRecord(link) && /TypeValidationError|ZodError/.test(String(link["name"]));
  });
  return found !== undefined;
}

function codeOfStatus(status: number): ModelErrorCode {
  if (status === 401 || status === 403) return "model-auth";
  if (status === 404) return "model-not-found";
  if (status === 408 || status === 504) return "model-timeout";
  if (status === 429) return "model-rate-limited";
  return status < 500 ? "model-request-invalid" : "model-server-failed";
}

/** Errors inside a stream have a type but no status. */
function codeOfWords(error: unknown): ModelErrorCode {
  if (saysContextTooLong(error)) return "context-too-long";
  const type = isRecord(error) ? `${String(error["type"])} ${String(error["code"])}` : "";
  if (/rate_limit|quota|RESOURCE_EXHAUSTED/i.test(type)) return "model-rate-limited";
  if (/authentication|permission|invalid_api_key|UNAUTHENTICATED|PERMISSION_DENIED/i.test(type)) return "model-auth";
  if (/invalid_request|INVALID_ARGUMENT/i.test(type)) return "model-request-invalid";
  if (/overloaded|server_error|api_error|UNAVAILABLE|INTERNAL/i.test(type)) return "model-server-failed";
  return isNetworkError(error) ? "model-unreachable" : "model-answer-unreadable";
}

/** The wording of each provider and of OpenAI-compatible servers. */
const CONTEXT_TOO_LONG = [
  /prompt is too long/i,
  /exceed(?:s|ed)? (?:the )?(?:context (?:limit|window|length)|available context size)/i,
  /context_length_exceeded|model_context_window_exceeded|request_too_large/i,
  /maximum context length/i,
  /input token count.{0,40}exceeds the maximum number of tokens/i,
  /(?:input|prompt|request).{0,60}(?:larger|longer) than (?:the )?(?:maximum|context)/i,
];

function saysContextTooLong(error: unknown): boolean {
  const words: string[] = [];
  for (let link = error, depth = 0; depth < 8 && isRecord(link); depth++) {
    const { type, code, responseBody } = link;
    words.push(wordsOf(link), String(type), String(code), typeof responseBody === "string" ? responseBody : "");
    link = link["cause"] ?? link["lastError"];
  }
  // Long texts are error pages of proxies.
  const said = words.map((text) => text.slice(0, 4000)).join("\n");
  return CONTEXT_TOO_LONG.some((pattern) => pattern.test(said));
}

/** Errors inside a stream are plain objects or strings. */
function wordsOf(error: unknown): string {
  if (isRecord(error) && typeof error["message"] === "string") return error["message"];
  return isRecord(error) ? (JSON.stringify(error) ?? "") : errorMessage(error);
}

/** Seconds or a date; OpenAI also sends milliseconds. */
function retryAfter(headers: unknown): number | undefined {
  if (!isRecord(headers)) return undefined;
  const { "retry-after": said, "retry-after-ms": saidInMs } = headers;
  const untilDate = Math.max(0, Math.ceil((Date.parse(String(said)) - Date.now()) / 1000));
  const seconds = [Number(saidInMs ?? Number.NaN) / 1000, Number(said ?? Number.NaN), untilDate];
  const found = seconds.find((value) => Number.isFinite(value));
  return found === undefined || found < 0 ? undefined : found;
}

/** The packages wrap a failed connection once or twice; the system error is the innermost cause. */
function isNetworkError(error: unknown): boolean {
  const found = findInChain(error, (link) => {
    return isRecord(link) && typeof link["code"] === "string" && /^(?:E(?!RR_)[A-Z]|UND_ERR)/.test(link["code"]);
  });
  return found !== undefined || /fetch failed|cannot connect|terminated|other side closed/i.test(wordsOf(error));
}

function findInChain(error: unknown, matches: (link: unknown) => boolean): unknown {
  let link = error;
  for (let depth = 0; depth < 8 && link !== undefined && link !== null; depth++) {
    if (matches(link)) return link;
    link = isRecord(link) ? (link["cause"] ?? link["lastError"]) : undefined;
  }
  return undefined;
}
