/**
 * Small implementations of the contracts around a pipeline: agents on real stores, channels that need not be
 * connected, and a pipeline that answers with the question.
 */
import { HoldfastError } from "../../src/base/errors.ts";
import type { HoldfastConfig } from "../../src/config/config.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { resolveInboundSessionKey } from "../../src/keys/inbound.ts";
import { type AgentHandle, transcriptName } from "../../src/session/agent-handle.ts";
import { initSessionState } from "../../src/session/init.ts";
import { withSessionLease } from "../../src/session/lease.ts";
import {
  type AddressedMessage,
  type Admitted,
  type Pipeline,
  type AgentParts,
  type AgentPool,
  type TurnEnd,
  createTurnEvents,
  type ChannelAccount,
  type ChannelPool,
} from "../../src/turn/pipeline.ts";

export interface StandInPipeline extends Pipeline {
  /** Every admitted message, including repeated ones. */
  readonly seen: AddressedMessage[];
  /** Makes turns wait for `release` before they answer. */
  hold(): void;
  release(): void;
}

export function createStandInPipeline(options: {
  agents: AgentPool;
  config: HoldfastConfig;
  onListenerError: (error: unknown) => void;
}): StandInPipeline {
  const { agents, config } = options;
  const events = createTurnEvents(options.onListenerError);
  const seen: AddressedMessage[] = [];
  const ends = new Map<number, Promise<TurnEnd>>();
  const running = new Map<string, { itemId: number; startedAt: number; stop: () => void }>();
  let gate: PromiseWithResolvers<void> | undefined;

  const runTurn = async (
    message: AddressedMessage,
    { agentId, sessionKey, item }: Omit<Admitted, "ended" | "admitted">,
  ): Promise<TurnEnd> => {
    const { agent } = await agents.open(agentId);
    const startedAt = Date.now();
    const name = { agentId, sessionKey, itemId: item.id };
    return await withSessionLease(agent, sessionKey, { waitMs: 20_000 }, async (held) => {
      const stopped = Promise.withResolvers<"stopped">();
      running.set(sessionKey, { itemId: item.id, startedAt, stop: () => stopped.resolve("stopped") });
      await agent.store.inbox.claim(held.lease);
      events.emit({ type: "turn.started", attempt: 1, ...name });
      const wasStopped = (await Promise.race([stopped.promise, gate?.promise])) === "stopped";
      const { sessionEntry } = await initSessionState({ agent, ctx: message.ctx, cfg: config, lease: held.lease });
      const question = message.ctx.RawBody ?? "";
      const text = `echo: ${question}`;
      await using log = await agent.store.transcripts.open(transcriptName(sessionEntry), { held });
      await log.append([{ type: "message", message: { role: "user", content: question, timestamp: startedAt } }]);
      const { sessionId } = sessionEntry;
      if (!wasStopped) {
        events.emit({ type: "turn.text", text, ...name });
        await log.append([{ type: "message", message: { role: "assistant", content: text, timestamp: Date.now() } }]);
      }
      await log.sync();
      await agent.store.inbox.finish(held.lease, [item.id], []);
      running.delete(sessionKey);
      const outcome = wasStopped ? "aborted" : question === "fail" ? "failed" : "answered";
      const end: TurnEnd = {
        ...name,
        outcome,
        sessionId,
        durationMs: Date.now() - startedAt,
        ...(outcome === "answered"
          ? { text, usage: { provider: "echo", model: "echo-1", input: 3, output: 2, cacheRead: 1, cacheWrite: 0 } }
          : {}),
        ...(outcome === "failed"
          ? { error: { code: "engine-down", kind: "unavailable", message: "the engine is down", retryable: true } }
          : {}),
      };
      events.emit({ type: "turn.ended", ...end });
      return end;
    });
  };

  return {
    events,
    seen,
    start: async () => undefined,
    admit: async (message) => {
      seen.push(message);
      const agentId = message.agentId ?? config.defaultAgent;
      const { agent } = await agents.open(agentId);
      const sessionKey = resolveInboundSessionKey(message.ctx, { agentId, session: config.session });
      const { admitted, item } = await agent.store.inbox.admit({
        key: sessionKey,
        address: message.address,
        payload: { ctx: message.ctx, deliver: message.deliver ?? true },
        receivedAt: message.receivedAt,
      });
      if (admitted) {
        const { messageId } = item.address;
        events.emit({ type: "message.admitted", agentId, sessionKey, itemId: item.id, messageId, queued: 1 });
        ends.set(item.id, runTurn(message, { agentId, sessionKey, item }));
      }
      const ended = ends.get(item.id) ?? Promise.reject(new Error("admitted by another process"));
      return { admitted, item: (await agent.store.inbox.get(item.id)) ?? item, agentId, sessionKey, ended };
    },
    abort: async (sessionKey) => {
      const turn = running.get(sessionKey);
      turn?.stop();
      return turn !== undefined;
    },
    status: () => ({
      running: [...running].map(([sessionKey, { itemId, startedAt }]) => ({
        agentId: "main",
        sessionKey,
        itemId,
        startedAt,
      })),
      queued: 0,
      draining: false,
      counts: { admitted: seen.length, duplicates: 0, turns: ends.size, failed: 0, dropped: 0, delivered: 0 },
    }),
    drain: async () => {
      await Promise.allSettled(ends.values());
    },
    hold: () => {
      gate = Promise.withResolvers<void>();
    },
    release: () => {
      gate?.resolve();
      gate = undefined;
    },
  };
}

export function standInChannels(accounts: readonly ChannelAccount[]): ChannelPool {
  return {
    start: async () => undefined,
    accounts: () => accounts,
    failures: () => [],
    find: (name, accountId = "default") =>
      accounts.find(({ channel }) => channel.name === name && channel.accountId === accountId),
    stop: async () => undefined,
  };
}

/** An agent's parts for turns. Default engine: one called echo that says nothing. */
export function agentParts(options: {
  agent: AgentHandle;
  config: HoldfastConfig;
  engine?: Partial<Engine>;
}): AgentParts {
  const { agent, config, engine } = options;
  return {
    agent,
    config,
    engine: { name: "echo", keepsConversation: false, run: noEvents, close: async () => undefined, ...engine },
    describeWorkspace: async () => ({ system: "", skills: [], version: 1 }),
  };
}

async function* noEvents(): AsyncGenerator<never> {}

/** Opens each agent once. `agentIds` are the existing ones. Default: every requested id exists. */
export function createAgentPool(
  openParts: (agentId: string) => Promise<AgentParts>,
  agentIds?: readonly string[],
): AgentPool {
  const opened = new Map<string, Promise<AgentParts>>();
  const ready: AgentParts[] = [];
  const open = async (agentId: string): Promise<AgentParts> => {
    const parts = await openParts(agentId);
    ready.push(parts);
    return parts;
  };
  return {
    list: async () => [...(agentIds ?? new Set(["main", ...opened.keys()]))].toSorted(),
    opened: () => ready,
    open: async (agentId) => {
      if (agentIds?.includes(agentId) === false) {
        throw new HoldfastError("not-found", "agent-not-found", `There is no agent ${agentId}`, { hint: "Add it." });
      }
      const known = opened.get(agentId) ?? open(agentId);
      opened.set(agentId, known);
      return await known;
    },
    close: async () => {
      for (const { agent, handoff } of await Promise.all(opened.values())) {
        await handoff?.close();
        await agent.store.close();
      }
    },
  };
}
