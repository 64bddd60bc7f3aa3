/** Shows people that an answer is being written. Nothing depends on it: failures are not even told. */
import type { DeliveryTarget } from "../../store/store.ts";
import type { ChannelPool } from "../pools.ts";

/** Platforms show it for some five seconds. */
const EVERY_MS = 4_000;
/** What is answered at once needs no sign. */
const FIRST_MS = 300;

/** Until the returned function is called. */
export function showTyping(channels: ChannelPool, target: DeliveryTarget | undefined): () => void {
  const channel = target === undefined ? undefined : channels.find(target.channel, target.accountId)?.channel;
  if (target === undefined || channel?.showTyping === undefined) return () => undefined;
  let isShowing = false;
  const show = (): void => {
    // One that hangs must not pile up.
    if (isShowing) return;
    isShowing = true;
    void Promise.resolve()
      .then(() => channel.showTyping?.(target))
      .catch(() => undefined)
      .finally(() => (isShowing = false));
  };
  let every: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    show();
    every = setInterval(show, EVERY_MS).unref();
  }, FIRST_MS).unref();
  return () => {
    clearTimeout(first);
    clearInterval(every);
  };
}
