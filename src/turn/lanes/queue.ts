/**
 * What the queue of a session needs next: the settings, what each message needs, and which messages come
 * next. A repeated turn gets the same messages again, because its transcript already has them and a later
 * message would be taken as written. Each item records the turn that it was started in.
 */
import { isRecord } from "../../base/json-record.ts";
import { type QueueDrop, type QueueMode, QUEUE_DROPS, QUEUE_MODES } from "../../config/choices.ts";
import type { QueueConfig } from "../../config/config.ts";
import { isGroupMessage } from "../../keys/group.ts";
import { detectResetTrigger } from "../../session/reset-trigger.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import { commandText, isAddressed } from "../body/inbound.ts";
import type { LaneContext, Need, PipelineContext, WaitingItem } from "../context.ts";
import type { InboxPayload } from "../pipeline.ts";
import { type InboxItem, type Lease, isApart } from "../../store/queues.ts";

export async function look(lane: LaneContext) {
  const { pipeline, parts, key } = lane;
  const { store } = parts.agent;
  const [pending, entry] = await Promise.all([store.inbox.pending(key), store.get(key)]);
  const settings = resolveQueueSettings(entry, pipeline.config.turns.queue);
  const queued = pending.filter((item) => item.state === "queued").map((item) => classify(item, entry, pipeline));
  const orphans = pending.filter((item) => item.state === "running" && !lane.mine.has(item.id));
  const inOrder = queued.filter((waiting) => !isQuick(waiting));
  // A new session has no transcript yet that could keep a dropped message.
  const shed = entry === undefined ? [] : chooseShed(inOrder, settings, lane.running !== undefined);
  const left = inOrder.filter((waiting) => !shed.includes(waiting));
  const next = chooseNext(left, settings);
  const notBefore = startsAt(next, settings, pipeline.clock.now());
  lane.waiting = left.length;
  return {
    settings,
    queued,
    /** How many messages have not ended, in any process. */
    pending: pending.length,
    /** Running, but not in this lane. */
    orphans,
    quick: queued.filter(isQuick),
    shed,
    /** The messages of the next turn. Empty when none waits for a turn. */
    next,
    notBefore,
  };
}

/** The session's own settings, else the configuration. Values that are not valid are ignored. */
export function resolveQueueSettings(entry: Partial<SessionEntry> | undefined, configured: QueueConfig): QueueConfig {
  return {
    mode: QUEUE_MODES.find((mode: QueueMode) => mode === entry?.queueMode) ?? configured.mode,
    debounceMs: atLeast(0, entry?.queueDebounceMs) ?? configured.debounceMs,
    cap: atLeast(1, entry?.queueCap) ?? configured.cap,
    drop: QUEUE_DROPS.find((drop: QueueDrop) => drop === entry?.queueDrop) ?? configured.drop,
  };
}

function atLeast(min: number, value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) && value >= min ? value : undefined;
}

/** Decides what a message needs. Most need a turn; some can be handled while one runs. */
export function classify(item: InboxItem, entry: SessionEntry | undefined, pipeline: PipelineContext): WaitingItem {
  const { config, commands, mentionPatterns } = pipeline;
  const { ctx, deliver, awaited } = readPayload(item);
  const text = commandText({ ctx, mentionPatterns });
  const found = commands.find(text, ctx.BotUsername);
  const { triggered } = detectResetTrigger({
    ctx,
    resetTriggers: config.session.resetTriggers,
    isGroup: isGroupMessage(ctx),
    authorized: ctx.CommandAuthorized === true,
  });
  const isMeant = isAddressed({
    ctx,
    entry,
    mentionPatterns,
    defaultActivation: config.groups.activation,
    isCommand: triggered || found !== undefined,
  });
  return { item, ctx, deliver, awaited, need: needOf() };

  function needOf(): Need {
    if (!isMeant) return { what: "note" };
    if (triggered) return { what: "turn", alone: true };
    if (found !== undefined) return { what: "command", ...found };
    const mistyped = commands.answerMistyped(text);
    // A heartbeat is no one's message, so it never shares a turn with one.
    return mistyped === undefined
      ? { what: "turn", alone: ctx.IsHeartbeat === true }
      : { what: "answer", text: mistyped };
  }
}

/** A payload that is not a message counts as an empty one: another program may have written it. */
function readPayload({ payload }: InboxItem): InboxPayload {
  const { ctx, deliver, awaited } = isRecord(payload) ? payload : {};
  return { ctx: isRecord(ctx) ? ctx : {}, deliver: deliver !== false, awaited: awaited === true };
}

/** Whether it is handled at once, before messages that came earlier. A command that must run alone waits in line. */
export function isQuick({ need, item }: WaitingItem): boolean {
  if (need.what === "command") return need.command.when === "now" && !runsAlone(item);
  return need.what !== "turn";
}

