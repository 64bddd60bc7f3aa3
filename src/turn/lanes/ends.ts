/**
 * How turns end: the replies and the record that are committed with the end, and the callers that wait for
 * it. A turn that ends in this process is reported by the lane. The end of a turn in another process is read
 * from the store, where that process left it.
 *
 * A waiting caller keeps the process alive; while another process answers, nothing else does.
 */
import { type ErrorReport, reportError } from "../../base/errors.ts";
import { isRecord } from "../../base/json-record.ts";
import { redactValue } from "../../base/redact.ts";
import type { ChannelCapabilities } from "../../channels/channel.ts";
import type { LaneContext, StepResult, WaitingItem } from "../context.ts";
import type { AgentParts, TurnEnd, TurnOutcome } from "../pipeline.ts";
import { draftReplies, replyTarget } from "../reply/draft-replies.ts";
import { payloadMedia } from "../reply/payloads.ts";
import { turnIdOfItems } from "./queue.ts";
import { type FinishOptions, GIVEN_UP_NOTE, type InboxItem, type OutboxDraft } from "../../store/queues.ts";

/** Drafts the replies to the newest item. A reply that cannot be drafted must not repeat the turn. */
export async function draftsOf(
  lane: LaneContext,
  items: readonly WaitingItem[],
  { payloads, streamed, entry }: Pick<StepResult, "payloads" | "streamed" | "entry">,
  turnId = turnIdOfItems(lane, items),
): Promise<OutboxDraft[]> {
  const answered = items.at(-1);
  if (answered === undefined || !answered.deliver || (payloads.length === 0 && streamed === undefined)) return [];
  const { parts, key, pipeline } = lane;
  const { store, workspace } = parts.agent;
  try {
    const target = replyTarget(answered.ctx, entry ?? (await store.get(key)));
    if (target === undefined) {
      pipeline.logger.warn("A reply has no recipient", { key, itemId: answered.item.id });
      return [];
    }
    const capabilities = pipeline.channels.find(target.channel, target.accountId)?.channel.capabilities ?? PLAIN_TEXT;
    const request = { payloads, turnId, target, capabilities, workspace, media: store.media };
    if (streamed === undefined) return await draftReplies(request);
    const { draftStreamed } = await import("../reply/chat-blocks.ts");
    return await draftStreamed(request, streamed);
  } catch (error) {
    pipeline.logger.error("Could not prepare a reply for its channel", { key, error });
    return [];
  }
}

/** For a channel that is not configured in this process. */
const PLAIN_TEXT: ChannelCapabilities = { media: false, replies: false };

export function endOf(lane: LaneContext, itemId: number, result: StepResult, startedAt: number): TurnEnd {
  const { outcome, text, withheld, entry, usage, error } = result;
  const media = result.payloads.flatMap(payloadMedia);
  return {
    agentId: lane.parts.agent.agentId,
    sessionKey: lane.key,
    itemId,
    outcome,
    sessionId: entry?.sessionId,
    text,
    media: media.length === 0 ? undefined : media,
    withheld,
    usage,
    // Errors of providers and libraries may quote a key.
    error: error === undefined ? undefined : (redactValue(reportError(error)) as ErrorReport),
    durationMs: Math.max(0, lane.pipeline.clock.now() - startedAt),
  };
}

/** The record that is committed with the end. It has the answer if a caller in another process may wait for it. */
export function markOf(items: readonly WaitingItem[], end: TurnEnd, { givenUp }: StepResult): FinishOptions {
  const isAwaited = items.some(({ awaited }) => awaited);
  const { agentId: _agentId, sessionKey: _sessionKey, outcome, ...kept } = end;
  return { note: givenUp === true ? GIVEN_UP_NOTE : outcome, ...(isAwaited ? { ending: kept } : {}) };
}

export function tellEnd({ pipeline }: LaneContext, items: readonly WaitingItem[], end: TurnEnd): void {
  const ids = items.map(({ item }) => item.id);
  pipeline.onEnded(ids, end);
  pipeline.events.emit({ type: "turn.ended", ...end });
}

