/** `agent` runs a turn and waits for its end; `agents.list`. */
import { TOO_LATE, raceAbort, within } from "../../base/async.ts";
import { HoldfastError, hasCode } from "../../base/errors.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { buildAgentMainSessionKey } from "../../keys/session-key.ts";
import { listArchives } from "../../session/archive.ts";
import { beginSession } from "../../session/window.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import type { RpcParts, HandlersOf, RpcCall } from "../rpc-parts.ts";
import {
  type ChosenSession,
  WEB_CHANNEL,
  channelAccounts,
  findChat,
  findTarget,
  openTarget,
  setThinking,
  toOwnerMessage,
} from "./target.ts";
import type { TurnEnd } from "../../turn/pipeline.ts";

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
        return { id, name, engine, model, workspace };
      }),
    };
  },
};

async function runAndWait(params: Params, { parts, signal }: RpcCall): Promise<Result> {
  const target = await resolveTarget(params, parts);
  const entry = params.thinking === undefined ? target.entry : await setThinking(target, params.thinking);
  const runId = params.idempotencyKey ?? target.agent.ids.uuid();
  const message = toOwnerMessage(parts, { ...target, entry }, { ...params, idempotencyKey: runId });
  const { ended, agentId, sessionKey } = await parts.pipeline.admit(message);
  const end = await waitForEnd(ended, params.timeoutSeconds, signal);
  const names = { runId, agentId, sessionKey };
  return end === undefined ? { ...names, status: "timeout", summary: "still running" } : { ...names, ...toResult(end) };
}

async function resolveTarget(params: Params, parts: RpcParts): Promise<ChosenSession> {
  const { sessionKey, sessionId, to, agentId } = params;
  if ([sessionKey, sessionId, to].filter((given) => given !== undefined).length > 1) {
    throw new HoldfastError("usage", "invalid-params", "Only one of sessionKey, sessionId and to is allowed", {
      hint: "Use the one you mean.",
    });
  }
  if (to !== undefined) {
    const { channel = onlyChannel(parts), accountId } = params;
    return await findChat(parts, { channel, to, accountId }, agentId);
  }
  if (sessionId !== undefined) {
    const found = await findTarget(parts, sessionId, agentId).catch(async (error: unknown) => {
      if (!hasCode(error, "session-not-found") || !UUID.test(sessionId)) throw error;
      const lower = sessionId.toLowerCase();
      if (lower !== sessionId) return await resolveTarget({ ...params, sessionId: lower }, parts);
      return await beginWith(sessionId, parts, agentId);
    });
    if ("entry" in found) return found;
    if (!found.isCurrent) throw earlierWindow(found.key, sessionId);
    return { ...found, entry: await found.agent.store.get(found.key) };
  }
  const { defaultAgent, session } = parts.config;
  const mainKey = buildAgentMainSessionKey({ agentId: agentId ?? defaultAgent, mainKey: session.mainKey });
  const found = await openTarget(parts, { agentId, key: sessionKey ?? mainKey });
  return { ...found, entry: await found.agent.store.get(found.key) };
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** An id in the archive is not new: a second session with it could not be restored. */
async function beginWith(sessionId: string, parts: RpcParts, agentId = parts.config.defaultAgent) {
  const opened = await parts.agents.open(normalizeAgentId(agentId));
  const archives = await listArchives(opened.agent);
  const archive = archives.find(({ windows }) => windows.some((window) => window.sessionId === sessionId));
  if (archive !== undefined) {
    throw new HoldfastError("conflict", "session-archived", `${sessionId} is a window of the archived ${archive.key}`, {
      hint: `Restore it with \`holdfast sessions restore ${archive.id}\`, or use another id.`,
      data: { key: archive.key, sessionId },
    });
  }
  return { ...opened, ...(await beginSession(opened.agent, sessionId)) };
}

/** For a person who is named without a channel. `cli` if no channel is configured. */
function onlyChannel(parts: RpcParts): string {
  const names = new Set(channelAccounts(parts).map(({ channel }) => channel));
  names.delete(WEB_CHANNEL);
  const [only = "cli", ...others] = names;
  if (others.length === 0) return only;
  throw new HoldfastError("usage", "channel-needed", `Which channel? Configured are ${[...names].join(", ")}`, {
    hint: "Choose one with channel.",
  });
}

async function waitForEnd(ended: Promise<TurnEnd>, timeoutSeconds: number | undefined, signal: AbortSignal) {
  const given = timeoutSeconds === undefined ? ended : within(timeoutSeconds * 1000, ended);
  try {
    const end = await raceAbort(given, signal);
    return end === TOO_LATE ? undefined : end;
  } catch {
    throw new HoldfastError("interrupted", "caller-gone", "Caller disconnected; the turn continues", {
      hint: "The answer will be in the session's history.",
    });
  }
}

function toResult(end: TurnEnd): Pick<Result, "status" | "summary" | "result" | "error"> {
  const { outcome, usage, sessionId } = end;
  const error = end.error ?? (outcome === "dropped" ? DROPPED : undefined);
  const isFailed = outcome === "failed" || outcome === "dropped";
  return {
    status: isFailed ? "error" : outcome === "aborted" ? "aborted" : "ok",
    summary: isFailed ? (error?.message ?? "the turn failed") : outcome === "aborted" ? "aborted" : "completed",
    result: {
      payloads: toPayloads(end),
      meta: {
        durationMs: end.durationMs,
        aborted: outcome === "aborted",
        outcome,
        withheld: end.withheld,
        agentMeta: { sessionId, ...(usage === undefined ? {} : usageMeta(usage)) },
      },
    },
    error: error && { code: error.code, kind: error.kind, message: error.message, hint: error.hint },
  };
}

function toPayloads({ text = "", media }: TurnEnd): NonNullable<Result["result"]>["payloads"] {
  const [first] = media ?? [];
  if (media === undefined || first === undefined) return text === "" ? [] : [{ text, mediaUrl: null }];
  return [{ text, mediaUrl: first, mediaUrls: media }];
}

const DROPPED = {
  code: "message-dropped",
  kind: "unavailable",
  message: "The message was not answered: the session was stopped, or too many messages were waiting",
  hint: "Send it again.",
} as const;

function usageMeta({ provider, model, costUsd, input, output, cacheRead, cacheWrite }: NonNullable<TurnEnd["usage"]>) {
  return {
    provider,
    model,
    usage: { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite },
    costUsd,
  };
}

function earlierWindow(key: string, sessionId: string): HoldfastError {
  return new HoldfastError("conflict", "earlier-window", `${sessionId} is an earlier window of ${key}`, {
    hint: "Use the session key to talk to its current window.",
    data: { key, sessionId },
  });
}
