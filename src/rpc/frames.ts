/**
 * What travels over the gateway's WebSocket. Types and numbers only: browsers load this file too.
 *
 * - The first request is `connect`; its answer is the hello. Nothing else is answered before it but
 *   `challenge`, by which a client makes sure that it speaks to the gateway (`challenge.ts`).
 * - Every request gets exactly one response with its id. Responses may overtake each other.
 * - Events of one connection are numbered from 1 without gaps: whoever cannot keep up is closed, never
 *   served with holes.
 */
import type { ErrorReport } from "../base/errors.ts";

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
  /** The protocol versions that the client speaks. */
  minProtocol: number;
  maxProtocol: number;
  token?: string;
  client: ClientInfo;
  /** The most that this connection may do. Left out: everything. */
  permission?: Permission;
}

export interface ClientInfo {
  /** `web`, `cli`, the name of a program. */
  name: string;
  version?: string;
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
  /** The gateway stops; connect again when it is back. */
  goingAway: 1001,
  /** A frame that is no JSON, no request or too deep. */
  badFrame: 1008,
  /** No `connect` in time, or something else before it. */
  notConnected: 4000,
  /** The token is missing or wrong. */
  unauthorized: 4001,
  /** Client and gateway speak no common version. */
  protocolMismatch: 4002,
  /** The client reads too slowly: connect again and read the history. */
  tooSlow: 4008,
  tooManyRequests: 4029,
} as const;
