/** Renews the leases of a node together: hundreds of running turns cost a few statements a second. */
import type { Lease } from "../queues.ts";
import type { Connection } from "./connection.ts";

interface Renewal {
  agentId: string;
  lease: Lease;
  ttlMs: number;
}

/** Resolves to the renewed lease. Undefined if another process has taken it over. */
export type RenewLeases = (renewal: Renewal) => Promise<Lease | undefined>;

interface Waiting extends Renewal {
  resolve: (renewed: Lease | undefined) => void;
  reject: (error: unknown) => void;
}

/** Much shorter than the time between two renewals of a lease. */
const COLLECT_MS = 50;
/** Shorter than a lease: a renewal that hangs must leave time for another. */
const ANSWER_MS = 2000;

export function createRenewals(query: Connection["query"]): RenewLeases {
  let waiting: Waiting[] = [];

  const send = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    const given = batch.map(({ agentId, lease, ttlMs }, nr) => {
      return { nr, agent: agentId, key: lease.key, epoch: lease.epoch, holder: lease.holder, ttl: ttlMs };
    });
    try {
      const [row] = await query("SELECT holdfast.renew_leases($1) AS ends", [{ json: given }], {
        isRepeatable: true,
        answerMs: ANSWER_MS,
      });
      const ends = row?.["ends"] as unknown as (number | null)[];
      for (const [nr, { lease, resolve }] of batch.entries()) {
        const expiresAt = ends[nr];
        resolve(typeof expiresAt === "number" ? { ...lease, expiresAt } : undefined);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  return async (renewal) =>
    await new Promise((resolve, reject) => {
      if (waiting.length === 0) setTimeout(() => void send(), COLLECT_MS);
      waiting.push({ ...renewal, resolve, reject });
    });
}
