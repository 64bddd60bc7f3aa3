/** `agent`: one turn, waited for. */
import { HoldfastError } from "../../base/errors.ts";
import { buildAgentMainSessionKey } from "../../keys/session-key.ts";
import { patchSession } from "../../session/patch.ts";
import { openWindow } from "../../session/window.ts";
import type { DeliveryContext, SessionEntry } from "../../store/session-entry.ts";
import type { TurnEnd } from "../../turn/turn-events.ts";
import type { AgentParts } from "../../turn/turn.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import type { HandlersOf, RpcCall } from "../handler.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { channelAccounts } from "./channel-accounts.ts";
import { findChat } from "./find-chat.ts";
import { WEB_CHANNEL, toAddressedMessage } from "./owner-message.ts";
import { findTarget, openTarget } from "./target-session.ts";

type Params = CheckedParamsOf<"agent">;
type Result = ResultOf<"agent">;

export const agentHandlers: HandlersOf<"agent" | "agents.list"> = {
  agent: runAndWait,

  "agents.list": async (_params, { parts }) => {
    const { config } = parts;
    const opened = new Map(parts.agents.opened().map((known) => [known.agent.agentId, known]));
    return {
      defaultId: config.defaultAgent,
      mainKey: config.session.mainKey,
      scope: config.session.scope,
      agents: (await parts.agents.list()).map((id) => {
        const { name, model, engine: chosen } = config.agents[id] ?? {};
        const engine = opened.get(id)?.engine.name ?? chosen;
        const workspace = opened.get(id)?.agent.workspace ?? config.agents[id]?.workspace;
        return {
          id,
          ...(name === undefined ? {} : { name }),
          ...(engine === undefined ? {} : { engine }),
          ...(model === undefined ? {} : { model }),
          ...(workspace === undefined ? {} : { workspace }),
        };
      }),
    };
  },
};

async function runAndWait(params: Params, { parts, signal }: RpcCall): Promise<Result> {
  const target = await resolveTarget(params, parts);
  const { agent, key } = target;
  const entry = params.thinking === undefined ? target.entry : await setThinking(target, params.thinking);
  const idempotencyKey = params.idempotencyKey ?? agent.ids.uuid();
  const { ended, agentId, sessionKey } = await parts.pipeline.admit(
    toAddressedMessage(
      {
        agentId: agent.agentId,
        key,
        entry,
        text: params.message,
        idempotencyKey,
        now: parts.clock.now(),
        deliver: params.deliver,
        ...(target.route === undefined ? {} : { route: target.route }),
      },
      parts,
    ),
  );
  const end = await waitForEnd(ended, params.timeoutSeconds, signal);
  const name = { runId: idempotencyKey, agentId, sessionKey };
  return end === undefined ? { ...name, status: "timeout", summary: "still running" } : { ...name, ...toResult(end) };
}

interface Target extends AgentParts {
  key: string;
  entry: SessionEntry | undefined;
  route?: DeliveryContext;
}

async function resolveTarget(params: Params, parts: RpcParts): Promise<Target> {
  const { sessionKey, sessionId, to, agentId } = params;
  if ([sessionKey, sessionId, to].filter((given) => given !== undefined).length > 1) throw oneTarget();
  if (to !== undefined) {
    const { channel = onlyChannel(parts), accountId } = params;
    return await findChat(parts, { channel, to, ...(accountId === undefined ? {} : { accountId }) }, agentId);
  }
  if (sessionId !== undefined) {
    const found = await findTarget(parts, sessionId, agentId);
    if (!found.isCurrent) throw earlierWindow(found.key, sessionId);
    return { ...found, entry: await found.agent.store.get(found.key) };
  }
  const named = agentId === undefined ? {} : { agentId };
  const mainKey = buildAgentMainSessionKey({
    agentId: agentId ?? parts.config.defaultAgent,
    mainKey: parts.config.session.mainKey,
  });
  const found = await openTarget(parts, { ...named, key: sessionKey ?? mainKey });
  return { ...found, entry: await found.agent.store.get(found.key) };
}

