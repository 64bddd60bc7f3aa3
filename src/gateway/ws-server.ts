/**
 * WebSockets. A client first sends `connect` (before it, optionally `challenge` to verify the gateway), then
 * calls; events are sent to it. A client that calls too often is refused, one that reads too slowly or is gone
 * is disconnected; none affects the others. OpenClaw's clients speak their own protocol on the same sockets.
 */
import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type RawData, type WebSocket } from "ws";
import { nodeCrypto } from "../base/builtin.ts";
import { type ErrorReport, HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { checkHost, checkOrigin, headersOf, tooManyRequests } from "./access.ts";
import { createEventFeed } from "./event-feed.ts";
import type { GatewayCore } from "./gateway-core.ts";
import { httpStatusOf, outgoingError, parseBoundedJson } from "./request-body.ts";
import {
  CLOSE_CODES,
  type Hello,
  type Permission,
  type RequestFrame,
  type ConnectParams,
  PERMISSIONS,
  PROTOCOL_VERSION,
  NONCE,
  type RpcEvent,
  EVENT_NAMES,
  eventSession,
} from "../rpc/protocol.ts";
import type { EventChoice, RpcParts } from "../rpc/rpc-parts.ts";
import {
  OPENCLAW_PROTOCOL_VERSIONS,
  createOpenClawEvents,
  isOpenClawConnect,
  openClawError,
  openClawHello,
  readOpenClawConnect,
} from "../rpc/openclaw-protocol.ts";
import { answerOpenClaw, readOpenClawRequest } from "../rpc/openclaw-requests.ts";

export type WsServer = ReturnType<typeof attachWsServer>;

export function attachWsServer(server: Server, core: GatewayCore) {
  const events = createEventFeed(core.parts, (event) => send(event));
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: core.limits.maxBodyBytes,
    // Compression costs memory per connection and can leak a secret in the same message.
    perMessageDeflate: false,
  });
  const clients = new Set<ReturnType<typeof serveWsClient>>();

  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    try {
      admit(request, core);
    } catch (error) {
      refuse(socket, error);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      const client = serveWsClient(opened, request.socket, core);
      clients.add(client);
      events.watch();
      opened.on("close", () => {
        clients.delete(client);
        if (clients.size === 0) events.unwatch();
      });
    });
  });
  const send = (event: RpcEvent): void => {
    let text: string | undefined;
    for (const client of clients) client.sendEvent(event, () => (text ??= JSON.stringify(event)));
  };

  return {
    send,
    close: (reason: string): void => {
      events.close();
      for (const client of clients) client.close(CLOSE_CODES.goingAway, reason);
      sockets.close();
    },
  };
}

/**
 * The token comes with `connect`: browsers cannot send headers here, and a URL would be logged. So there is no
 * rate limit yet (strangers could use up the owner's share); the pool of connections limits strangers.
 */
function admit(request: IncomingMessage, core: GatewayCore): void {
  const header = headersOf(request);
  checkHost(header, core.port);
  checkOrigin(header, core.port);
  if (core.isClosing) throw new HoldfastError("unavailable", "gateway-stopping", "The gateway is stopping");
  const asked = /^\/(?:ws)?(?:\?client=([\w.]*))?$/.exec(request.url ?? "");
  if (asked === null) throw new HoldfastError("not-found", "no-such-address", "WebSockets are at /ws and /");
  core.checkMark(asked[1], request.socket);
}

function refuse(socket: Duplex, error: unknown): void {
  const status = httpStatusOf(error);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
  // Closes both directions: a client that keeps sending would keep the connection.
  socket.end(head, () => socket.destroy());
}

/** Terminates a client that does not answer the close frame. */
const CLOSE_GRACE_MS = 1000;
/** Bytes buffered from and for a client without a valid token. */
const STRANGER_BYTES = 131_072;

