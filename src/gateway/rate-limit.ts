/** Requests per client and minute, as a bucket that refills steadily. Memory is bounded whoever asks. */

export interface RateLimit {
  /** Undefined: go ahead. Otherwise how long (ms) to wait before the next try. */
  take(client: string): number | undefined;
}

export interface RateLimitOptions {
  perMinute: number;
  /** How many clients are remembered; the one unused for longest is forgotten first. Left out: 1000. */
  maxClients?: number;
  /** A steady clock in ms. */
  now?: () => number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export function createRateLimit(options: RateLimitOptions): RateLimit {
  const { perMinute, maxClients = 1000, now = () => performance.now() } = options;
  const perMs = perMinute / 60_000;
  const buckets = new Map<string, Bucket>();
  return {
    take: (client) => {
      const at = now();
      const known = buckets.get(client) ?? { tokens: perMinute, at };
      const tokens = Math.min(perMinute, known.tokens + (at - known.at) * perMs);
      const isAllowed = tokens >= 1;
      // Deleted and set again: the map's order is the order of use.
      buckets.delete(client);
      buckets.set(client, { tokens: isAllowed ? tokens - 1 : tokens, at });
      if (buckets.size > maxClients) forgetOldest(buckets);
      return isAllowed ? undefined : Math.ceil((1 - tokens) / perMs);
    },
  };
}

function forgetOldest(buckets: Map<string, Bucket>): void {
  for (const client of buckets.keys()) {
    buckets.delete(client);
    return;
  }
}
