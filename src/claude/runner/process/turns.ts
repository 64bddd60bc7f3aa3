/**
 * Tracks which turn a process is in and how it ends. Not every turn answers a message of ours: when a
 * background command ends, Claude Code starts a turn itself, and its result must not count as our answer.
 */
import { carriesCostOver } from "../../registry/run-stats.ts";
import type { OutboundMessage, ResultMessage, TokenUsage } from "../../protocol/messages.ts";
import type { ClaudeEvent, ClaudeExit, ClaudeTurn, TurnOutcome } from "./claude-process.ts";
import { printable } from "../../../base/text.ts";

export interface TurnKeeper {
  /** From the latest message. */
  readonly sessionId: string | undefined;
  readonly current: RunningTurn | undefined;
  /** Starts a turn for our message with this uuid. No other turn may be running. */
  begin(uuid: string): RunningTurn;
  take(message: OutboundMessage): void;
  /** The process has ended, and with it the current turn. */
  breakOff(exit: ClaudeExit): void;
}

export interface RunningTurn {
  /** Of our message; undefined for a turn that Claude Code started itself. */
  readonly uuid: string | undefined;
  readonly startedAt: number;
  readonly over: Promise<ClaudeTurn>;
  readonly finish: (turn: ClaudeTurn) => void;
  record: TurnRecord;
  /** Resolves when Claude Code has begun to work on it. */
  begun: PromiseWithResolvers<void>;
  /** Claude Code has echoed our message, so this turn answers it. */
  confirmed: boolean;
  /** Why Holdfast ends the turn early. */
  ending: TurnEnding | undefined;
}

export type TurnEnding = "interrupted" | "timed-out";

interface TurnKeeperOptions {
  costs: CostMeter;
  publish: (event: ClaudeEvent) => void;
  /** Whether the process accepts another message. */
  isOpen: () => boolean;
}

/** `/compact` sends a status long before its `init`. Hooks run before anything else and do not count. */
const SIGNS_OF_WORK: ReadonlySet<OutboundMessage["type"]> = new Set(["init", "status", "stream_event", "assistant"]);

export function createTurnKeeper({ costs, publish, isOpen }: TurnKeeperOptions): TurnKeeper {
  let current: RunningTurn | undefined;
  let sessionId: string | undefined;
  let version: string | undefined;

  const onResult = (result: ResultMessage): void => {
    const costUsd = costs.add(result.totalCostUsd, version);
    const turn = current ?? newTurn(undefined);
    const ended = turn.record.conclude(result, factsOf(turn, costUsd));
    const asked = turn.uuid !== undefined;
    if (!asked || turn.confirmed || wasAsked(result)) finish(ended, asked);
    else {
      // This turn was already running when our message arrived; ours comes next.
      turn.record = createTurnRecord();
      turn.begun = Promise.withResolvers();
      publish({ type: "turn-ended", turn: ended, asked: false, sessionId });
    }
  };

  const finish = (ended: ClaudeTurn, asked: boolean): void => {
    const finished = current;
    current = undefined;
    publish({ type: "turn-ended", turn: ended, asked, sessionId });
    finished?.finish(ended);
  };

  const factsOf = ({ startedAt, ending }: RunningTurn, costUsd: number): TurnFacts => ({
    ending,
    isOpen: isOpen(),
    figures: {
      sessionId,
      costUsd,
      totalCostUsd: costs.totalUsd,
      durationMs: Math.round(performance.now() - startedAt),
    },
  });

  return {
    get sessionId() {
      return sessionId;
    },
    get current() {
      return current;
    },
    begin(uuid) {
      current = newTurn(uuid);
      return current;
    },
    take(message) {
      sessionId = message.sessionId ?? sessionId;
      if (message.type === "init") {
        version = message.version;
        current ??= newTurn(undefined);
      }
      if (current !== undefined && SIGNS_OF_WORK.has(message.type)) current.begun.resolve();
      if (message.type === "user" && message.uuid !== undefined && message.uuid === current?.uuid) {
        current.confirmed = true;
      }
      current?.record.observe(message);
      if (message.type === "result") onResult(message);
    },
    breakOff(exit) {
      if (current === undefined) return;
      finish(current.record.breakOff(exit, factsOf(current, 0)), current.uuid !== undefined);
    },
  };
}

