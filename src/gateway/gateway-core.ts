/**
 * Shared by HTTP and WebSocket: authentication, limits and calls. The method table is loaded with the
 * first call, because it loads zod.
 */
import type { Socket } from "node:net";
import { HoldfastError, isOutOfFiles } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { type HealthCheck, checkHealth, createCallFailures } from "../rpc/check-health.ts";
import type { Caller, Dispatcher } from "../rpc/dispatch.ts";
import type { RpcParts } from "../rpc/rpc-parts.ts";
import { createTokenCheck, tokenRefused, tooManyRequests } from "./access.ts";
import { answerChallenge } from "../rpc/protocol.ts";
import { lazy } from "../base/async.ts";

export const DEFAULT_LIMITS = {
  /** Wrong tokens from one address. */
  wrongTokensPerMinute: 10,
  /** Trusted connections included. */
  maxConnections: 256,
  /** Connections without a valid token yet. */
  maxStrangers: 128,
  /** Until a new WebSocket must have sent `connect`. */
  connectTimeoutMs: 5000,
  /** How long a request may take to arrive. */
  requestTimeoutMs: 30_000,
  /** Bytes buffered for a client that does not read. */
  maxBufferedBytes: 4_194_304,
  /** Concurrent calls of one WebSocket. */
  maxCalls: 64,
  /** Interval of WebSocket pings. */
  pingMs: 30_000,
};

export type GatewayLimits = Record<keyof typeof DEFAULT_LIMITS | "maxBodyBytes" | "requestsPerMinute", number>;

export interface GatewayCore {
  parts: RpcParts;
  logger: Logger;
  limits: GatewayLimits;
  /** 0 until the gateway listens. */
  port: number;
  /** Counts requests with and without the token separately, so that strangers cannot use up the owner's share. */
  requests: ReturnType<typeof createRateLimit>;
  dispatcher(): Promise<Dispatcher>;
  call(method: string, params: unknown, caller: Caller): Promise<unknown>;
  /** Whether calls can be answered now. Concurrent requests share one check. */
  health(): Promise<HealthCheck>;
  connections: ReturnType<typeof createConnections>;
  /** Trusts the connection if the token is right, however many wrong ones came before; throws otherwise. */
  checkToken(given: string | undefined, socket: Socket): void;
  /** Trusts the connection if the mark in its URL is right. */
  checkMark(mark: string | undefined, socket: Socket): void;
  /** Proves that this gateway knows the token. */
  prove(nonce: string): Promise<string>;
  /** Closes idle connections. Does nothing until the gateway listens. */
  freeConnections: () => void;
  /** True once the gateway is stopping. */
  isClosing: boolean;
  /** Unanswered calls. */
  readonly calls: ReadonlySet<Promise<unknown>>;
}

export function createGatewayCore(parts: RpcParts, token: string, limits: GatewayLimits): GatewayCore {
  const tokens = createTokenCheck(token);
  const wrongTokens = createRateLimit(limits.wrongTokensPerMinute);
  const failures = createCallFailures();
  const checking = lazy(async () => await checkHealth(parts, failures.recent()));
  const calls = new Set<Promise<unknown>>();
  const dispatcher = lazy(async () => (await import("../rpc/dispatch.ts")).createDispatcher(parts));

  const core: GatewayCore = {
    parts,
    logger: parts.logger,
    limits,
    port: 0,
    requests: createRateLimit(limits.requestsPerMinute),
    freeConnections: () => undefined,
    isClosing: false,
    calls,
    dispatcher: () => dispatcher.get(),
    call: async (method, params, caller) => {
      if (core.isClosing) throw stopping();
      const given = { ...caller, recentFailures: () => failures.recent() };
      const answer = core.dispatcher().then(async ({ call }) => await call(method, params, given));
      calls.add(answer);
      answer.then(
        () => failures.note(method, undefined),
        (error: unknown) => {
          failures.note(method, error);
          if (isOutOfFiles(error)) core.freeConnections();
        },
      );
      return await answer.finally(() => calls.delete(answer));
    },
    health: async () => {
      try {
        return await checking.get();
      } finally {
        checking.clear();
      }
    },
    connections: createConnections(limits),
    checkToken: (given, socket) => {
      if (tokens.matches(given)) {
        core.connections.trust(socket);
        return;
      }
      const wait = wrongTokens.take(socket.remoteAddress ?? "unknown");
      throw wait === undefined ? tokenRefused(given) : tooManyRequests(wait);
    },
    checkMark: (mark, socket) => {
      if (tokens.matchesMark(mark, core.port)) core.connections.trust(socket);
    },
    prove: async (nonce) => await answerChallenge({ token, port: core.port, nonce }),
  };
  return core;
}

function stopping(): HoldfastError {
  return new HoldfastError("unavailable", "gateway-stopping", "The gateway is stopping", {
    hint: "Try again when it is back; admitted messages are not lost.",
  });
}

/**
 * The gateway's connections. All come from this machine, so an address does not identify the owner: a
 * connection is a stranger's until it shows the token or a proof of it. Strangers share a small pool, in which
 * a new connection replaces the oldest. So a flood can neither end the owner's connections nor prevent new ones.
 */
function createConnections({ maxConnections, maxStrangers }: GatewayLimits) {
  /** Oldest first. */
  const strangers = new Set<Socket>();
  const trusted = new Set<Socket>();
  const isOver = (): boolean => strangers.size > maxStrangers || strangers.size + trusted.size > maxConnections;
  return {
    /** Adds an untrusted connection. */
    add: (socket: Socket): void => {
      strangers.add(socket);
      socket.once("close", () => {
        strangers.delete(socket);
        trusted.delete(socket);
      });
      for (const oldest of strangers) {
        if (!isOver()) return;
        strangers.delete(oldest);
        oldest.destroy();
      }
    },
    /** Keeps the connection until it is closed. */
    trust: (socket: Socket): void => {
      if (strangers.delete(socket)) trusted.add(socket);
    },
  };
}

/**
 * Requests per client and minute: a bucket that refills steadily. Remembers the last `maxClients`. `now` is a steady
 * clock in ms.
 */
export function createRateLimit(perMinute: number, { maxClients = 1000, now = () => performance.now() } = {}) {
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    /** Undefined: allowed. Otherwise the time to wait, in ms. */
    take: (client: string): number | undefined => {
      const at = now();
      const known = buckets.get(client) ?? { tokens: perMinute, at };
      const tokens = Math.min(perMinute, known.tokens + (at - known.at) * perMs);
      const isAllowed = tokens >= 1;
      // Deleting first moves the client to the end: the map is ordered by use.
      buckets.delete(client);
      buckets.set(client, { tokens: isAllowed ? tokens - 1 : tokens, at });
      const [oldest] = buckets.keys();
      if (buckets.size > maxClients && oldest !== undefined) buckets.delete(oldest);
      return isAllowed ? undefined : Math.ceil((1 - tokens) / perMs);
    },
  };
}
