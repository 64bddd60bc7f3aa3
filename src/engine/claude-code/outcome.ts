/**
 * Explains the end of a run to the person in the chat: nothing, a notice beside the answer, or an error
 * whose kind says whether the same message can succeed later.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { ClaudeCodeResult } from "../../claude/runner/runner-contract.ts";
import { printableLine } from "../../base/text.ts";

const REASON_LENGTH = 500;

/** Undefined: the run succeeded or hit a limit. */
export function failureOf(result: ClaudeCodeResult, apiError: string | undefined): HoldfastError | undefined {
  const reason = printableLine(result.error ?? "no reason given", REASON_LENGTH);
  const { sessionId, apiStatus } = result;
  const fail = (...[kind, code, message, hint]: Failure): HoldfastError =>
    new HoldfastError(kind, code, message, { hint, data: { sessionId, apiStatus } });
  switch (result.outcome) {
    case "completed":
    case "permission-denied":
    case "limit-turns":
    case "limit-budget":
      return undefined;
    case "api-error":
      return fail(...refusal(result, apiError, reason));
    case "rate-limited":
      return fail("unavailable", "claude-rate-limited", `The model's rate limit is reached: ${reason}`, LATER);
    case "timed-out":
      return fail("timeout", "claude-timed-out", "Claude Code took too long and was stopped.", TOO_LONG);
    case "interrupted":
      return fail("interrupted", "claude-interrupted", "Claude Code was stopped.", "Send the message again.");
    case "stale-resume":
    case "crashed":
    default:
      return fail("unavailable", "claude-crashed", `Claude Code exited before it answered: ${reason}`, TRY_BY_HAND);
  }
}

type Failure = [kind: HoldfastError["kind"], code: string, message: string, hint: string];

const LATER = "Wait until the limit resets, or choose another model with /model.";
const TOO_LONG = "Ask for less at once, or raise claudeCode.timeoutMinutes.";
const TRY_BY_HAND = "Run `claude` in the agent's workspace to see what is wrong.";
const LOG_IN = "On the gateway's machine run `claude` and /login, or set ANTHROPIC_API_KEY for the gateway.";

function refusal({ apiStatus }: ClaudeCodeResult, apiError: string | undefined, reason: string): Failure {
  if (apiError === "authentication_failed" || apiStatus === 401 || apiStatus === 403 || /\/login\b/.test(reason)) {
    return ["forbidden", "claude-not-logged-in", `Claude Code is not logged in: ${reason}`, LOG_IN];
  }
  if (apiStatus === undefined || apiStatus >= 500 || apiStatus === 408) {
    return ["unavailable", "claude-api-error", `The model could not be reached: ${reason}`, "Try again later."];
  }
  return ["usage", "claude-api-refused", `The model refused the request: ${reason}`, REFUSED];
}

const REFUSED = "Choose another model with /model, or start over with /new.";

export function noticeOf(result: ClaudeCodeResult): string | undefined {
  switch (result.outcome) {
    case "limit-turns":
      return "Claude Code reached its step limit (claudeCode.maxTurns). Ask it to continue if there is more to do.";
    case "limit-budget":
      return "Claude Code stopped: the budget of this conversation is used up. Start another with /new, or raise claudeCode.maxBudgetUsd.";
    case "permission-denied": {
      const tools = [...new Set(result.denials.map(({ toolName }) => printableLine(toolName, 60)))].join(", ");
      return `Claude Code was not allowed to use: ${tools}. See claudeCode.permissionMode and claudeCode.allowedTools.`;
    }
    default:
      return undefined;
  }
}

/** Replaces hints that name CLI commands with hints for a chat. */
export function inChat(error: unknown): unknown {
  if (!(error instanceof HoldfastError) || error.code !== "budget-used-up") return error;
  return new HoldfastError(error.kind, error.code, error.message, {
    hint: "Start another conversation with /new, or raise claudeCode.maxBudgetUsd.",
    data: error.data,
    cause: error,
  });
}
