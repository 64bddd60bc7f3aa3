/**
 * The typed client of the gateway, for browsers and Node: no Node module, no zod. Methods, parameters and results come
 * from the method table; errors arrive as the HoldfastError that was thrown.
 *
 * A client is one connection. When it ends, running calls fail with kind `unavailable`, and `closed` has the reason.
 * The caller reconnects and reads the missed events.
 */
import { type ErrorReport, HoldfastError } from "../base/errors.ts";
import type { MethodName, ParamsOf, ResultOf } from "./contract.ts";
import {
  CLOSE_CODES,
  type ClientInfo,
  type ConnectParams,
  type Hello,
  PROTOCOL_VERSION,
  type Permission,
  type ServerFrame,
  answerChallenge,
  makeClientMark,
  makeNonce,
  type RpcEvent,
} from "./protocol.ts";

export interface RpcCaller {
  call: <Name extends MethodName>(
    method: Name,
    params: ParamsOf<Name>,
    options?: CallOptions,
  ) => Promise<ResultOf<Name>>;
}

export interface CallOptions {
  /** Stops waiting; the call may still be executed. */
  signal?: AbortSignal | undefined;
}

export interface RpcClient extends RpcCaller {
  readonly hello: Hello;
  /** For events selected with `events.subscribe`. Returns a function that removes the listener. */
  onEvent(listener: (event: RpcEvent) => void): () => void;
  /** Resolves when the connection has ended. Never rejects. */
  readonly closed: Promise<ConnectionEnd>;
  close(): void;
}

export interface ConnectionEnd {
  /** One of `CLOSE_CODES`, or a standard WebSocket code. */
  code: number;
  reason: string;
}

export interface ConnectOptions {
  url: string;
  token: string;
  client: ClientInfo;
  /** Limits this connection. Default: `admin`. */
  permission?: Permission | undefined;
}

/**
 * `url` is the gateway's, such as `http://127.0.0.1:7433`. Fails with `gateway-unproven` (forbidden), without
 * sending the token, if the program there does not know it.
 */
