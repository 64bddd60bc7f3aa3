/**
 * The way of a message through one process: admitted into its agent's inbox, answered in the lane of its
 * session, delivered from the outbox. Everything that must survive is in the stores; a process that dies
 * at any point leaves items that the next one, or another one, goes on with.
 */
import type { Clock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import type { Logger } from "../base/log.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { resolveInboundSessionKey } from "../keys/inbound.ts";
import { normalizeAgentId } from "../keys/names.ts";
import { parseAgentSessionKey } from "../keys/session-key.ts";
import { finalizeInboundContext } from "./body/inbound-context.ts";
import { compileMentionPatterns } from "./body/mentions.ts";
import type { ChatCommands } from "./commands/chat-command.ts";
import { createDelivery } from "./delivery/delivery.ts";
import { createEndedTurns } from "./lanes/ended.ts";
import type { DraftReplies, RunTurn } from "./lanes/lane-parts.ts";
import { createLanes } from "./lanes/lanes.ts";
import { createSlots } from "./lanes/slots.ts";
import { turnStopped } from "./lanes/turn-errors.ts";
import type { AddressedMessage, Admitted, InboxPayload, Pipeline, PipelineStatus } from "./pipeline.ts";
import type { AgentPool, ChannelPool } from "./pools.ts";
import type { AgentParts } from "./turn.ts";
import { type TurnEnd, type TurnEvents, createTurnEvents } from "./turn-events.ts";

export interface PipelineOptions {
  config: HoldfastConfig;
  agents: AgentPool;
  channels: ChannelPool;
  commands: ChatCommands;
  runTurn: RunTurn;
  draftReplies: DraftReplies;
  clock: Clock;
  logger: Logger;
  /** Left out: events of its own. */
  events?: TurnEvents;
  /** How long a channel may take to send. Left out: a minute. */
  sendTimeoutMs?: number;
}

export interface StartedPipeline extends Pipeline {
  /** Goes on with what is pending, now and whenever another process leaves something behind. */
  start(): Promise<void>;
}

const SWEEP_MS = 3_000;
const PRUNE_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** How long replies that are due may take to be sent when the process ends. */
const DELIVERY_GRACE_MS = 5_000;

/** Each turn of Claude Code is a process of 200 MB or more; those of other engines mostly wait. */
const CLAUDE_CODE_TURNS = 4;

function turnsOf({ turns, agents }: HoldfastConfig, agentId: string): number {
  const usual = agents[agentId]?.engine === "claude-code" ? CLAUDE_CODE_TURNS : turns.concurrency;
  return turns.concurrencyPerAgent ?? usual;
}

export function createPipeline(options: PipelineOptions): StartedPipeline {
  const { config, agents, channels, clock, logger } = options;
  const events =
    options.events ?? createTurnEvents((error) => logger.error("A listener of turn events failed", { error }));
  const counts = { admitted: 0, duplicates: 0, turns: 0, failed: 0, dropped: 0 };
  const sent = { delivered: 0, mayRepeat: 0, failed: 0 };
  const ended = createEndedTurns({
    look: () => {
      for (const parts of agents.opened()) checkEnded(parts);
    },
    onForeignEnd: (end, note) => tellForeignEnd(end, note),
  });
  const lanes = createLanes({
    ...options,
    events,
    slots: createSlots({ total: config.turns.concurrency, perAgent: (agentId) => turnsOf(config, agentId) }),
    mentionPatterns: compileMentionPatterns(config.groups.mentionPatterns),
    onOthersDone: (parts, key) => checkEnded(parts, key),
    onEnded: (itemIds, end) => {
      count(end, itemIds.length);
      ended.tell(end.agentId, itemIds, end);
    },
  });
  const delivery = createDelivery(
    { clock, logger, events, counts: sent, sendTimeoutMs: options.sendTimeoutMs },
    channels,
  );
  const opened = new Map<string, Promise<AgentParts>>();
  let isDraining = false;
  let sweeping: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let prunedAt = 0;

  const count = ({ outcome }: TurnEnd, items: number): void => {
    if (outcome === "dropped") counts.dropped += items;
    else if (outcome !== "noted" && outcome !== "command") counts.turns += 1;
    if (outcome === "failed") counts.failed += 1;
  };

  /** All who wait for an agent go on in the order in which they came. */
  const open = (agentId: string): Promise<AgentParts> => {
    const known = opened.get(agentId);
    if (known !== undefined) return known;
    const opening = agents.open(agentId).then((parts) => {
      watch(parts);
      return parts;
    });
    opened.set(agentId, opening);
    opening.catch(() => opened.delete(agentId));
    return opening;
  };

  const watch = (parts: AgentParts): void => {
    const { agentId, store } = parts.agent;
    store.onChange(({ what, key, route }) => {
      if (what === "outbox") delivery.wake(parts, { key, ...(route === undefined ? {} : { route }) });
      if (what === "inbox" || what === "lease") lanes.nudge(agentId, key, what);
      if (what === "handoff") events.emit({ type: "handoff.changed", agentId, sessionKey: key });
      if (what === "inbox" && !lanes.has(agentId, key)) checkEnded(parts, key);
    });
    delivery.wake(parts);
  };

  const checkEnded = (parts: AgentParts, key?: string): void => {
    ended.check(parts, key).catch((error: unknown) => {
      logger.warn("Could not look whether a message was answered; the next look may", { key, error });
    });
  };

  /** Whoever watches a session is told of its ends in the same words, whichever process they are from. */
  const tellForeignEnd = (end: TurnEnd, note: string | undefined): void => {
    const { agentId, sessionKey, itemId } = end;
    if (end.outcome !== "dropped") events.emit({ type: "turn.ended", ...end });
    else events.emit({ type: "message.dropped", agentId, sessionKey, itemIds: [itemId], reason: note ?? "dropped" });
  };

  const admit = async (message: AddressedMessage): Promise<Admitted> => {
    const agentId = agentOf(message, options);
    const parts = await open(agentId);
    const ctx = finalizeInboundContext(message.ctx);
    const key = resolveInboundSessionKey(ctx, { agentId, session: config.session });
    // The lease of this very session is held for the turn, whatever the configuration says by then.
    const { address, receivedAt, deliver = true, awaited = !deliver } = message;
    const payload: InboxPayload = { ctx: { ...ctx, SessionKey: key }, deliver, awaited };
    const admitting = parts.agent.store.inbox.admit({ key, address, payload, receivedAt });
    // Most often the session is free: its lease is then taken in the same commit.
    lanes.prepare(parts, key);
    const { admitted, item } = await admitting;
    faultPoint("inbox.admitted");
    counts[admitted ? "admitted" : "duplicates"] += 1;
    const waiting = ended.wait(parts, item);
    // Also one that was admitted before: whoever did so may have died before anybody looked at it.
    if (item.state === "queued") lanes.serve(parts, item.key);
    if (admitted) {
      const { queued } = lanes;
      events.emit({ type: "message.admitted", agentId, sessionKey: item.key, itemId: item.id, queued });
    }
    return { admitted, item, agentId, sessionKey: item.key, ended: waiting };
  };

  /** Goes on with what nobody is at. */
  const sweep = async (): Promise<void> => {
    for (const agentId of await agents.list()) {
      try {
        const parts = await open(agentId);
        await sweepAgent(parts);
      } catch (error) {
        logger.error("An agent's messages could not be looked at; trying again", { agentId, error });
      }
    }
    if (clock.now() - prunedAt >= PRUNE_MS || clock.now() < prunedAt) await prune();
  };

  const sweepAgent = async (parts: AgentParts): Promise<void> => {
    const { agentId, store } = parts.agent;
    const keys = new Set((await store.inbox.pending()).map(({ key }) => key));
    for (const key of keys) {
      if (isDraining) return;
      if (lanes.has(agentId, key)) continue;
      if ((await store.leases.current(key)) === undefined) lanes.serve(parts, key);
    }
    await delivery.reportWaiting(parts);
  };

  const prune = async (): Promise<void> => {
    prunedAt = clock.now();
    const before = prunedAt - config.turns.keepFinishedDays * DAY_MS;
    for (const { agent } of agents.opened()) {
      try {
        await agent.store.inbox.prune(before);
        await agent.store.outbox.prune(before);
      } catch (error) {
        logger.warn("Old messages could not be forgotten; trying again later", { agentId: agent.agentId, error });
      }
    }
  };

  const sweepInTurn = async (): Promise<void> => {
    await (sweeping ??= sweep()
      .catch((error: unknown) => logger.error(`Pending messages could not be looked for: ${errorMessage(error)}`))
      .finally(() => (sweeping = undefined)));
  };

  const drain = async (): Promise<void> => {
    isDraining = true;
    clearInterval(timer);
    ended.stop();
    await lanes.drain(config.turns.drainSeconds * 1000);
    await delivery.stop(DELIVERY_GRACE_MS);
    await sweeping;
    // The stores are still watched: somebody may wait for what another process answers.
  };
  let draining: Promise<void> | undefined;

  return {
    events,
    admit,
    abort: async (sessionKey, reason) => lanes.abort(sessionKey, turnStopped(reason)),
    status: (): PipelineStatus => ({
      running: lanes.running(),
      queued: lanes.queued,
      draining: isDraining,
      counts: { ...counts, delivered: sent.delivered, mayRepeat: sent.mayRepeat },
    }),
    drain: async () => await (draining ??= drain()),
    start: async () => {
      await sweepInTurn();
      if (!isDraining) timer ??= setInterval(() => void sweepInTurn(), SWEEP_MS).unref();
    },
  };
}

/** The one named, else the one of the session named, else the account's, else the default one. */
function agentOf({ agentId, ctx, address }: AddressedMessage, { channels, config }: PipelineOptions): string {
  const named = agentId ?? parseAgentSessionKey(ctx.SessionKey)?.agentId;
  return normalizeAgentId(named ?? channels.find(address.channel, address.accountId)?.agentId ?? config.defaultAgent);
}
