/** What is known of the turn that runs, and what becomes of it: from messages to one typed outcome. */
import { printable } from "../../../base/printable.ts";
import type { OutboundMessage, ResultMessage, TokenUsage } from "../../protocol/messages.ts";
import type { ClaudeExit, ClaudeTurn, TurnOutcome } from "./claude-process.ts";

/** Why we ended a turn ourselves. */
export type TurnEnding = "interrupted" | "timed-out";

export interface TurnRecord {
  observe(message: OutboundMessage): void;
  /** The turn has a result. */
  conclude(result: ResultMessage, facts: TurnFacts): ClaudeTurn;
  /** The process is gone and left none. */
  breakOff(exit: ClaudeExit, facts: TurnFacts): ClaudeTurn;
}

export interface TurnFacts {
  sessionId: string | undefined;
  ending: TurnEnding | undefined;
  costUsd: number;
  totalCostUsd: number;
  durationMs: number;
  /** The process itself can take another message. */
  isOpen: boolean;
}

/** More than anybody reads of a turn that came to nothing. */
const SAID_LENGTH = 1_000_000;
const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
/** What Claude Code says of a session that is not there. */
const STALE = /^(?:Error: )?(?:No conversation found with session ID|--resume requires a valid session)/;
/** After these the process would only refuse. */
const FINAL: ReadonlySet<TurnOutcome> = new Set(["stale-resume", "limit-budget", "crashed"]);

export function createTurnRecord(): TurnRecord {
  let said: string[] = [];
  let length = 0;
  /** Of the block that is being written. */
  let partial = "";
  let compactions = 0;
  let apiError: string | undefined;

  const say = (text: string): void => {
    if (text === "" || length > SAID_LENGTH) return;
    said.push(text);
    length += text.length;
  };
  const everythingSaid = (): string => [...said, partial].filter((text) => text !== "").join("\n\n");

  return {
    observe(message) {
      if ("parentToolUseId" in message && message.parentToolUseId !== undefined) return;
      if (message.type === "compact_boundary") compactions += 1;
      else if (message.type === "stream_event") {
        if (message.event.kind === "message-start") partial = "";
        else if (message.event.kind === "text" && partial.length < SAID_LENGTH) partial += message.event.text;
      } else if (message.type === "assistant") {
        partial = "";
        apiError = message.apiError ?? apiError;
        if (message.apiError !== undefined) return;
        for (const block of message.blocks) if (block.type === "text") say(block.text);
      }
    },
    conclude(result, facts) {
      const outcome = outcomeOf(result, apiError, facts.ending);
      const error = errorOf(result, outcome);
      const answered = outcome === "completed" || outcome === "permission-denied";
      return {
        outcome,
        text: answered ? result.text : everythingSaid(),
        sessionId: facts.sessionId,
        costUsd: facts.costUsd,
        totalCostUsd: facts.totalCostUsd,
        usage: result.usage,
        numTurns: result.numTurns,
        durationMs: facts.durationMs,
        denials: result.denials,
        compactions,
        ...(error === undefined ? {} : { error }),
        ...(result.apiStatus === undefined ? {} : { apiStatus: result.apiStatus }),
        canContinue: facts.isOpen && !FINAL.has(outcome),
      };
    },
    breakOff(exit, facts) {
      return {
        outcome: facts.ending ?? "crashed",
        text: everythingSaid(),
        sessionId: facts.sessionId,
        costUsd: facts.costUsd,
        totalCostUsd: facts.totalCostUsd,
        usage: NO_USAGE,
        numTurns: 0,
        durationMs: facts.durationMs,
        denials: [],
        compactions,
        error: describeExit(exit),
        canContinue: false,
      };
    },
  };
}

function outcomeOf(result: ResultMessage, apiError: string | undefined, ending: TurnEnding | undefined): TurnOutcome {
  if (result.subtype === "error_max_turns") return "limit-turns";
  if (result.subtype === "error_max_budget_usd") return "limit-budget";
  if (result.errors.some((error) => STALE.test(error))) return "stale-resume";
  if (result.terminalReason?.startsWith("aborted") === true) return ending ?? "interrupted";
  if (result.isError) {
    if (ending !== undefined) return ending;
    if (result.apiStatus === 429 || apiError === "rate_limit") return "rate-limited";
    // The API's refusals come as a success that is an error.
    return result.subtype === "success" || result.apiStatus !== undefined ? "api-error" : "crashed";
  }
  return result.denials.length > 0 ? "permission-denied" : "completed";
}

function errorOf(result: ResultMessage, outcome: TurnOutcome): string | undefined {
  switch (outcome) {
    case "completed":
      return undefined;
    case "permission-denied":
      return `not allowed: ${[...new Set(result.denials.map(({ toolName }) => toolName))].join(", ")}`;
    case "interrupted":
      return "the turn was interrupted";
    case "timed-out":
      return "the turn took too long";
    default:
      return printable(result.errors.join("; ") || result.text || result.subtype);
  }
}

function describeExit({ code, signal, stderr }: ClaudeExit): string {
  const how = signal === undefined ? `with exit code ${code}` : `by ${signal}`;
  const last = printable(stderr.trim());
  return `claude ended ${how} before the turn had a result${last === "" ? "" : `: ${last}`}`;
}