function serveWsClient(socket: WebSocket, line: Socket, core: GatewayCore) {
  const { limits, logger } = core;
  const address = line.remoteAddress ?? "unknown";
  const gone = new AbortController();
  let permission: Permission | undefined;
  let choice: EventChoice | undefined;
  let dialect = OWN_DIALECT;
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
  const sendFrame = (name: string, payload: string): void => {
    send(`{"type":"event","event":${JSON.stringify(name)},"seq":${++seq},"payload":${payload}}`);
  };
  const answer = async (frame: RequestFrame): Promise<void> => {
    try {
      const payload = permission === undefined ? await greet(frame) : await call(frame, permission);
      send(JSON.stringify({ type: "res", id: frame.id, ok: true, payload }));
    } catch (error) {
      const report = outgoingError(error, logger, `ws ${frame.method.slice(0, 100)}`);
      send(JSON.stringify({ type: "res", id: frame.id, ok: false, error: dialect.toError(report) }));
      if (permission === undefined) close(closeCodeOf(error), report.code);
    }
  };

  const greet = async (frame: RequestFrame): Promise<unknown> => {
    if (frame.method === "connect") return await connect(frame);
    if (frame.method !== "challenge") throw connectFirst();
    const nonce = isRecord(frame.params) ? frame.params["nonce"] : undefined;
    return { proof: await core.prove(readNonce(nonce)) };
  };
  const connect = async ({ params }: RequestFrame): Promise<unknown> => {
    const isOpenClaw = isOpenClawConnect(params);
    if (isOpenClaw) dialect = openClawDialect(core.parts);
    const asked = isOpenClaw ? readOpenClawConnect(params) : readConnect(params);
    core.checkToken(asked.token, line);
    const protocol = agreeOnProtocol(asked, isOpenClaw ? OPENCLAW_PROTOCOL_VERSIONS : [PROTOCOL_VERSION]);
    const { methods } = await core.dispatcher();
    clearTimeout(timer);
    line.off("data", boundStranger);
    permission = asked.permission ?? "admin";
    return isOpenClaw ? greetOpenClaw(protocol, permission, methods) : hello(protocol, permission, methods);
  };
  const greetOpenClaw = (protocol: number, granted: Permission, methods: readonly string[]): unknown => {
    choice = {};
    ticks = setInterval(() => sendFrame("tick", JSON.stringify({ ts: core.parts.clock.now() })), limits.tickMs);
    ticks.unref();
    const { maxBodyBytes: maxFrameBytes, maxBufferedBytes, tickMs } = limits;
    const connectionId = nodeCrypto().randomUUID();
    const facts = { parts: core.parts, protocol, permission: granted, methods, connectionId };
    return openClawHello({ ...facts, maxFrameBytes, maxBufferedBytes, tickMs });
  };
  const hello = (protocol: number, granted: Permission, methods: readonly string[]): Hello => {
    return {
      protocol,
      server: { name: "holdfast", version: core.parts.version },
      permission: granted,
      methods: [...methods],
      events: [...EVENT_NAMES],
      limits: { maxFrameBytes: limits.maxBodyBytes },
    };
  };
  const call = async (frame: RequestFrame, granted: Permission): Promise<unknown> => {
    // Per address: a client may open several connections.
    const wait = core.requests.take(`connected:${address}`);
    if (wait !== undefined) throw tooManyRequests(wait);
    if (calls >= limits.maxCalls) throw tooManyCalls(limits.maxCalls);
    calls++;
    try {
      const known = dialect.answer?.(frame.method);
      if (known !== undefined) return known;
      const { method, params } = dialect.toRequest(frame);
      return await core.call(method, params, {
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

  // ws buffers fragments until a frame is complete; this limits them.
  const boundStranger = (): void => {
    if (line.bytesRead > STRANGER_BYTES) socket.terminate();
  };
  line.on("data", boundStranger);
  const timer = setTimeout(() => {
    close(CLOSE_CODES.notConnected, "no connect request in time");
  }, limits.connectTimeoutMs);
  let ticks: NodeJS.Timeout | undefined;
  const challenge = setTimeout(() => {
    const payload = { nonce: nodeCrypto().randomUUID(), ts: core.parts.clock.now() };
    send(JSON.stringify({ type: "event", event: "connect.challenge", payload }));
  }, limits.challengeMs);
  const ping = setInterval(() => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    socket.ping();
  }, limits.pingMs);
  ping.unref();
  socket.on("pong", () => {
    isAlive = true;
  });
  // Each ping is answered with its payload: a client that reads none of them could fill the memory.
  socket.on("ping", () => {
    if (socket.bufferedAmount > (permission === undefined ? STRANGER_BYTES : limits.maxBufferedBytes)) {
      socket.terminate();
    }
  });
  // Too large a frame closes the connection with 1009; `close` follows.
  socket.on("error", (error) => logger.debug("WebSocket error", { error: error.message }));
  socket.on("close", () => {
    clearTimeout(timer);
    clearTimeout(challenge);
    clearInterval(ticks);
    clearInterval(ping);
    gone.abort();
  });
  // Sequential until the client is connected: a second request must not overtake `connect`.
  let earlier: Promise<void> = Promise.resolve();
  socket.on("message", (data, isBinary) => {
    isAlive = true;
    clearTimeout(challenge);
    const frame = readFrame(data, isBinary);
    if (frame === undefined) close(CLOSE_CODES.badFrame, "not a request frame");
    else if (permission === undefined) earlier = earlier.then(async () => await answer(frame));
    else void answer(frame);
  });

  return {
    /** `json` returns the event as text, serialized once for all clients. */
    sendEvent: (event: RpcEvent, json: () => string): void => {
      const isClosing = event.type === "gateway.closing" && permission !== undefined;
      if (!isClosing && !isSubscribed(event, choice)) return;
      for (const { name, payload } of dialect.toEvents(event, json)) sendFrame(name, payload);
    },
    close,
  };
}

/** The names and shapes that a connection uses. */
interface Dialect {
  /** The answer to a method that is not in the table. Optional. */
  answer?(method: string): unknown;
  toRequest(frame: RequestFrame): Pick<RequestFrame, "method" | "params">;
  toError(report: ErrorReport): unknown;
  /** The payloads are JSON. */
  toEvents(event: RpcEvent, json: () => string): { name: string; payload: string }[];
}

const OWN_DIALECT: Dialect = {
  toRequest: (frame) => frame,
  toError: (report) => report,
  toEvents: (event, json) => [{ name: event.type, payload: json() }],
};

function openClawDialect(parts: RpcParts): Dialect {
  const translate = createOpenClawEvents(() => parts.clock.now());
  return {
    answer: (method) => answerOpenClaw(method, parts),
    toRequest: readOpenClawRequest,
    toError: openClawError,
    toEvents: (given) =>
      translate(given).map(({ event, payload }) => ({ name: event, payload: JSON.stringify(payload) })),
  };
}

function isSubscribed(event: RpcEvent, choice: EventChoice | undefined): boolean {
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
  return new HoldfastError("unavailable", "too-many-calls", `At most ${limit} concurrent calls`, {
    hint: "Wait for answers before you send more calls.",
    data: { limit },
  });
}

/** Checked by hand, like `connect`: a stranger must not make the gateway load the method table. */
export function readNonce(nonce: unknown): string {
  if (typeof nonce === "string" && NONCE.test(nonce)) return nonce;
  throw new HoldfastError("usage", "invalid-params", "invalid challenge params: nonce is 32 to 128 hex digits", {
    hint: "Send random ones.",
  });
}

function readConnect(params: unknown): ConnectParams {
  if (!isRecord(params)) throw invalidConnect("params are missing");
  const { minProtocol, maxProtocol, token, client, permission: wanted } = params;
  if (!isVersion(minProtocol) || !isVersion(maxProtocol))
    throw invalidConnect("minProtocol and maxProtocol are numbers");
  if (token !== undefined && typeof token !== "string") throw invalidConnect("token is text");
  if (!isRecord(client) || typeof client["name"] !== "string") throw invalidConnect("client has a name");
  const permission = PERMISSIONS.find((known) => known === wanted);
  // An unknown permission must not grant more than intended.
  if (wanted !== undefined && permission === undefined) throw invalidConnect(`permission is ${PERMISSIONS.join(", ")}`);
  const { name, version } = client;
  return {
    minProtocol,
    maxProtocol,
    token,
    client: { name, version: typeof version === "string" ? version : undefined },
    permission,
  };
}

function agreeOnProtocol(
  { minProtocol, maxProtocol }: Pick<ConnectParams, "minProtocol" | "maxProtocol">,
  versions: readonly number[],
): number {
  const agreed = versions.findLast((version) => minProtocol <= version && version <= maxProtocol);
  if (agreed !== undefined) return agreed;
  const message = `This gateway speaks protocol version ${versions.join(" and ")}, the client ${minProtocol} to ${maxProtocol}`;
  const hint = "Use the client that came with this version of Holdfast.";
  throw new HoldfastError("unsupported", "protocol-mismatch", message, { hint, data: { protocol: versions.at(-1) } });
}

function isVersion(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

function invalidConnect(rule: string): HoldfastError {
  return new HoldfastError("usage", "invalid-params", `invalid connect params: ${rule}`, {
    hint: "Send minProtocol, maxProtocol, token and client.",
  });
}
