/**
 * One WebSocket: first `connect` (before it, the client may ask for a proof that this is the gateway), then calls and events. A client that asks too much is refused, one that
 * reads too slowly is closed, one that is gone is noticed; none of them costs the others anything.
 */
import type { Socket } from "node:net";
import type { RawData, WebSocket } from "ws";
import { HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { EVENT_NAMES, type RpcEvent, eventSession } from "../rpc/events.ts";
import { CLOSE_CODES, type Hello, type Permission, type RequestFrame } from "../rpc/frames.ts";
import type { EventChoice } from "../rpc/handler.ts";
import { tooManyRequests } from "./access.ts";
import { parseBoundedJson } from "./bounded-json.ts";
import type { GatewayCore } from "./gateway-core.ts";
import { outgoingError } from "./outgoing-error.ts";
import { agreeOnProtocol, readConnect, readNonce } from "./ws-connect.ts";

export interface WsClient {
  /** `json` is the event as text, made once for all clients. */
  tell(event: RpcEvent, json: () => string): void;
  close(code: number, reason: string): void;
}

/** A close frame that the client does not read is not waited for. */
const CLOSE_GRACE_MS = 1000;
/** Bytes that are kept of and for somebody who has not shown the token. */
const STRANGER_BYTES = 131_072;

/** `line` is what the WebSocket runs over. */
export function serveWsClient(socket: WebSocket, line: Socket, core: GatewayCore): WsClient {
  const { limits, logger } = core;
  const address = line.remoteAddress ?? "unknown";
  const gone = new AbortController();
  let permission: Permission | undefined;
  let choice: EventChoice | undefined;
  let calls = 0;
  let seq = 0;
  let isAlive = true;

  const close = (code: number, reason: string): void => {
    if (gone.signal.aborted) return;
    socket.close(code, reason);
    setTimeout(() => socket.terminate(), CLOSE_GRACE_MS).unref();
  };
  const send = (text: string): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount <= limits.maxBufferedBytes) socket.send(text);
    else close(CLOSE_CODES.tooSlow, "too slow: connect again and read the history");
  };
  const answer = async (frame: RequestFrame): Promise<void> => {
    try {
      const payload = permission === undefined ? await greet(frame) : await call(frame, permission);
      send(JSON.stringify({ type: "res", id: frame.id, ok: true, payload }));
    } catch (error) {
      const report = outgoingError(error, logger, `ws ${frame.method.slice(0, 100)}`);
      send(JSON.stringify({ type: "res", id: frame.id, ok: false, error: report }));
      if (permission === undefined) close(closeCodeOf(error), report.code);
    }
  };

  const greet = async (frame: RequestFrame): Promise<unknown> => {
    if (frame.method === "connect") return await connect(frame);
    if (frame.method !== "challenge") throw connectFirst();
    const nonce = isRecord(frame.params) ? frame.params["nonce"] : undefined;
    return { proof: await core.prove(readNonce(nonce)) };
  };
  const connect = async (frame: RequestFrame): Promise<Hello> => {
    const params = readConnect(frame.params);
    core.checkToken(params.token, address);
    const protocol = agreeOnProtocol(params);
    const { methods } = await core.dispatcher();
    clearTimeout(timer);
    line.off("data", boundStranger);
    permission = params.permission ?? "admin";
    return {
      protocol,
      server: { name: "holdfast", version: core.parts.version },
      permission,
      methods: [...methods],
      events: [...EVENT_NAMES],
      limits: { maxFrameBytes: limits.maxBodyBytes },
    };
  };
  const call = async (frame: RequestFrame, granted: Permission): Promise<unknown> => {
    // By address: another connection is not another client.
    const wait = core.requests.take(`connected:${address}`);
    if (wait !== undefined) throw tooManyRequests(wait);
    if (calls >= limits.maxCalls) throw tooManyCalls(limits.maxCalls);
    calls++;
    try {
      return await core.call(frame.method, frame.params, {
        permission: granted,
        signal: gone.signal,
        subscribe: (chosen) => {
          choice = chosen;
        },
      });
    } finally {
      calls--;
    }
  };

  // A frame counts as one when it is complete; until then a stranger's pieces of it would be kept.
  const boundStranger = (): void => {
    if (line.bytesRead > STRANGER_BYTES) socket.terminate();
  };
  line.on("data", boundStranger);
  const timer = setTimeout(() => {
    close(CLOSE_CODES.notConnected, "no connect request came in time");
  }, limits.connectTimeoutMs);
  const ping = setInterval(() => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    socket.ping();
  }, limits.pingMs);
  ping.unref();
  socket.on("pong", () => {
    isAlive = true;
  });
  // Each ping is answered with as much as it brought: whoever reads none of it could fill the memory.
  socket.on("ping", () => {
    if (socket.bufferedAmount > (permission === undefined ? STRANGER_BYTES : limits.maxBufferedBytes)) {
      socket.terminate();
    }
  });
  // A frame that is too large ends the connection with 1009; `close` follows.
  socket.on("error", (error) => logger.debug("a WebSocket failed", { error: error.message }));
  socket.on("close", () => {
    clearTimeout(timer);
    clearInterval(ping);
    gone.abort();
  });
  // One before the other until the client is connected: a second request must not overtake the first.
  let earlier: Promise<void> = Promise.resolve();
  socket.on("message", (data, isBinary) => {
    isAlive = true;
    const frame = readFrame(data, isBinary);
    if (frame === undefined) close(CLOSE_CODES.badFrame, "a frame that is no request");
    else if (permission === undefined) earlier = earlier.then(async () => await answer(frame));
    else void answer(frame);
  });

  return {
    tell: (event, json) => {
      const isClosing = event.type === "gateway.closing" && permission !== undefined;
      if (!isClosing && !isChosen(event, choice)) return;
      send(`{"type":"event","event":${JSON.stringify(event.type)},"seq":${++seq},"payload":${json()}}`);
    },
    close,
  };
}

function isChosen(event: RpcEvent, choice: EventChoice | undefined): boolean {
  if (choice === undefined) return false;
  if (choice.events !== undefined && !choice.events.includes(event.type)) return false;
  const session = eventSession(event);
  return session === undefined || choice.sessionKeys === undefined || choice.sessionKeys.includes(session.sessionKey);
}

function readFrame(data: RawData, isBinary: boolean): RequestFrame | undefined {
  if (isBinary || !Buffer.isBuffer(data)) return undefined;
  try {
    const frame = parseBoundedJson(data.toString("utf8"));
    if (!isRecord(frame) || frame["type"] !== "req") return undefined;
    const { id, method, params } = frame;
    if (typeof id !== "string" || id.length > MAX_ID || typeof method !== "string") return undefined;
    return { type: "req", id, method, params };
  } catch {
    return undefined;
  }
}

const MAX_ID = 200;

function closeCodeOf(error: unknown): number {
  const code = error instanceof HoldfastError ? error.code : "";
  if (code.startsWith("token-")) return CLOSE_CODES.unauthorized;
  if (code === "rate-limited") return CLOSE_CODES.tooManyRequests;
  return code === "protocol-mismatch" ? CLOSE_CODES.protocolMismatch : CLOSE_CODES.notConnected;
}

function connectFirst(): HoldfastError {
  return new HoldfastError("usage", "connect-first", "The first request must be connect", {
    hint: "Send connect with minProtocol, maxProtocol, token and client.",
  });
}

function tooManyCalls(limit: number): HoldfastError {
  return new HoldfastError("unavailable", "too-many-calls", `No more than ${limit} calls at the same time`, {
    hint: "Wait for answers before you ask for more.",
    data: { limit },
  });
}
