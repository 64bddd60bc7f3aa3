/**
 * The pipeline of one process: messages are admitted to their agent's inbox, answered in the lane of their
 * session, and delivered from the outbox. Everything that must survive is in the stores. When a process
 * dies at any point, the next one, or another one, continues with the pending items.
 */
import { isAbsolute } from "node:path";
import { DAY_MS } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { resolveInboundSessionKey } from "../keys/inbound.ts";
import { normalizeAgentId } from "../keys/names.ts";
import { parseAgentSessionKey } from "../keys/session-key.ts";
import { compileMentionPatterns, finalizeInboundContext } from "./body/inbound.ts";
import type { PipelineContext, PipelineOptions } from "./context.ts";
import { createDelivery } from "./delivery/delivery.ts";
import { createEndedTurns } from "./lanes/ends.ts";
import { createLanes } from "./lanes/lanes.ts";
import { createSlots } from "./lanes/waiting.ts";
import {
  type AddressedMessage,
  type Admitted,
  type AgentParts,
  type InboxPayload,
  type Pipeline,
  type TurnEnd,
  createTurnEvents,
} from "./pipeline.ts";
import { turnStopped } from "./turn-errors.ts";
import { lazyMap } from "../base/async.ts";

const SWEEP_MS = 3_000;
/** A node of a cluster may die at any time, and its sessions wait for the others. */
const CLUSTER_SWEEP_MS = 700;
/** The next sweep finds the rest, and other nodes take their share. */
const MAX_SWEPT = 200;
const PRUNE_MS = 60 * 60 * 1000;
/** How long a process that ends keeps sending due replies. */
const DELIVERY_GRACE_MS = 5_000;

