/**
 * The typed client of the gateway, for browsers and for Node: no Node module, no zod. Methods, parameters
 * and results come from the method table; errors come back as the HoldfastError that was thrown.
 *
 * A client is one connection. When it ends, every call under way is refused with kind `unavailable`, and
 * `closed` says why; connecting again and reading what was missed is for whoever knows what is shown.
 */
import { type ErrorReport, HoldfastError } from "../base/errors.ts";
import { answerChallenge, makeNonce } from "./challenge.ts";
import type { MethodName, ParamsOf, ResultOf } from "./contract.ts";
import type { RpcEvent } from "./events.ts";
import {
  CLOSE_CODES,
  type ClientInfo,
  type ConnectParams,
  type Hello,
  PROTOCOL_VERSION,
  type Permission,
  type ServerFrame,
} from "./frames.ts";

export interface RpcCaller {
  call: <Name extends MethodName>(
    method: Name,
    params: ParamsOf<Name>,
    options?: CallOptions,
  ) => Promise<ResultOf<Name>>;
}

export interface CallOptions {
  /** Stops waiting; what was asked for may still be done. */
  signal?: AbortSignal;
}

export interface RpcClient extends RpcCaller {
  readonly hello: Hello;
  /** What was subscribed to with `events.subscribe`. Returns the way to stop. */
  onEvent(listener: (event: RpcEvent) => void): () => void;
  /** Resolves when the connection ends, whoever ended it. Never rejects. */
  readonly closed: Promise<ConnectionEnd>;
  close(): void;
}

export interface ConnectionEnd {
  /** One of `CLOSE_CODES`, or what WebSocket itself says. */
  code: number;
  reason: string;
}

/** A two-way line of texts. */
interface RpcConnection {
  send(text: string): void;
  close(): void;
  onText(listener: (text: string) => void): void;
  readonly closed: Promise<ConnectionEnd>;
}

export interface ConnectOptions {
  url: string;
  token: string;
  client: ClientInfo;
  /** The most that this connection may do. Left out: everything. */
  permission?: Permission;
}

/**
 * `url` is the gateway's, such as `http://127.0.0.1:7433`. Refused with `gateway-unproven` (forbidden) when
 * what answers there does not know the token; then it is not told either.
 */
export async function connectRpc(options: ConnectOptions): Promise<RpcClient> {
  return await createRpcClient(await openConnection(options.url), options);
}

/** Says hello over a connection that is open. */
async function createRpcClient(connection: RpcConnection, options: ConnectOptions): Promise<RpcClient> {
  const calls = new Map<string, PromiseWithResolvers<unknown>>();
  const listeners = new Set<(event: RpcEvent) => void>();
  let end: ConnectionEnd | undefined;
  let lastId = 0;

  connection.onText((text) => {
    const frame = JSON.parse(text) as ServerFrame;
    if (frame.type === "event") {
      for (const listener of listeners) listener(frame.payload as RpcEvent);
      return;
    }
    const call = calls.get(frame.id);
    calls.delete(frame.id);
    if (frame.ok) call?.resolve(frame.payload);
    else call?.reject(toError(frame.error));
  });
  const closed = connection.closed.then((ended) => {
    end = ended;
    for (const call of calls.values()) call.reject(connectionLost(ended));
    calls.clear();
    return ended;
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
      connection.send(JSON.stringify({ type: "req", id, method, params }));
      return await call.promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  };

  const sayHello = async (): Promise<Hello> => {
    await requireProof(options, async (nonce) => await request("challenge", { nonce }));
    return (await request("connect", connectParams(options))) as Hello;
  };
  const hello = await sayHello().catch((error: unknown) => {
    connection.close();
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
    close: () => connection.close(),
  };
}

/** Calls over HTTP, one at a time: for whoever asks once and needs no events. */
export function createHttpCaller({ url, token }: { url: string; token: string }): RpcCaller {
  const ask = async (path: string, init: RequestInit): Promise<unknown> => {
    // A gateway never redirects; something else on its port must not pass the token on.
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
      await requireProof({ url, token }, async (nonce) => await ask(`/challenge?nonce=${nonce}`, abort));
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

/** Works with the WebSocket that browsers and Node have built in. */
async function openConnection(url: string): Promise<RpcConnection> {
  const address = new URL("/ws", url);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(address);
  const closed = new Promise<ConnectionEnd>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => resolve({ code, reason }));
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(unreachable(url)));
  });
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(1000),
    onText: (listener) => socket.addEventListener("message", ({ data }) => listener(String(data))),
    closed,
  };
}

/** Before the token goes anywhere: whoever took the port of a gateway that ended must not get it. */
async function requireProof(
  { url, token }: Pick<ConnectOptions, "url" | "token">,
  ask: (nonce: string) => Promise<unknown>,
): Promise<void> {
  const nonce = makeNonce();
  const { proof } = ((await ask(nonce)) ?? {}) as { proof?: unknown };
  const port = Number(new URL(url).port === "" ? 80 : new URL(url).port);
  if (proof === (await answerChallenge({ token, port, nonce }))) return;
  throw new HoldfastError("forbidden", "gateway-unproven", `What answers at ${url} does not know this token`, {
    hint: "The token may be an old one, or another program may have the port: see `holdfast gateway link`.",
    data: { url },
  });
}

function connectParams({ token, client, permission }: ConnectOptions): ConnectParams {
  return {
    minProtocol: PROTOCOL_VERSION,
    maxProtocol: PROTOCOL_VERSION,
    token,
    client,
    ...(permission === undefined ? {} : { permission }),
  };
}

function toError({ kind, code, message, hint, data }: ErrorReport): HoldfastError {
  return new HoldfastError(kind, code, message, { hint, data });
}

function connectionLost({ code, reason }: ConnectionEnd): HoldfastError {
  const told = reason === "" ? `code ${code}` : reason;
  return new HoldfastError("unavailable", "connection-lost", `The connection to the gateway ended: ${told}`, {
    hint:
      code === CLOSE_CODES.tooSlow
        ? "Connect again and read the history: events were coming faster than they were read."
        : "Connect again; what was admitted before is not lost.",
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
  return new HoldfastError(
    "unavailable",
    "gateway-answer-unknown",
    `What answers at ${url} is no gateway (${status})`,
    {
      hint: "Something else uses this port: see `holdfast status`, or set gateway.port in the configuration.",
      data: { url, status },
    },
  );
}