/** For a person who is named without a channel. Where there is none at all, the terminal is one. */
function onlyChannel(parts: RpcParts): string {
  const names = new Set(channelAccounts(parts).map(({ channel }) => channel));
  names.delete(WEB_CHANNEL);
  const [only = "cli", ...others] = names;
  if (others.length === 0) return only;
  throw new HoldfastError("usage", "channel-needed", `It is not clear on which channel: ${[...names].join(", ")}`, {
    hint: "Name one of them with channel.",
  });
}

/** A session that is not there yet begins with it. */
async function setThinking({ agent, key, entry }: Target, thinkingLevel: string): Promise<SessionEntry | undefined> {
  if (entry !== undefined) {
    return entry.thinkingLevel === thinkingLevel ? entry : await patchSession(agent, key, { thinkingLevel });
  }
  const opened = await openWindow(agent, {
    key,
    previous: undefined,
    reason: "initial",
    complete: (made) => ({ ...made, thinkingLevel }),
  });
  return opened ?? (await patchSession(agent, key, { thinkingLevel }));
}

/** Undefined when the time is up; the turn goes on. */
async function waitForEnd(
  ended: Promise<TurnEnd>,
  timeoutSeconds: number | undefined,
  signal: AbortSignal,
): Promise<TurnEnd | undefined> {
  const { promise: given, resolve, reject } = Promise.withResolvers<undefined>();
  const timer = timeoutSeconds === undefined ? undefined : setTimeout(resolve, timeoutSeconds * 1000, undefined);
  const onAbort = (): void => reject(nobodyWaits());
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([ended, given]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function toResult(end: TurnEnd): Pick<Result, "status" | "summary" | "result" | "error"> {
  const { outcome, text, usage, sessionId } = end;
  const error = end.error ?? (outcome === "dropped" ? DROPPED : undefined);
  const isFailed = outcome === "failed" || outcome === "dropped";
  return {
    status: isFailed ? "error" : outcome === "aborted" ? "aborted" : "ok",
    summary: isFailed ? (error?.message ?? "the turn failed") : outcome === "aborted" ? "aborted" : "completed",
    result: {
      payloads: text === undefined || text === "" ? [] : [{ text, mediaUrl: null }],
      meta: {
        durationMs: end.durationMs,
        aborted: outcome === "aborted",
        outcome,
        agentMeta: {
          ...(sessionId === undefined ? {} : { sessionId }),
          ...(usage === undefined ? {} : usageMeta(usage)),
        },
      },
    },
    ...(error === undefined
      ? {}
      : {
          error: {
            code: error.code,
            kind: error.kind,
            message: error.message,
            ...(error.hint === undefined ? {} : { hint: error.hint }),
          },
        }),
  };
}

const DROPPED = {
  code: "message-dropped",
  kind: "unavailable",
  message: "The message was not answered: somebody stopped the session, or too many messages were waiting",
  hint: "Send it again to have it answered.",
} as const;

function usageMeta({ provider, model, costUsd, input, output, cacheRead, cacheWrite }: NonNullable<TurnEnd["usage"]>) {
  return {
    provider,
    model,
    usage: { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite },
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

function oneTarget(): HoldfastError {
  return new HoldfastError("usage", "invalid-params", "Only one of sessionKey, sessionId and to can be given", {
    hint: "Give the one that you mean.",
  });
}

function earlierWindow(key: string, sessionId: string): HoldfastError {
  return new HoldfastError("conflict", "earlier-window", `${sessionId} is an earlier window of ${key}`, {
    hint: "Give the session key to talk to its current window.",
    data: { key, sessionId },
  });
}

function nobodyWaits(): HoldfastError {
  return new HoldfastError("interrupted", "caller-gone", "Nobody waits for the answer any more; the turn goes on", {
    hint: "The answer will be in the session's history.",
  });
}