export function createPipeline(options: PipelineOptions): Pipeline {
  const { config, agents, clock, logger } = options;
  const events =
    options.events ?? createTurnEvents((error) => logger.error("A listener of turn events failed", { error }));
  const counts = { admitted: 0, duplicates: 0, turns: 0, failed: 0, dropped: 0 };
  const context: PipelineContext = {
    ...options,
    events,
    slots: createSlots({ total: config.turns.concurrency, perAgent: (agentId) => turnsOf(config, agentId) }),
    mentionPatterns: compileMentionPatterns(config.groups.mentionPatterns),
    deliveries: { delivered: 0, mayRepeat: 0 },
    sendErrors: new Map(),
    reserveDelivery: (parts, key, route) => delivery.reserve(parts, key, route),
    onOthersDone: (parts, key) => checkEnded(parts, key),
    onEnded: (itemIds, end) => {
      count(end, itemIds.length);
      ended.tell(end.agentId, itemIds, end);
    },
  };
  const lanes = createLanes(context);
  const delivery = createDelivery(context);
  const ended = createEndedTurns({
    look: () => agents.opened().forEach((parts) => checkEnded(parts)),
    isOwn: lanes.isMine,
    onForeignEnd: (end, note) => {
      const { agentId, sessionKey, itemId } = end;
      if (end.outcome !== "dropped") events.emit({ type: "turn.ended", ...end });
      else events.emit({ type: "message.dropped", agentId, sessionKey, itemIds: [itemId], reason: note ?? "dropped" });
    },
  });
  let isDraining = false;
  let draining: Promise<void> | undefined;
  let sweeping: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let prunedAt = 0;

  const admit = async (message: AddressedMessage): Promise<Admitted> => {
    const agentId = agentOf(message, options);
    const parts = await open(agentId);
    const written = finalizeInboundContext(message.ctx);
    const key = resolveInboundSessionKey(written, { agentId, session: config.session });
    const command = written.CommandAuthorized === true ? await parts.tasks?.readAsCommand(key, written) : undefined;
    const MediaPaths = await keepFiles(parts, written.MediaPaths);
    const ctx = { ...written, ...(command === undefined ? {} : { BodyForCommands: command, CommandBody: command }) };
    const { address, receivedAt, deliver = true, awaited = !deliver } = message;
    // The key is stored with the message: the turn must run in this session even if the configuration changes.
    const payload: InboxPayload = { ctx: { ...ctx, MediaPaths, SessionKey: key }, deliver, awaited };
    const admitting = parts.agent.store.inbox.admit({ key, address, payload, receivedAt });
    // If the session is free, which is the usual case, its lease is taken in the same commit.
    lanes.prepare(parts, key);
    const { admitted, item } = await admitting;
    faultPoint("inbox.admitted");
    counts[admitted ? "admitted" : "duplicates"] += 1;
    const waiting = ended.wait(parts, item);
    // A duplicate may still be queued: the process that admitted it may have died.
    if (item.state === "queued") lanes.serve(parts, item.key);
    if (admitted) {
      const name = { agentId, sessionKey: item.key, itemId: item.id, messageId: item.address.messageId };
      events.emit({ type: "message.admitted", ...name, queued: lanes.queued() });
    }
    return { admitted, item, agentId, sessionKey: item.key, ended: waiting };
  };

  /** One promise per agent, so that callers continue in the order of their calls. */
  const opened = lazyMap<string, AgentParts>();
  const open = (agentId: string): Promise<AgentParts> =>
    opened.get(agentId, async () => {
      const parts = await agents.open(agentId);
      watchStore(parts);
      return parts;
    });

  const watchStore = (parts: AgentParts): void => {
    const { agentId, store } = parts.agent;
    store.onChange(({ what, key, route }) => {
      if (what === "outbox") delivery.wake(parts, { key, route });
      if (what === "inbox" || what === "lease") lanes.nudge(agentId, key, what);
      if (what === "handoff") events.emit({ type: "handoff.changed", agentId, sessionKey: key });
      if (what === "inbox" && !lanes.has(agentId, key)) checkEnded(parts, key);
    });
    delivery.wake(parts);
  };

  const count = ({ outcome }: TurnEnd, items: number): void => {
    if (outcome === "dropped") counts.dropped += items;
    else if (outcome !== "noted" && outcome !== "command") counts.turns += 1;
    if (outcome === "failed") counts.failed += 1;
  };

  const checkEnded = (parts: AgentParts, key?: string): void => {
    ended.check(parts, key).catch((error: unknown) => {
      logger.warn("Could not check whether a message was answered; checking again later", { key, error });
    });
  };

  /** Finds pending messages that no process is working on. */
  const sweep = async (): Promise<void> => {
    for (const agentId of await agents.list()) {
      try {
        await sweepAgent(await open(agentId));
      } catch (error) {
        logger.error("Could not read an agent's pending messages; trying again", { agentId, error });
      }
    }
    if (clock.now() - prunedAt >= PRUNE_MS || clock.now() < prunedAt) await prune();
  };

  const sweepAgent = async (parts: AgentParts): Promise<void> => {
    const { agentId, store } = parts.agent;
    for (const key of await store.inbox.unattended(MAX_SWEPT)) {
      if (isDraining) return;
      if (lanes.has(agentId, key)) lanes.nudge(agentId, key, "lease");
      else lanes.serve(parts, key);
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
        logger.warn("Could not delete old messages; trying again later", { agentId: agent.agentId, error });
      }
    }
  };

  const sweepOnce = async (): Promise<void> => {
    await (sweeping ??= sweep()
      .catch((error: unknown) => logger.error(`Could not look for pending messages: ${errorMessage(error)}`))
      .finally(() => (sweeping = undefined)));
  };

  const sweepMs = config.store.kind === "postgres" ? CLUSTER_SWEEP_MS : SWEEP_MS;
  /** With jitter, so that the nodes of a cluster do not look at the same time. */
  const sweepLater = (): void => {
    if (isDraining) return;
    const pauseMs = sweepMs * (0.75 + Math.random() / 2);
    timer = setTimeout(() => void sweepOnce().finally(sweepLater), pauseMs).unref();
  };

  const drain = async (): Promise<void> => {
    isDraining = true;
    clearTimeout(timer);
    ended.stop();
    await lanes.drain(config.turns.drainSeconds * 1000);
    await delivery.stop(DELIVERY_GRACE_MS);
    await sweeping;
    // The stores are still watched: a caller may wait for an answer from another process.
  };

  return {
    events,
    admit,
    abort: async (sessionKey, reason) => lanes.abort(sessionKey, turnStopped(reason)),
    status: () => ({
      running: lanes.running(),
      queued: lanes.queued(),
      draining: isDraining,
      counts: { ...counts, ...context.deliveries },
    }),
    drain: async () => await (draining ??= drain()),
    start: async () => {
      await sweepOnce();
      if (timer === undefined) sweepLater();
    },
  };
}

/** Relative paths are files of the workspace. */
async function keepFiles({ agent }: AgentParts, paths: string[] | undefined): Promise<string[] | undefined> {
  const { media } = agent.store;
  return paths && (await Promise.all(paths.map(async (path) => (isAbsolute(path) ? await media.keep(path) : path))));
}

/** Each turn of Claude Code is a process of 200 MB or more. Turns of other engines mostly wait. */
const CLAUDE_CODE_TURNS = 4;

function turnsOf({ turns, agents }: HoldfastConfig, agentId: string): number {
  const usual = agents[agentId]?.engine === "claude-code" ? CLAUDE_CODE_TURNS : turns.concurrency;
  return turns.concurrencyPerAgent ?? usual;
}

function agentOf({ agentId, ctx, address }: AddressedMessage, { channels, config }: PipelineOptions): string {
  const named = agentId ?? parseAgentSessionKey(ctx.SessionKey)?.agentId;
  return normalizeAgentId(named ?? channels.find(address.channel, address.accountId)?.agentId ?? config.defaultAgent);
}
