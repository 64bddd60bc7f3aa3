/**
 * Tracks which turn a process is in and how it ends. Not every turn answers a message of ours: when a
 * background command ends, Claude Code starts a turn itself, and its result must not count as our answer.
 */
import type { OutboundMessage, ResultMessage } from "../../protocol/messages.ts";
import { carriesCostOver } from "../../registry/run-stats.ts";
import type { ClaudeEvent, ClaudeExit, ClaudeTurn, TurnOutcome } from "./claude-process.ts";
import { printable } from "../../../base/text.ts";

export type RunningTurn = ReturnType<typeof newTurn>;

/** Why Holdfast ends a turn early. */
export type TurnEnding = "interrupted" | "timed-out";

interface TurnKeeperOptions {
  costs: CostMeter;
  publish: (event: ClaudeEvent) => void;
  isOpen: () => boolean;
}

/** `/compact` sends a status long before its `init`. Hooks run before anything else and do not count. */
const SIGNS_OF_WORK: ReadonlySet<OutboundMessage["type"]> = new Set(["init", "status", "stream_event", "assistant"]);
/** After these outcomes the process would only refuse. */
const FINAL: ReadonlySet<TurnOutcome> = new Set(["stale-resume", "limit-budget", "crashed"]);

export function createTurnKeeper({ costs, publish, isOpen }: TurnKeeperOptions) {
  let current: RunningTurn | undefined;
  let sessionId: string | undefined;
  let version: string | undefined;

  const onResult = (result: ResultMessage): void => {
    const costUsd = costs.add(result.totalCostUsd, version);
    const turn = current ?? newTurn(undefined);
    const outcome = outcomeOf(result, turn);
    const hasAnswer = outcome === "completed" || outcome === "permission-denied";
    const ended: ClaudeTurn = {
      ...factsOf(turn, costUsd),
      outcome,
      text: hasAnswer ? result.text : textOf(turn),
      numTurns: result.numTurns,
      denials: result.denials,
      error: errorOf(result, outcome),
      apiStatus: result.apiStatus,
      canContinue: isOpen() && !FINAL.has(outcome),
    };
    const asked = turn.uuid !== undefined;
    // Claude Code started turns of any other origin itself.
    const answersOurs = turn.confirmed || result.origin === undefined || result.origin === "human";
    if (!asked || answersOurs) finish(ended, asked);
    else {
      // This turn was already running when our message arrived; ours comes next.
      Object.assign(turn, emptyRecord());
      publish({ type: "turn-ended", turn: ended, asked: false, sessionId });
    }
  };

  const finish = (ended: ClaudeTurn, asked: boolean): void => {
    const finished = current;
    current = undefined;
    publish({ type: "turn-ended", turn: ended, asked, sessionId });
    finished?.finish(ended);
  };

  const factsOf = ({ startedAt }: RunningTurn, costUsd: number) => ({
    sessionId,
    costUsd,
    totalCostUsd: costs.totalUsd,
    durationMs: Math.round(performance.now() - startedAt),
  });

  return {
    get sessionId() {
      return sessionId;
    },
    get current() {
      return current;
    },
    /** Starts a turn for our message with this uuid. No other turn may be running. */
    begin: (uuid: string): RunningTurn => (current = newTurn(uuid)),
    take(message: OutboundMessage): void {
      sessionId = message.sessionId ?? sessionId;
      if (message.type === "init") {
        version = message.version;
        current ??= newTurn(undefined);
      }
      if (current !== undefined) observe(current, message);
      if (message.type === "result") onResult(message);
    },
    breakOff(exit: ClaudeExit): void {
      if (current === undefined) return;
      const ended: ClaudeTurn = {
        ...factsOf(current, 0),
        outcome: current.ending ?? "crashed",
        text: textOf(current),
        numTurns: 0,
        denials: [],
        error: describeExit(exit),
        canContinue: false,
      };
      finish(ended, current.uuid !== undefined);
    },
  };
}

function newTurn(uuid: string | undefined) {
  const { promise, resolve } = Promise.withResolvers<ClaudeTurn>();
  return {
    /** Of our message; undefined for a turn that Claude Code started itself. */
    uuid,
    startedAt: performance.now(),
    over: promise,
    finish: resolve,
    /** Claude Code has echoed our message, so this turn answers it. */
    confirmed: false,
    ending: undefined as TurnEnding | undefined,
    ...emptyRecord(),
  };
}

function emptyRecord() {
  return {
    /** Resolves when Claude Code has begun to work on it. */
    begun: Promise.withResolvers<void>(),
    texts: [] as string[],
    length: 0,
    /** The block that is being streamed. */
    partial: "",
    apiError: undefined as string | undefined,
  };
}

const MAX_TEXT = 1_000_000;

function observe(turn: RunningTurn, message: OutboundMessage): void {
  if (SIGNS_OF_WORK.has(message.type)) turn.begun.resolve();
  if (message.type === "user" && message.uuid !== undefined && message.uuid === turn.uuid) turn.confirmed = true;
  if ("parentToolUseId" in message && message.parentToolUseId !== undefined) return;
  if (message.type === "stream_event") {
    if (message.event.kind === "message-start") turn.partial = "";
    else if (message.event.kind === "text" && turn.partial.length < MAX_TEXT) turn.partial += message.event.text;
  } else if (message.type === "assistant") {
    turn.partial = "";
    turn.apiError = message.apiError ?? turn.apiError;
    if (message.apiError !== undefined || turn.length > MAX_TEXT) return;
    const texts = message.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
    turn.texts.push(...texts);
    turn.length += texts.join("").length;
  }
}

function textOf({ texts, partial }: RunningTurn): string {
  return [...texts, partial].filter((text) => text !== "").join("\n\n");
}

/** Claude Code's messages about a session that does not exist. */
const STALE = /^(?:Error: )?(?:No conversation found with session ID|--resume requires a valid session)/;

function outcomeOf(result: ResultMessage, { apiError, ending }: RunningTurn): TurnOutcome {
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

type CostMeter = ReturnType<typeof createCostMeter>;

/** Computes the cost of each turn from totals that only grow. */
export function createCostMeter(resumedCostUsd: number | undefined) {
  let total: number | undefined;
  return {
    get totalUsd(): number {
      return total ?? 0;
    },
    add(next: number, version: string | undefined): number {
      const isCarriedOver = version !== undefined && carriesCostOver(version) !== false;
      const before = total ?? (isCarriedOver ? (resumedCostUsd ?? 0) : 0);
      total = next;
      // A lower total means that Claude Code restarted the count.
      return next < before ? next : next - before;
    },
  };
}
