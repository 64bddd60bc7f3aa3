/**
 * Knows which turn a process is in. Not every turn is about a message of ours: when a command in the
 * background ends, Claude Code begins one by itself, and its result must not be taken for our answer.
 */
import type { OutboundMessage, ResultMessage } from "../../protocol/messages.ts";
import type { ClaudeEvent, ClaudeExit, ClaudeTurn } from "./claude-process.ts";
import type { CostMeter } from "./cost-meter.ts";
import { type TurnEnding, type TurnFacts, type TurnRecord, createTurnRecord } from "./turn-record.ts";

export interface TurnKeeper {
  /** As the last message named it. */
  readonly sessionId: string | undefined;
  readonly current: RunningTurn | undefined;
  /** A turn about our message with this uuid. Nothing else may be under way. */
  begin(uuid: string): RunningTurn;
  take(message: OutboundMessage): void;
  /** The process is gone: whatever is under way has come to its end. */
  breakOff(exit: ClaudeExit): void;
}

export interface RunningTurn {
  /** Of our message; undefined for a turn that Claude Code began by itself. */
  readonly uuid: string | undefined;
  readonly startedAt: number;
  readonly over: Promise<ClaudeTurn>;
  readonly finish: (turn: ClaudeTurn) => void;
  record: TurnRecord;
  /** Claude Code has begun to work on it. */
  begun: PromiseWithResolvers<void>;
  /** Claude Code has sent our message back: this turn is about it. */
  confirmed: boolean;
  /** Set by whoever ends it early. */
  ending: TurnEnding | undefined;
}

export interface TurnKeeperOptions {
  costs: CostMeter;
  publish: (event: ClaudeEvent) => void;
  /** Whether the process can take another message. */
  isOpen: () => boolean;
}

/** `/compact` shows a status long before its `init`. Hooks run before anything else and are no sign. */
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
      // It was under way when our message came; the turn about ours is still to come.
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
    sessionId,
    ending,
    costUsd,
    totalCostUsd: costs.totalUsd,
    durationMs: Math.round(performance.now() - startedAt),
    isOpen: isOpen(),
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

/** Turns of any other origin were begun by Claude Code itself. */
function wasAsked({ origin }: ResultMessage): boolean {
  return origin === undefined || origin === "human";
}