/** Undefined for a message that has not ended. Without a stored answer, the end has no text. */
function endOfItem(agentId: string, { id, key, state, note, ending }: InboxItem): TurnEnd | undefined {
  if (state !== "done" && state !== "dropped") return undefined;
  const noted = note === GIVEN_UP_NOTE ? "failed" : (OUTCOMES.find((outcome) => outcome === note) ?? "answered");
  const kept = isKeptEnd(ending) ? ending : { itemId: id, durationMs: 0 };
  return { agentId, sessionKey: key, ...kept, outcome: state === "dropped" ? "dropped" : noted };
}

const OUTCOMES: readonly TurnOutcome[] = ["answered", "silent", "command", "noted", "aborted", "failed", "dropped"];

/** Without the fields that the item has. */
function isKeptEnd(ending: unknown): ending is Omit<TurnEnd, "agentId" | "sessionKey" | "outcome"> {
  return isRecord(ending) && typeof ending["itemId"] === "number" && typeof ending["durationMs"] === "number";
}

const MAX_REMEMBERED = 500;
const LOOK_MS = 3_000;

export interface EndedTurnsOptions {
  /** Called periodically while a caller waits, because a store change may be missed. */
  look: () => void;
  /** Whether a lane of this process handles the message, and reports its end. */
  isOwn: (agentId: string, key: string, itemId: number) => boolean;
  /** Called once per turn that another process ended with a waiter here. `note` says why it was dropped. */
  onForeignEnd: (end: TurnEnd, note: string | undefined) => void;
}

export function createEndedTurns({ look, isOwn, onForeignEnd }: EndedTurnsOptions) {
  const waiting = new Map<string, { agentId: string; key: string; id: number } & PromiseWithResolvers<TurnEnd>>();
  const remembered = new Map<string, TurnEnd>();
  let looking: NodeJS.Timeout | undefined;
  let isStopped = false;

  const stopLooking = (): void => {
    clearInterval(looking);
    looking = undefined;
  };

  const settle = (name: string, end: TurnEnd): void => {
    waiting.get(name)?.resolve(end);
    waiting.delete(name);
    if (waiting.size === 0) stopLooking();
  };

  const remember = (name: string, end: TurnEnd): void => {
    remembered.set(name, end);
    const [oldest = ""] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED) remembered.delete(oldest);
  };

  return {
    wait: async ({ agent: { agentId } }: AgentParts, item: InboxItem): Promise<TurnEnd> => {
      const name = nameOf(agentId, item.id);
      const known = remembered.get(name) ?? endOfItem(agentId, item);
      if (known !== undefined) return known;
      const { key, id } = item;
      const waiter = waiting.get(name) ?? { agentId, key, id, ...Promise.withResolvers<TurnEnd>() };
      waiting.set(name, waiter);
      if (!isStopped) looking ??= setInterval(look, LOOK_MS);
      return await waiter.promise;
    },
    tell: (agentId: string, itemIds: readonly number[], end: TurnEnd): void => {
      for (const id of itemIds) {
        const name = nameOf(agentId, id);
        remember(name, end);
        settle(name, end);
      }
    },
    /** Checks whether another process ended awaited messages. Default key: all sessions of the agent. */
    check: async ({ agent }: AgentParts, key?: string): Promise<void> => {
      for (const [name, { agentId, key: itsKey, id }] of waiting) {
        if (agentId !== agent.agentId || (key !== undefined && key !== itsKey)) continue;
        const item = await agent.store.inbox.get(id);
        // An item is pruned long after its end.
        const pruned = { agentId, sessionKey: itsKey, itemId: id, outcome: "answered" as const, durationMs: 0 };
        const end = item === undefined ? pruned : endOfItem(agentId, item);
        if (end === undefined || !waiting.has(name) || isOwn(agentId, itsKey, id)) continue;
        settle(name, end);
        // Several messages may have ended with one turn, which is reported once.
        const turn = nameOf(end.agentId, end.itemId);
        if (remembered.has(turn)) continue;
        remember(turn, end);
        onForeignEnd(end, item?.note);
      }
    },
    stop: (): void => {
      isStopped = true;
      stopLooking();
    },
  };
}

function nameOf(agentId: string, itemId: number): string {
  return `${agentId} ${itemId}`;
}
