/**
 * The frames of OpenClaw's gateway protocol, versions 3 and 4, for its own clients. They use the same sockets, methods,
 * permissions and limits as Holdfast's clients; only names and shapes differ. `openclaw-requests.ts` translates
 * what they ask for.
 *
 * - A client that says nothing gets the event `connect.challenge`, because later versions of OpenClaw wait for it. The
 *   token alone authorizes: a device's signature of the challenge is ignored.
 * - A connected client gets all `chat` and `agent` events, and a `tick` in regular intervals.
 */
import { type ErrorReport, HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { TurnEnd, TurnName } from "../turn/pipeline.ts";
import { PERMISSIONS, type Permission, type RpcEvent } from "./protocol.ts";
import type { RpcParts } from "./rpc-parts.ts";

/** Oldest first. For what Holdfast answers, they do not differ. */
export const OPENCLAW_PROTOCOL_VERSIONS = [3, 4] as const;

/** OpenClaw's clients have an id, Holdfast's a name. */
export function isOpenClawConnect(params: unknown): boolean {
  return isRecord(params) && isRecord(params["client"]) && typeof params["client"]["id"] === "string";
}

export function readOpenClawConnect(params: unknown) {
  const { minProtocol, maxProtocol, role = "operator", auth, scopes } = isRecord(params) ? params : {};
  if (typeof minProtocol !== "number" || typeof maxProtocol !== "number") {
    throw invalid("minProtocol and maxProtocol are numbers");
  }
  if (role !== "operator") throw invalid('role must be "operator": Holdfast has no nodes');
  const token = isRecord(auth) && typeof auth["token"] === "string" ? auth["token"] : undefined;
  return { minProtocol, maxProtocol, token, permission: permissionOf(scopes) };
}

/** No scopes mean all of them, as in OpenClaw. Scopes that grant nothing here must not grant everything. */
function permissionOf(scopes: unknown): Permission {
  if (scopes === undefined || (Array.isArray(scopes) && scopes.length === 0)) return "admin";
  const granted = PERMISSIONS.findLast((name) => Array.isArray(scopes) && scopes.includes(`operator.${name}`));
  if (granted !== undefined) return granted;
  throw invalid("scopes must contain operator.read, operator.write or operator.admin");
}

function invalid(rule: string): HoldfastError {
  return new HoldfastError("usage", "invalid-params", `invalid connect params: ${rule}`, {
    hint: "Connect as an operator.",
  });
}

const EVENT_NAMES = ["connect.challenge", "agent", "chat", "tick", "shutdown"];

export interface HelloFacts {
  protocol: number;
  permission: Permission;
  parts: RpcParts;
  methods: readonly string[];
  connectionId: string;
  maxFrameBytes: number;
  maxBufferedBytes: number;
  tickMs: number;
}

export function openClawHello({ parts, protocol, permission, methods, connectionId, ...limits }: HelloFacts) {
  const { config, clock, version, startedAt } = parts;
  const { mainKey, scope } = config.session;
  const { defaultAgent: defaultAgentId } = config;
  return {
    type: "hello-ok",
    protocol,
    server: { version, host: "holdfast", connId: connectionId },
    auth: {
      role: "operator",
      scopes: PERMISSIONS.slice(0, PERMISSIONS.indexOf(permission) + 1).map((name) => `operator.${name}`),
    },
    features: { methods: [...methods], events: EVENT_NAMES },
    snapshot: {
      presence: [],
      health: {},
      stateVersion: { presence: 0, health: 0 },
      uptimeMs: clock.now() - startedAt,
      sessionDefaults: {
        defaultAgentId,
        mainKey,
        mainSessionKey: buildAgentMainSessionKey({ agentId: defaultAgentId, mainKey }),
        scope,
      },
    },
    policy: {
      maxPayload: limits.maxFrameBytes,
      maxBufferedBytes: limits.maxBufferedBytes,
      tickIntervalMs: limits.tickMs,
    },
  };
}

/** OpenClaw's clients discard an answer whose error has other members. */
export function openClawError({ code, kind, message, hint, retryable, data }: ErrorReport) {
  const retryAfterMs = data?.["retryAfterMs"];
  return {
    code: kind === "timeout" ? "AGENT_TIMEOUT" : retryable || kind === "internal" ? "UNAVAILABLE" : "INVALID_REQUEST",
    message,
    details: { code, kind, hint, data },
    retryable,
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
  };
}

export interface OpenClawEvent {
  event: string;
  payload: Record<string, unknown>;
}

/** Each `chat` event of a running turn has the whole text so far, so they are sent with pauses. */
const TEXT_PAUSE_MS = 150;
/** How many messages remember their run. One client does not queue more. */
const MAX_RUNS = 1000;

interface Run extends TurnName {
  runId: string;
}

interface LiveTurn {
  text: string;
  shownAt: number;
  agentSeq: number;
  chatSeq: number;
}

/** Translates the events of one connection. A run is named by its message's idempotency key, as in OpenClaw. */
export function createOpenClawEvents(now: () => number) {
  let runs: Run[] = [];
  const turns = new Map<string, LiveTurn>();

  const runsOf = (turn: TurnName): string[] => {
    const named = runs.filter((run) => isAnsweredBy(run, turn)).map(({ runId }) => runId);
    return named.length === 0 ? [`turn-${turn.itemId}`] : named;
  };
  const liveTurn = ({ agentId, itemId }: TurnName): LiveTurn => {
    const name = `${agentId} ${itemId}`;
    const known = turns.get(name) ?? { text: "", shownAt: 0, agentSeq: 0, chatSeq: 0 };
    turns.set(name, known);
    return known;
  };
  const agentEvent = (turn: TurnName, stream: string, data: Record<string, unknown>): OpenClawEvent => {
    const runId = runsOf(turn).at(-1);
    const seq = ++liveTurn(turn).agentSeq;
    return { event: "agent", payload: { runId, seq, stream, ts: now(), data, sessionKey: turn.sessionKey } };
  };
  const chatEvent = (turn: TurnName, state: string, rest: { runId?: string; [name: string]: unknown }) => {
    const seq = ++liveTurn(turn).chatSeq;
    const runId = runsOf(turn).at(-1);
    return { event: "chat", payload: { runId, sessionKey: turn.sessionKey, seq, state, ...rest } };
  };
  const assistant = (text: string) => ({ role: "assistant", content: [{ type: "text", text }], timestamp: now() });

  const textEvents = (turn: TurnName, delta: string): OpenClawEvent[] => {
    const live = liveTurn(turn);
    live.text += delta;
    if (now() - live.shownAt < TEXT_PAUSE_MS) return [];
    live.shownAt = now();
    const { text } = live;
    return [agentEvent(turn, "assistant", { text, delta }), chatEvent(turn, "delta", { message: assistant(text) })];
  };
  const endEvents = (end: TurnEnd): OpenClawEvent[] => {
    const { outcome, text, error } = end;
    const isFailed = outcome === "failed";
    const lifecycle = isFailed ? { phase: "error", error: error?.message } : { phase: "end" };
    const message = text === undefined || text === "" ? {} : { message: assistant(text) };
    const state = isFailed ? "error" : outcome === "aborted" ? "aborted" : "final";
    const result = isFailed ? { errorMessage: error?.message ?? "the turn failed" } : message;
    // A turn can answer several messages. The text belongs to the last one.
    const earlier = runsOf(end).slice(0, -1);
    const events = [
      agentEvent(end, "lifecycle", { ...lifecycle, endedAt: now() }),
      ...earlier.map((runId) => chatEvent(end, state, { runId })),
      chatEvent(end, state, result),
    ];
    forget(end, ({ itemId }) => itemId <= end.itemId);
    return events;
  };

  /** Earlier messages of the session still get their turn. */
  const dropEvents = (dropped: TurnName): OpenClawEvent[] => {
    const event = chatEvent(dropped, "aborted", {});
    forget(dropped, (run) => run.itemId === dropped.itemId);
    return [event];
  };
  const forget = ({ agentId, sessionKey, itemId }: TurnName, isOver: (run: Run) => boolean): void => {
    runs = runs.filter((run) => run.agentId !== agentId || run.sessionKey !== sessionKey || !isOver(run));
    turns.delete(`${agentId} ${itemId}`);
  };

  return (event: RpcEvent): OpenClawEvent[] => {
    switch (event.type) {
      case "message.admitted": {
        const { agentId, sessionKey, itemId, messageId: runId } = event;
        runs = [...runs, { agentId, sessionKey, itemId, runId }].slice(-MAX_RUNS);
        return [];
      }
      case "message.dropped": {
        const { agentId, sessionKey, itemIds } = event;
        return itemIds.flatMap((itemId) => dropEvents({ agentId, sessionKey, itemId }));
      }
      case "turn.started":
        return [agentEvent(event, "lifecycle", { phase: "start", startedAt: now() })];
      case "turn.text":
        return textEvents(event, event.text);
      case "turn.tool": {
        const { id: toolCallId, name, isError } = event;
        const phase = event.phase === "start" ? "start" : "result";
        return [agentEvent(event, "tool", { phase, name, toolCallId, isError })];
      }
      case "turn.ended":
        return endEvents(event);
      case "gateway.closing":
        return [{ event: "shutdown", payload: { reason: event.reason } }];
      default:
        return [];
    }
  };
}

/** A turn answers the messages of its session up to its own. */
function isAnsweredBy(run: Run, { agentId, sessionKey, itemId }: TurnName): boolean {
  return run.agentId === agentId && run.sessionKey === sessionKey && run.itemId <= itemId;
}