/** Messages over the cap, not counting the one that can start now. Commands are never dropped. */
function chooseShed(inOrder: readonly WaitingItem[], settings: QueueConfig, isRunning: boolean): WaitingItem[] {
  const candidates = inOrder.filter(({ need, item }) => need.what === "turn" && !wasBegun(item));
  const begun = inOrder.some(({ item }) => wasBegun(item));
  const allowed = settings.cap + (isRunning || begun ? 0 : 1);
  const tooMany = Math.max(0, candidates.length - allowed);
  if (tooMany === 0) return [];
  return settings.drop === "new" ? candidates.slice(-tooMany) : candidates.slice(0, tooMany);
}

function chooseNext(left: readonly WaitingItem[], { mode }: QueueConfig): WaitingItem[] {
  const [head] = left;
  if (head === undefined) return [];
  const isTogether = mode === "collect" || mode === "interrupt" || wasBegun(head.item);
  if (!isTogether || !canJoin(head)) return [head];
  const end = left.findIndex((waiting) => !canJoin(waiting) || !canShareTurn(waiting, head));
  return left.slice(0, end === -1 ? undefined : end);
}

function canJoin({ need }: WaitingItem): boolean {
  return need.what === "turn" && !need.alone;
}

function canShareTurn(a: WaitingItem, b: WaitingItem): boolean {
  const [one, other] = [a, b].map(({ item }) => (wasBegun(item) ? turnOf(item) : undefined));
  return one === other && isSameReplyPlace(a, b);
}

/** The answer of a turn goes to one chat only. */
export function isSameReplyPlace(a: WaitingItem, b: WaitingItem): boolean {
  const [one, other] = [a.item.address, b.item.address];
  return (
    a.deliver === b.deliver &&
    one.channel === other.channel &&
    one.accountId === other.accountId &&
    one.chatId === other.chatId
  );
}

/** A steady flow of messages delays the turn by this many debounce times at most. */
const MAX_DEBOUNCES = 10;

function startsAt(next: readonly WaitingItem[], { mode, debounceMs }: QueueConfig, now: number): number {
  const [first] = next;
  const last = next.at(-1);
  if (mode !== "collect" || first === undefined || last === undefined) return now;
  if (!canJoin(first) || wasBegun(first.item)) return now;
  const quiet = last.item.receivedAt + debounceMs;
  const longest = first.item.receivedAt + debounceMs * MAX_DEBOUNCES;
  // A time of receipt in the future comes from a machine with another clock.
  return Math.min(quiet, longest, now + debounceMs);
}

export function wasBegun({ attempts, note }: InboxItem): boolean {
  return attempts > 0 || note !== undefined;
}

/** The name of the item's turn within its session. */
function turnOf({ id, turn }: InboxItem): string {
  return turn ?? String(id);
}

/** Derived from the oldest item, so a repeated turn has the same id. */
export function turnIdOfItems({ parts, key }: LaneContext, [head]: readonly WaitingItem[]): string {
  return `${parts.agent.agentId}:${head === undefined ? 0 : turnOf(head.item)}:${key}`;
}

/** True if they were claimed together with the lease. */
export function areClaimed(items: readonly WaitingItem[]): boolean {
  return items.every(({ item }) => item.state === "running");
}

export async function claimItems({ parts }: LaneContext, lease: Lease, next: readonly WaitingItem[]) {
  if (areClaimed(next)) return [...next];
  const ids = next.map(({ item }) => item.id);
  const [head] = next;
  // Messages that share a turn must share it again when it is repeated.
  const turn = next.length > 1 && head !== undefined ? turnOf(head.item) : undefined;
  const claimed = new Map((await parts.agent.store.inbox.claim(lease, { ids, turn })).map((item) => [item.id, item]));
  return next.flatMap((one) => {
    const item = claimed.get(one.item.id);
    return item === undefined ? [] : [{ ...one, item }];
  });
}

/*
 * How often a message is tried. When a process dies, every running turn dies with it, so a death proves
 * nothing against one message. After a few deaths a message therefore runs alone, the one with the fewest
 * deaths first, and only deaths while it ran alone count against it.
 */

/** Deaths after which a message runs alone. */
const SHARED_DEATHS = 3;
/** Deaths while running alone. High, so that a machine restarted in a loop does not give up messages. */
const LONE_DEATHS = 25;
/** Additional deaths for a message that is tried on its own after its batch was given up. */
const APART_DEATHS = 5;

type Tried = Pick<InboxItem, "attempts" | "turn">;

/** For a queued message: each of its attempts ended with the process. */
export function runsAlone({ attempts }: Tried): boolean {
  return attempts >= SHARED_DEATHS;
}

/** For a claimed message: whether it is given up. */
export function isSpent(item: Tried): boolean {
  return deathsOf(item) >= SHARED_DEATHS + LONE_DEATHS + (isApart(item) ? APART_DEATHS : 0);
}

/** For a claimed message: all attempts except the running one. */
export function deathsOf({ attempts }: Tried): number {
  return attempts - 1;
}