function newTurn(uuid: string | undefined): RunningTurn {
  const { promise, resolve } = Promise.withResolvers<ClaudeTurn>();
  return {
    uuid,
    startedAt: performance.now(),
    over: promise,
    finish: resolve,
    record: createTurnRecord(),
    begun: Promise.withResolvers(),
    confirmed: false,
    ending: undefined,
  };
}

/** Claude Code started turns of any other origin itself. */
function wasAsked({ origin }: ResultMessage): boolean {
  return origin === undefined || origin === "human";
}

/** Collects the text of a turn and builds its outcome. */
interface TurnRecord {
  observe(message: OutboundMessage): void;
  conclude(result: ResultMessage, facts: TurnFacts): ClaudeTurn;
  /** The process ended without a result. */
  breakOff(exit: ClaudeExit, facts: TurnFacts): ClaudeTurn;
}

interface TurnFacts {
  ending: TurnEnding | undefined;
  isOpen: boolean;
  figures: Pick<ClaudeTurn, "sessionId" | "costUsd" | "totalCostUsd" | "durationMs">;
}

const MAX_TEXT = 1_000_000;
const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
/** Claude Code's messages about a session that does not exist. */
const STALE = /^(?:Error: )?(?:No conversation found with session ID|--resume requires a valid session)/;
/** After these outcomes the process would only refuse. */
const FINAL: ReadonlySet<TurnOutcome> = new Set(["stale-resume", "limit-budget", "crashed"]);

function createTurnRecord(): TurnRecord {
  const texts: string[] = [];
  let length = 0;
  /** The block that is being streamed. */
  let partial = "";
  let compactions = 0;
  let apiError: string | undefined;

  const add = (text: string): void => {
    if (text === "" || length > MAX_TEXT) return;
    texts.push(text);
    length += text.length;
  };
  const allText = (): string => [...texts, partial].filter((text) => text !== "").join("\n\n");

  return {
    observe(message) {
      if ("parentToolUseId" in message && message.parentToolUseId !== undefined) return;
      if (message.type === "compact_boundary") compactions += 1;
      else if (message.type === "stream_event") {
        if (message.event.kind === "message-start") partial = "";
        else if (message.event.kind === "text" && partial.length < MAX_TEXT) partial += message.event.text;
      } else if (message.type === "assistant") {
        partial = "";
        apiError = message.apiError ?? apiError;
        if (message.apiError !== undefined) return;
        for (const block of message.blocks) if (block.type === "text") add(block.text);
      }
    },
    conclude(result, { ending, isOpen, figures }) {
      const outcome = outcomeOf(result, apiError, ending);
      const hasAnswer = outcome === "completed" || outcome === "permission-denied";
      return {
        ...figures,
        outcome,
        text: hasAnswer ? result.text : allText(),
        usage: result.usage,
        numTurns: result.numTurns,
        denials: result.denials,
        compactions,
        error: errorOf(result, outcome),
        apiStatus: result.apiStatus,
        canContinue: isOpen && !FINAL.has(outcome),
      };
    },
    breakOff(exit, { ending, figures }) {
      return {
        ...figures,
        outcome: ending ?? "crashed",
        text: allText(),
        usage: NO_USAGE,
        numTurns: 0,
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
    // A refusal by the API has the subtype `success` and `isError`.
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

/** Computes the cost of each turn from totals that only grow. */
interface CostMeter {
  readonly totalUsd: number;
  /** Takes the next total and returns the difference to the previous one. */
  add(totalUsd: number, version: string | undefined): number;
}

export function createCostMeter(resumedCostUsd: number | undefined): CostMeter {
  let total: number | undefined;
  return {
    get totalUsd() {
      return total ?? 0;
    },
    add(next, version) {
      const isCarriedOver = version !== undefined && carriesCostOver(version) !== false;
      const before = total ?? (isCarriedOver ? (resumedCostUsd ?? 0) : 0);
      total = next;
      // A lower total means that Claude Code restarted the count.
      return next < before ? next : next - before;
    },
  };
}
