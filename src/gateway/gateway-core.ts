/**
 * What the HTTP and the WebSocket side share: who asks, how often, and what is called. The method table
 * is loaded with the first call, because it brings zod along.
 */
import { HoldfastError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { answerChallenge } from "../rpc/challenge.ts";
import type { Caller, Dispatcher } from "../rpc/dispatch.ts";
import type { RpcParts } from "../rpc/rpc-parts.ts";
import { type TokenCheck, createTokenCheck, tokenRefused, tooManyRequests } from "./access.ts";
import { type RateLimit, createRateLimit } from "./rate-limit.ts";

export interface GatewayLimits {
  maxBodyBytes: number;
  requestsPerMinute: number;
  /** Wrong tokens of one address within a minute. */
  wrongTokensPerMinute: number;
  maxConnections: number;
  /** How long a new WebSocket may take to send `connect`. */
  connectTimeoutMs: number;
  /** How long a request may take to arrive. */
  requestTimeoutMs: number;
  /** Bytes that wait for a client that does not read. */
  maxBufferedBytes: number;
  /** Calls of one WebSocket at the same time. */
  maxCalls: number;
  /** How often a WebSocket is asked whether it lives. */
  pingMs: number;
}

export const DEFAULT_LIMITS: Omit<GatewayLimits, "maxBodyBytes" | "requestsPerMinute"> = {
  wrongTokensPerMinute: 10,
  maxConnections: 256,
  connectTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  maxBufferedBytes: 4_194_304,
  maxCalls: 64,
  pingMs: 30_000,
};

export interface GatewayCore {
  parts: RpcParts;
  logger: Logger;
  limits: GatewayLimits;
  /** The port that the gateway listens on; known once it does. */
  port: number;
  /** Counts requests with the token, and those without one apart: strangers cannot use up the owner's share. */
  requests: RateLimit;
  dispatcher(): Promise<Dispatcher>;
  call(method: string, params: unknown, caller: Caller): Promise<unknown>;
  /** Throws unless the token is right. A right one passes however many wrong ones came from the same address. */
  checkToken(given: string | undefined, address: string): void;
  /** Shows that this gateway knows the token, to whoever asks. */
  prove(nonce: string): Promise<string>;
  /** True from the moment that the gateway stops. */
  isClosing: boolean;
  /** Calls that have no answer yet. */
  readonly underWay: ReadonlySet<Promise<unknown>>;
}

export interface CoreOptions {
  parts: RpcParts;
  token: string;
  limits: GatewayLimits;
}

export function createGatewayCore({ parts, token, limits }: CoreOptions): GatewayCore {
  const tokens: TokenCheck = createTokenCheck(token);
  const wrongTokens = createRateLimit({ perMinute: limits.wrongTokensPerMinute });
  const underWay = new Set<Promise<unknown>>();
  let dispatcher: Promise<Dispatcher> | undefined;

  const core: GatewayCore = {
    parts,
    logger: parts.logger,
    limits,
    port: 0,
    requests: createRateLimit({ perMinute: limits.requestsPerMinute }),
    isClosing: false,
    underWay,
    dispatcher: async () => await (dispatcher ??= loadDispatcher(parts)),
    call: async (method, params, caller) => {
      if (core.isClosing) throw stopping();
      const answer = core.dispatcher().then(async ({ call }) => await call(method, params, caller));
      underWay.add(answer);
      return await answer.finally(() => underWay.delete(answer));
    },
    checkToken: (given, address) => {
      if (tokens.matches(given)) return;
      const wait = wrongTokens.take(address);
      throw wait === undefined ? tokenRefused(given) : tooManyRequests(wait);
    },
    prove: async (nonce) => await answerChallenge({ token, port: core.port, nonce }),
  };
  return core;
}

async function loadDispatcher(parts: RpcParts): Promise<Dispatcher> {
  const { createDispatcher } = await import("../rpc/dispatch.ts");
  return createDispatcher(parts);
}

function stopping(): HoldfastError {
  return new HoldfastError("unavailable", "gateway-stopping", "The gateway is stopping", {
    hint: "Try again when it is back; what was admitted before is not lost.",
  });
}
