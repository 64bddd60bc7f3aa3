/**
 * One turn in this process: from a message to the reply, under the session's lease. What a person
 * said is on disk before the engine sees it, and the whole turn is on disk before the reply is
 * returned (durability `turn`).
 */
import { basename } from "node:path";
import type { HoldfastConfig } from "../config/config.ts";
import type { Engine, EngineUsage } from "../engine/engine.ts";
import { resolveInboundSessionKey } from "../keys/inbound.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { type SessionInitResult, initSessionState } from "../session/init.ts";
import { type HeldLease, withSessionLease } from "../session/lease.ts";
import { type ModelSelection, applyResetModelOverride } from "../session/model-hint.ts";
import { persistSessionUsageUpdate } from "../session/usage.ts";
import { readContext } from "../transcript/context.ts";
import { openTranscriptLog } from "../transcript/log.ts";

export interface TurnRequest {
  agent: AgentHandle;
  config: HoldfastConfig;
  engine: Engine;
  ctx: MessageContext;
  commandAuthorized?: boolean;
  /** Called with each piece of the answer as it comes. */
  onText?: (text: string) => void;
  signal?: AbortSignal;
}

export interface TurnResult {
  session: SessionInitResult;
  /** Missing when the message was a bare reset and there was nothing to answer. */
  reply?: string;
  /** Set when the message named a model for the new window. */
  model?: ModelSelection;
}

export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  const { agent, config, ctx } = request;
  const key = resolveInboundSessionKey(ctx, { agentId: agent.agentId, session: config.session });
  return await withSessionLease(agent, key, {}, async (held) => {
    const opened = await initSessionState({
      agent,
      ctx,
      cfg: config,
      lease: held.lease,
      ...(request.commandAuthorized === undefined ? {} : { commandAuthorized: request.commandAuthorized }),
    });
    const hint = await applyResetModelOverride({
      agent,
      sessionKey: key,
      models: config.models,
      defaultModel: config.agents[agent.agentId]?.model,
      resetTriggered: opened.resetTriggered,
      bodyStripped: opened.bodyStripped,
      sessionCtx: opened.sessionCtx,
      lease: held.lease,
    });
    const session = { ...opened, sessionEntry: hint.sessionEntry ?? opened.sessionEntry };
    const text = session.sessionCtx.BodyStripped?.trim() ?? "";
    const described: TurnResult = { session, ...(hint.selection === undefined ? {} : { model: hint.selection }) };
    return text === "" ? described : { ...described, reply: await answer(request, session, held, text) };
  });
}

async function answer(
  { agent, config, engine, ...request }: TurnRequest,
  session: SessionInitResult,
  held: HeldLease,
  text: string,
): Promise<string> {
  await using log = await openTranscriptLog({
    path: session.transcriptPath,
    durability: agent.durability,
    clock: agent.clock,
    fence: () => held.fence(),
    epoch: held.lease.epoch,
    onProblem: (problem) =>
      agent.logger.warn("transcript problem", { file: basename(session.transcriptPath), ...problem }),
  });
  await log.append([
    {
      type: "message",
      message: { role: "user", content: [{ type: "text", text }], timestamp: agent.clock.now() },
    },
  ]);
  await log.sync();

  const { messages } = await readContext(session.transcriptPath);
  const { providerOverride, modelOverride } = session.sessionEntry;
  const override = modelOverride === undefined ? undefined : `${providerOverride ?? ""}/${modelOverride}`;
  const turn = {
    sessionKey: session.sessionKey,
    sessionId: session.sessionId,
    text,
    context: messages,
    model: override ?? config.agents[agent.agentId]?.model,
  };
  let reply = "";
  let usage: EngineUsage | undefined;
  const signal = AbortSignal.any([held.signal, ...(request.signal === undefined ? [] : [request.signal])]);
  for await (const event of engine.run(turn, signal)) {
    if (event.type === "usage") usage = event.usage;
    else {
      reply += event.text;
      request.onText?.(event.text);
    }
  }

  await log.append([{ type: "message", message: assistantMessage(reply, usage, signal.aborted, agent.clock.now()) }]);
  await log.sync();
  await persistSessionUsageUpdate({
    agent,
    sessionKey: session.sessionKey,
    usage,
    answeredAt: agent.clock.now(),
    lease: held.lease,
    ...(usage === undefined ? {} : { modelUsed: usage.model, providerUsed: usage.provider }),
  });
  return reply;
}

function assistantMessage(text: string, usage: EngineUsage | undefined, aborted: boolean, timestamp: number) {
  const { provider = "holdfast", model = "unknown", ...tokens } = usage ?? {};
  const counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...tokens };
  return {
    role: "assistant" as const,
    content: [{ type: "text" as const, text }],
    api: "holdfast",
    provider,
    model,
    usage: {
      ...counts,
      totalTokens: counts.input + counts.output + counts.cacheRead + counts.cacheWrite,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    },
    stopReason: aborted ? ("aborted" as const) : ("stop" as const),
    timestamp,
  };
}
