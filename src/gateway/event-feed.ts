/**
 * The events that clients of this gateway see: its own, and in a cluster those of the other nodes. The end of a turn
 * may be known from the store and from the node that ran it, so each is passed on once.
 */
import { lazy } from "../base/async.ts";
import type { RpcEvent } from "../rpc/protocol.ts";
import type { RpcParts } from "../rpc/rpc-parts.ts";

const REMEMBERED_ENDS = 1000;
const RETRY_MS = 5000;

export function createEventFeed({ pipeline, agents, config, logger }: RpcParts, send: (event: RpcEvent) => void) {
  const ends = new Set<string>();
  const pass = (event: RpcEvent): void => {
    if (event.type === "turn.ended") {
      const name = `${event.agentId} ${event.itemId}`;
      if (ends.has(name)) return;
      ends.add(name);
      const [oldest] = ends;
      if (ends.size > REMEMBERED_ENDS && oldest !== undefined) ends.delete(oldest);
    }
    send(event);
  };
  const isCluster = config.store.kind === "postgres";
  /** One store stands for all: broadcasts belong to no agent. */
  const cluster = lazy(async () => (await agents.open(config.defaultAgent)).agent.store.cluster);
  let stopListening: (() => void) | undefined;
  let isWatched = false;
  let retry: NodeJS.Timeout | undefined;

  const listen = async (): Promise<void> => {
    const shared = await cluster.get();
    if (isWatched) stopListening ??= shared?.onBroadcast((event) => pass(event as RpcEvent));
  };
  const watch = (): void => {
    isWatched = true;
    if (!isCluster) return;
    listen().catch((error: unknown) => {
      logger.warn("clients do not see the turns of other nodes yet", { error });
      clearTimeout(retry);
      retry = setTimeout(watch, RETRY_MS).unref();
    });
  };
  const unsubscribe = pipeline.events.subscribe((event) => {
    pass(event);
    // Every node knows its own channels, and learns of hand-offs from the store.
    if (!isCluster || event.type === "channel.status" || event.type === "handoff.changed") return;
    cluster.get().then(
      (shared) => shared?.broadcast(event),
      () => undefined,
    );
  });
  const unwatch = (): void => {
    isWatched = false;
    clearTimeout(retry);
    stopListening?.();
    stopListening = undefined;
  };

  return {
    /** The gateway has clients. */
    watch,
    unwatch,
    close: (): void => {
      unwatch();
      unsubscribe();
    },
  };
}
