/**
 * What became of a run, for the person in the chat: nothing to say, a notice beside the answer, or an
 * error whose kind says whether the same message can succeed later.
 */
import { HoldfastError } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import type { ClaudeCodeResult } from "../../claude/runner/runner-contract.ts";

const REASON_LENGTH = 500;

/** Undefined: the turn came to its end. */
export function failureOf(result: ClaudeCodeResult, apiError: string | undefined): HoldfastError | undefined {
  const reason = printableLine(result.error ?? "no reason given", REASON_LENGTH);
  const { sessionId, apiStatus } = result;
  const facts = {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(apiStatus === undefined ? {} : { apiStatus }),
  };
  const fail = (...[kind, code, message, hint]: Failure): HoldfastError =>
    new HoldfastError(kind, code, message, { hint, data: facts });
  switch (result.outcome) {
    case "completed":
    case "permission-denied":
    case "limit-turns":
    case "limit-budget":
      return undefined;
    case "api-error":
      return fail(...refusal(result, apiError, reason));
    case "rate-limited":
      return fail("unavailable", "claude-rate-limited", `The model's limit is reached: ${reason}`, LATER);
    case "timed-out":
      return fail("timeout", "claude-timed-out", "Claude Code took too long and was stopped.", TOO_LONG);
    case "interrupted":
      return fail("interrupted", "claude-interrupted", "Somebody else stopped Claude Code.", "Send the message again.");
    case "stale-resume":
    case "crashed":
    default:
      return fail("unavailable", "claude-crashed", `Claude Code ended before it had answered: ${reason}`, TRY_BY_HAND);
  }
}

type Failure = [kind: HoldfastError["kind"], code: string, message: string, hint: string];

const LATER = "Wait until the limit is lifted, or choose another model with /model.";
const TOO_LONG = "Ask for less at once, or raise claudeCode.timeoutMinutes.";
const TRY_BY_HAND = "Try `claude` by hand in the agent's workspace: it says what is wrong.";
const LOG_IN = "On the gateway's machine run `claude` and /login, or set ANTHROPIC_API_KEY for the gateway.";

function refusal({ apiStatus }: ClaudeCodeResult, apiError: string | undefined, reason: string): Failure {
  if (apiError === "authentication_failed" || apiStatus === 401 || apiStatus === 403 || /\/login\b/.test(reason)) {
    return ["forbidden", "claude-not-logged-in", `Claude Code is not logged in: ${reason}`, LOG_IN];
  }
  if (apiStatus === undefined || apiStatus >= 500 || apiStatus === 408) {
    return ["unavailable", "claude-api-error", `The model could not be reached: ${reason}`, "Try again in a while."];
  }
  return ["usage", "claude-api-refused", `The model refused the request: ${reason}`, REFUSED];
}

const REFUSED = "Choose another model with /model, or begin anew with /new.";

/** What the person has to know although there is an answer. */
export function noticeOf(result: ClaudeCodeResult): string | undefined {
  switch (result.outcome) {
    case "limit-turns":
      return "Claude Code stopped at its limit of steps (claudeCode.maxTurns); ask it to go on if more is to be done.";
    case "limit-budget":
      return "Claude Code stopped because the budget of this conversation is used up: /new begins another, claudeCode.maxBudgetUsd sets the amount.";
    case "permission-denied": {
      const tools = [...new Set(result.denials.map(({ toolName }) => printableLine(toolName, 60)))].join(", ");
      return `Claude Code was not allowed to use: ${tools}. claudeCode.permissionMode and claudeCode.allowedTools say what it may do.`;
    }
    default:
      return undefined;
  }
}

/** What the runner refuses in the words of its commands, in the words of a chat. */
export function inChat(error: unknown): unknown {
  if (!(error instanceof HoldfastError) || error.code !== "budget-used-up") return error;
  return new HoldfastError(error.kind, error.code, error.message, {
    hint: "Begin another conversation with /new, or raise claudeCode.maxBudgetUsd.",
    data: error.data,
    cause: error,
  });
}
