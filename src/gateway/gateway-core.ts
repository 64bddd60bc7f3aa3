/**
 * Shared by HTTP and WebSocket: authentication, limits and calls. The method table is loaded with the
 * first call, because it loads zod.
 */
import type { Socket } from "node:net";
import { HoldfastError, isOutOfFiles } from "../base/errors.ts";
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
  pingMs: 30_000,
  /** How long a new WebSocket may be silent before it gets OpenClaw's challenge. */
  challengeMs: 50,
  /** Between the ticks that OpenClaw's clients expect. */
  tickMs: 30_000,
};

export type GatewayLimits = Record<keyof typeof DEFAULT_LIMITS | "maxBodyBytes" | "requestsPerMinute", number>;

export type GatewayCore = ReturnType<typeof createGatewayCore>;

export function createGatewayCore(parts: RpcParts, token: string, limits: GatewayLimits) {
  const tokens = createTokenCheck(token);
  const wrongTokens = createRateLimit(limits.wrongTokensPerMinute);
  const failures = createCallFailures();
  const checking = lazy(async () => await checkHealth(parts, failures.recent()));
  const calls = new Set<Promise<unknown>>();
  const dispatcher = lazy(async () => (await import("../rpc/dispatch.ts")).createDispatcher(parts));

  const core = {
    parts,
    logger: parts.logger,
    limits,
    /** 0 until the gateway listens. */
    port: 0,
    /** Counts requests with and without the token separately, so that strangers cannot use up the owner's share. */
    requests: createRateLimit(limits.requestsPerMinute),
    freeConnections: (): void => undefined,
    isClosing: false,
    calls,
    dispatcher: (): Promise<Dispatcher> => dispatcher.get(),
    call: async (method: string, params: unknown, caller: Caller): Promise<unknown> => {
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
    /** Whether calls can be answered now. Concurrent requests share one check. */
    health: async (): Promise<HealthCheck> => {
      try {
        return await checking.get();
      } finally {
        checking.clear();
      }
    },
    connections: createConnections(limits),
    /** Trusts the connection if the token is right, however many wrong ones came before; throws otherwise. */
    checkToken: (given: string | undefined, socket: Socket): void => {
      if (tokens.matches(given)) return core.connections.trust(socket);
      const wait = wrongTokens.take(socket.remoteAddress ?? "unknown");
      throw wait === undefined ? tokenRefused(given) : tooManyRequests(wait);
    },
    checkMark: (mark: string | undefined, socket: Socket): void => {
      if (tokens.matchesMark(mark, core.port)) core.connections.trust(socket);
    },
    prove: async (nonce: string): Promise<string> => await answerChallenge({ token, port: core.port, nonce }),
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
  const strangers = new Set<Socket>();
  const trusted = new Set<Socket>();
  const isOver = (): boolean => strangers.size > maxStrangers || strangers.size + trusted.size > maxConnections;
  return {
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
    trust: (socket: Socket): void => {
      if (strangers.delete(socket)) trusted.add(socket);
    },
  };
}

/** Requests per client and minute: a bucket that refills steadily, for the last `maxClients` clients. */
export function createRateLimit(perMinute: number, { maxClients = 1000, now = () => performance.now() } = {}) {
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
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
