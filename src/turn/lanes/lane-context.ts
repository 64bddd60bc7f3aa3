/** What the parts of one lane have in common. */
import { type ErrorReport, reportError } from "../../base/errors.ts";
import { redactValue } from "../../base/redact.ts";
import type { ChannelCapabilities } from "../../channels/channel.ts";
import type { EngineUsage } from "../../engine/engine.ts";
import type { TakenLease } from "../../session/lease.ts";
import type { LaneControl } from "../commands/chat-command.ts";
import type { FinishOptions, Mutate, OutboxDraft } from "../../store/store.ts";
import type { ReplyPayload } from "../reply/payload.ts";
import { replyTarget } from "../reply/reply-target.ts";
import type { AgentParts } from "../turn.ts";
import type { TurnEnd, TurnOutcome } from "../turn-events.ts";
import type { WaitingItem } from "./classify.ts";
import { keepEnd } from "./kept-end.ts";
import type { LaneShared } from "./lane-parts.ts";
import type { SlotTicket } from "./slots.ts";

/** What a lane holds and is at. */
export interface LaneState {
  taken: TakenLease | undefined;
  ticket: SlotTicket | undefined;
  running: RunningStep | undefined;
  isDraining: boolean;
  /** Claimed here and not yet ended. */
  readonly mine: Set<number>;
  /** Put off for no fault of theirs, and not yet back in the queue. */
  readonly excuses: Map<number, string>;
  /** What is dealt with beside a turn; whoever gives the lease back waits for it. */
  readonly quickWork: Set<Promise<void>>;
  /** How many messages waited for a turn when it last looked. */
  waiting: number;
  /** Whether messages waited when the last turn ended. */
  isMore: boolean;
  /** In a row. */
  failures: number;
}

export interface RunningStep {
  items: WaitingItem[];
  startedAt: number;
  abort: AbortController;
  /** What was done for messages that came meanwhile; the turn's end waits for it. */
  attending: Promise<void>;
  isAttendDue: boolean;
  isEnding: boolean;
}

export function createLaneState(): LaneState {
  return {
    taken: undefined,
    ticket: undefined,
    running: undefined,
    isDraining: false,
    mine: new Set(),
    excuses: new Map(),
    quickWork: new Set(),
    waiting: 0,
    isMore: false,
    failures: 0,
  };
}

export interface LaneContext {
  shared: LaneShared;
  parts: AgentParts;
  key: string;
  state: LaneState;
  /** Pauses after the n-th failure in a row, and tells so. */
  pause(failures: number, error: unknown, itemId?: number): Promise<void>;
  /** What a command that came with this item may do to the lane. */
  control(item: WaitingItem): LaneControl;
}

/** How the work on some items ended, before it is written. */
export interface StepResult {
  outcome: TurnOutcome;
  payloads: ReplyPayload[];
  text?: string | undefined;
  sessionId?: string | undefined;
  /** What the turn leaves in the entry; written together with its end. */
  settle?: Mutate | undefined;
  usage?: EngineUsage | undefined;
  error?: unknown;
}

/** The same work has the same name for ever; the oldest item gives it. */
export function turnIdOf({ parts, key }: LaneContext, items: readonly WaitingItem[]): string {
  return `${parts.agent.agentId}:${items[0]?.item.id ?? 0}:${key}`;
}

/** The replies to the newest of the items. A reply that cannot be drafted must not repeat the turn. */
export async function draftsOf(
  lane: LaneContext,
  items: readonly WaitingItem[],
  { payloads }: Pick<StepResult, "payloads">,
): Promise<OutboxDraft[]> {
  const answered = items.at(-1);
  if (answered === undefined || !answered.deliver || payloads.length === 0) return [];
  const { parts, key, shared } = lane;
  try {
    const target = replyTarget(answered.ctx, await parts.agent.store.get(key));
    if (target === undefined) {
      shared.logger.warn("A reply has nowhere to go", { key, itemId: answered.item.id });
      return [];
    }
    const capabilities = shared.channels.find(target.channel, target.accountId)?.channel.capabilities ?? PLAIN_TEXT;
    const { workspace } = parts.agent;
    return await shared.draftReplies({ payloads, turnId: turnIdOf(lane, items), target, capabilities, workspace });
  } catch (error) {
    shared.logger.error("A reply could not be made ready for its channel", { key, error });
    return [];
  }
}

/** For a channel that is not configured in this process. */
const PLAIN_TEXT: ChannelCapabilities = { media: false, replies: false, threads: false, deduplicates: false };

export function endOf(lane: LaneContext, itemId: number, result: StepResult, startedAt: number): TurnEnd {
  const { outcome, text, sessionId, usage, error } = result;
  return {
    agentId: lane.parts.agent.agentId,
    sessionKey: lane.key,
    itemId,
    outcome,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(text === undefined ? {} : { text }),
    ...(usage === undefined ? {} : { usage }),
    // It leaves by events and answers: what a provider or a library says may quote a key.
    ...(error === undefined ? {} : { error: redactValue(reportError(error)) as ErrorReport }),
    durationMs: Math.max(0, lane.shared.clock.now() - startedAt),
  };
}

/** What is written with the end of these items. Words are kept where somebody in another process may wait for them. */
export function markOf(items: readonly WaitingItem[], end: TurnEnd): FinishOptions {
  const isAwaited = items.some(({ awaited }) => awaited);
  return { note: end.outcome, ...(isAwaited ? { ending: keepEnd(end) } : {}) };
}

/** Tells the end of a turn or command to everybody, once it is written. */
export function tellEnd({ shared }: LaneContext, items: readonly WaitingItem[], end: TurnEnd): void {
  const ids = items.map(({ item }) => item.id);
  shared.onEnded(ids, end);
  shared.events.emit({ type: "turn.ended", ...end });
}
