/** Tells an agent when one of its channels is connected again. Short interruptions are not worth a word. */
import type { Clock } from "../base/clock.ts";
import type { ChannelStatus } from "../channels/channel.ts";

const MIN_MINUTES = 1;

export function createOutageWatch(clock: Clock, tell: (channel: string, accountId: string, text: string) => void) {
  const began = new Map<string, number>();
  return (channel: string, accountId: string, { state }: ChannelStatus): void => {
    const account = `${channel} ${accountId}`;
    const since = began.get(account);
    if (state === "retrying" || state === "failed") began.set(account, since ?? clock.now());
    if (state !== "connected") return;
    began.delete(account);
    const minutes = since === undefined ? 0 : Math.floor((clock.now() - since) / 60_000);
    if (minutes < MIN_MINUTES) return;
    const length = minutes === 1 ? "a minute" : `${minutes} minutes`;
    tell(channel, accountId, `The channel ${account} is connected again after ${length}.`);
  };
}