export async function connectRpc(options: ConnectOptions): Promise<RpcClient> {
  const socket = await openSocket(options);
  const calls = new Map<string, PromiseWithResolvers<unknown>>();
  const listeners = new Set<(event: RpcEvent) => void>();
  let end: ConnectionEnd | undefined;
  let lastId = 0;

  socket.addEventListener("message", ({ data }) => {
    const frame = JSON.parse(String(data)) as ServerFrame;
    if (frame.type === "event") {
      for (const listener of listeners) listener(frame.payload as RpcEvent);
      return;
    }
    const call = calls.get(frame.id);
    calls.delete(frame.id);
    if (frame.ok) call?.resolve(frame.payload);
    else call?.reject(toError(frame.error));
  });
  const closed = new Promise<ConnectionEnd>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => {
      end = { code, reason };
      for (const call of calls.values()) call.reject(connectionLost(end));
      calls.clear();
      resolve(end);
    });
  });

  const request = async (method: string, params: unknown, signal?: AbortSignal): Promise<unknown> => {
    if (end !== undefined) throw connectionLost(end);
    signal?.throwIfAborted();
    const id = String(++lastId);
    const call = Promise.withResolvers<unknown>();
    calls.set(id, call);
    const onAbort = (): void => {
      calls.delete(id);
      call.reject(signal?.reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      socket.send(JSON.stringify({ type: "req", id, method, params }));
      return await call.promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  };

  const sayHello = async (): Promise<Hello> => {
    await requireProof(options, async (nonce) => await request("challenge", { nonce }));
    const { token, client, permission } = options;
    const versions = { minProtocol: PROTOCOL_VERSION, maxProtocol: PROTOCOL_VERSION };
    return (await request("connect", { ...versions, token, client, permission } satisfies ConnectParams)) as Hello;
  };
  const hello = await sayHello().catch((error: unknown) => {
    socket.close(1000);
    throw error;
  });

  return {
    hello,
    call: async (method, params, { signal } = {}) => (await request(method, params, signal)) as ResultOf<typeof method>,
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    closed,
    close: () => socket.close(1000),
  };
}

/** Calls over HTTP, without events. */
export function createHttpCaller({ url, token }: { url: string; token: string }): RpcCaller {
  const ask = async (path: string, init: RequestInit): Promise<unknown> => {
    // A gateway never redirects; another program on its port must not pass the token on.
    const response = await fetch(new URL(path, url), { ...init, redirect: "error" }).catch((error: unknown) => {
      if (init.signal?.aborted === true) throw error;
      throw unreachable(url, error);
    });
    const answer = (await response.json().catch(() => undefined)) as HttpAnswer | undefined;
    if (answer?.ok === true) return answer.payload;
    if (answer?.ok === false) throw toError(answer.error);
    throw notAGateway(url, response.status);
  };
  return {
    call: async (method, params, { signal } = {}) => {
      const abort = signal === undefined ? {} : { signal };
      const client = await clientMark({ url, token });
      await requireProof(
        { url, token },
        async (nonce) => await ask(`/challenge?nonce=${nonce}&client=${client}`, abort),
      );
      const payload = await ask(`/rpc/${method}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(params),
        ...abort,
      });
      return payload as ResultOf<typeof method>;
    },
  };
}

type HttpAnswer = { ok: true; payload: unknown } | { ok: false; error: ErrorReport };

async function openSocket({ url, token }: Pick<ConnectOptions, "url" | "token">): Promise<WebSocket> {
  const address = new URL(`/ws?client=${await clientMark({ url, token })}`, url);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(unreachable(url)));
  });
  return socket;
}

/** Called before the token is sent: a program that took over the port must not get it. */
async function requireProof(
  { url, token }: Pick<ConnectOptions, "url" | "token">,
  ask: (nonce: string) => Promise<unknown>,
): Promise<void> {
  const nonce = makeNonce();
  const { proof } = ((await ask(nonce)) ?? {}) as { proof?: unknown };
  if (proof === (await answerChallenge({ token, port: portOf(url), nonce }))) return;
  throw new HoldfastError("forbidden", "gateway-unproven", `Wrong token for the gateway at ${url}`, {
    hint: "The token may be outdated, or another program may use the port: see `holdfast gateway link`.",
    data: { url },
  });
}

async function clientMark({ url, token }: Pick<ConnectOptions, "url" | "token">): Promise<string> {
  return await makeClientMark({ token, port: portOf(url), now: Date.now() });
}

function portOf(url: string): number {
  const { port } = new URL(url);
  return port === "" ? 80 : Number(port);
}

function toError({ kind, code, message, hint, data }: ErrorReport): HoldfastError {
  return new HoldfastError(kind, code, message, { hint, data });
}

function connectionLost({ code, reason }: ConnectionEnd): HoldfastError {
  const why = reason === "" ? `code ${code}` : reason;
  return new HoldfastError("unavailable", "connection-lost", `The connection to the gateway ended: ${why}`, {
    hint:
      code === CLOSE_CODES.tooSlow
        ? "Connect again and read the history: the client read events too slowly."
        : "Connect again; admitted messages are not lost.",
    data: { code },
  });
}

function unreachable(url: string, cause?: unknown): HoldfastError {
  return new HoldfastError("unavailable", "gateway-unreachable", `No gateway answers at ${url}`, {
    hint: "Start one with `holdfast gateway`.",
    data: { url },
    cause,
  });
}

function notAGateway(url: string, status: number): HoldfastError {
  const message = `The program at ${url} is not a gateway (${status})`;
  const hint = "Another program uses this port: see `holdfast status`, or set gateway.port in the configuration.";
  return new HoldfastError("unavailable", "gateway-answer-unknown", message, { hint, data: { url, status } });
}
