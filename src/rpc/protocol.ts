/**
 * The protocol of the gateway's WebSocket. Browsers load this file too.
 *
 * - The first request is `connect`; its answer is the hello. Only `challenge`, which verifies the gateway, is
 *   answered before it.
 * - Every request gets exactly one response with its id, in any order.
 * - Events of a connection are numbered from 1 without gaps: a client that is too slow is disconnected.
 */
import type { ErrorReport } from "../base/errors.ts";
import type { TurnEvent } from "../turn/pipeline.ts";

export const PROTOCOL_VERSION = 1;

export interface RequestFrame {
  type: "req";
  id: string;
  method: string;
  params?: unknown;
}

export type ResponseFrame =
  | { type: "res"; id: string; ok: true; payload: unknown }
  | { type: "res"; id: string; ok: false; error: ErrorReport };

export interface EventFrame {
  type: "event";
  event: string;
  payload: unknown;
  seq: number;
}

export type ServerFrame = ResponseFrame | EventFrame;

export const PERMISSIONS = ["read", "write", "admin"] as const;
export type Permission = (typeof PERMISSIONS)[number];

export interface ConnectParams {
  minProtocol: number;
  maxProtocol: number;
  token?: string | undefined;
  client: ClientInfo;
  /** Limits this connection. Default: `admin`. */
  permission?: Permission | undefined;
}

export interface ClientInfo {
  /** `web`, `cli`, or the name of a program. */
  name: string;
  version?: string | undefined;
}

export interface Hello {
  protocol: number;
  server: { name: "holdfast"; version: string };
  permission: Permission;
  methods: string[];
  events: string[];
  limits: { maxFrameBytes: number };
}

/** Why the gateway ends a connection, as WebSocket close codes. */
export const CLOSE_CODES = {
  /** The gateway is stopping; connect again when it is back. */
  goingAway: 1001,
  /** The frame is not JSON, not a request or nested too deep. */
  badFrame: 1008,
  /** No `connect` in time, or another request before it. */
  notConnected: 4000,
  unauthorized: 4001,
  protocolMismatch: 4002,
  /** The client reads too slowly: connect again and read the history. */
  tooSlow: 4008,
  tooManyRequests: 4029,
} as const;

export type RpcEvent = TurnEvent | { type: "gateway.closing"; reason: string };

export type RpcEventName = RpcEvent["type"];

const EVENT_SUMMARIES: Record<RpcEventName, string> = {
  "message.admitted": "A message is stored and waits for its turn; `messageId` is its idempotency key.",
  "message.dropped": "Messages were dropped from a full queue; the sender is notified.",
  "turn.started": "A turn begins; `attempt` counts restarts after a crash.",
  "turn.text": "The next part of the answer.",
  "turn.tool":
    "A tool was called (`phase` `start`) or has answered (`end`). `line` shows it if the session is verbose.",
  "turn.notice": "A notice for the person, besides the answer.",
  "turn.compaction": "The context is being shortened.",
  "turn.ended": "A turn has ended: `outcome`, the whole `text`, `usage`, `error`.",
  "session.changed": "The entry or the windows of a session changed.",
  "handoff.changed": "A hand-off was captured, cleared, offered or requested.",
  "task.changed": "A task of this session has begun, asked, moved on or ended; `text` if it wrote to the conversation.",
  "delivery.started": "A reply is being sent; `mayRepeat`: it may have been sent before.",
  "delivery.sent": "The platform has accepted the reply.",
  "delivery.delayed": "The platform refused temporarily; the next attempt is at `dueAt`.",
  "delivery.failed": "The reply cannot be delivered; the event has the reason.",
  "channel.status": "A channel account has connected, failed or is retrying.",
  "gateway.closing": "The gateway is stopping; connect again when it is back.",
};

export const EVENTS = Object.entries(EVENT_SUMMARIES).map(([name, summary]) => ({
  name: name as RpcEventName,
  summary,
}));

export const EVENT_NAMES: readonly RpcEventName[] = EVENTS.map(({ name }) => name);

/** Undefined for an event that concerns no single session. */
export function eventSession(event: RpcEvent): { agentId: string; sessionKey: string } | undefined {
  return "sessionKey" in event ? { agentId: event.agentId, sessionKey: event.sessionKey } : undefined;
}

/*
 * Before it sends the token, a client verifies the gateway: only a program with the same token can answer its
 * challenge. Otherwise a program that took over the port would get the token from every page that reconnects.
 * The port is part of the challenge, so that it cannot be forwarded to a gateway on another port.
 */

export const NONCE = /^[0-9a-f]{32,128}$/;

const NONCE_BYTES = 32;

export function makeNonce(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

interface Challenge {
  token: string;
  port: number;
  nonce: string;
}

export async function answerChallenge({ token, port, nonce }: Challenge): Promise<string> {
  return await sign(token, `holdfast gateway ${port} ${nonce}`);
}

/** In the URL of a client's first request: a flooded gateway then keeps the owner's connection. It grants nothing. */
export async function makeClientMark({
  token,
  port,
  now,
}: Omit<Challenge, "nonce"> & { now: number }): Promise<string> {
  return `${now}.${await sign(token, clientText(port, now))}`;
}

export function clientText(port: number, at: number): string {
  return `holdfast client ${port} ${at}`;
}

async function sign(token: string, message: string): Promise<string> {
  const text = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", text.encode(token), hmac, false, ["sign"]);
  const signed = await crypto.subtle.sign("HMAC", key, text.encode(message));
  return toHex(new Uint8Array(signed));
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
