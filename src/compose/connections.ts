/**
 * One gateway is connected to each account whose platform serves one connection at a time. Which one decides a lease in
 * the store of the account's agent. The others wait and take over when it is free. A gateway that loses the lease, or
 * that others may think dead, stops its channel.
 */
import { raceAbort } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import { errorMessage } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { type ChannelStatus, pauseAfter } from "../channels/channel.ts";
import { type TakenLease, acquireLease } from "../session/lease.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { ChannelAccount } from "../turn/pipeline.ts";

export interface ConnectionOptions {
  openAgent: (agentId: string) => Promise<AgentHandle>;
  report: (status: ChannelStatus) => void;
  clock: Clock;
  logger: Logger;
  /** The gateway stops. The caller then stops the channel, and releases the lease. */
  signal: AbortSignal;
}

/** How often a waiting gateway looks. */
const LOOK_MS = 1000;
/**
 * On one machine, the lease of a dead process is free at once. It is long there, because each renewal is a write to the
 * disk of a gateway that may have nothing else to do.
 */
const LOCAL_TTL_MS = 120_000;

/**
 * Calls `connect` whenever this gateway holds the account's lease, and stops the channel when it is lost. Resolves when
 * the gateway stops, to the lease if it holds it, or when `connect` resolves to false: the account cannot be used here.
 * `onFirst` is called when the first attempt has ended, in whatever way.
 */
export async function keepConnection(
  account: ChannelAccount,
  options: ConnectionOptions,
  connect: (ending: AbortSignal) => Promise<boolean>,
  onFirst: () => void,
): Promise<TakenLease | undefined> {
  const { signal, logger } = options;
  const { channel } = account;
  for (;;) {
    const taken = await waitForLease(account, options, onFirst);
    if (taken === undefined) return undefined;
    const ending = AbortSignal.any([signal, taken.held.signal]);
    const connecting = connect(ending).finally(onFirst);
    const forever = new Promise<never>(() => undefined);
    const isUnusable = await raceAbort(
      connecting.then(async (isUsable) => (isUsable ? await forever : true)),
      ending,
    ).catch(() => false);
    if (isUnusable) {
      await taken.release({ evenIf: "refused" }).catch(() => undefined);
      return undefined;
    }
    if (signal.aborted) return taken;
    logger.warn("another gateway may take over an account", { channel: channel.name, accountId: channel.accountId });
    // Not renewed any more: if the channel cannot stop now, another gateway takes over when the lease ends.
    taken.forget();
    options.report({ state: "stopped", text: "disconnected: another gateway may take over" });
    await channel.stop();
    await connecting;
    // Does nothing if another gateway has taken it.
    await taken.release({ evenIf: "refused" }).catch(() => undefined);
  }
}

/** Undefined when the gateway stops. */
async function waitForLease(
  account: ChannelAccount,
  { openAgent, report, clock, logger, signal }: ConnectionOptions,
  onFirst: () => void,
): Promise<TakenLease | undefined> {
  const { name, accountId } = account.channel;
  const connection = { channel: name, accountId };
  let reported: string | undefined;
  const tell = (text: string): void => {
    if (text !== reported) report({ state: "stopped", text });
    reported = text;
    onFirst();
  };
  for (let failures = 0; !signal.aborted;) {
    let pauseMs = LOOK_MS * (0.75 + Math.random() / 2);
    try {
      const agent = await openAgent(account.agentId);
      const { marginMs, defaultTtlMs } = agent.store.leases;
      const ttlMs = marginMs === undefined ? LOCAL_TTL_MS : defaultTtlMs;
      const attempt = await acquireLease(agent, { connection }, { ttlMs, stopsInDoubt: true });
      if (!("heldBy" in attempt)) return attempt;
      failures = 0;
      const { host, pid } = attempt.heldBy.process;
      tell(`another gateway is connected (${host}, process ${pid})`);
    } catch (error) {
      logger.warn("could not ask which gateway is connected", { ...connection, error });
      // Not "retrying": that is a channel which can send.
      tell(`cannot connect without the store: ${errorMessage(error)}`);
      pauseMs = Math.min(MAX_PAUSE_MS, pauseAfter(undefined, failures++));
    }
    await clock.sleep(pauseMs, signal).catch(() => undefined);
  }
  return undefined;
}

const MAX_PAUSE_MS = 5000;
