/**
 * The gateway's own page as a channel. The page reads answers from the transcript and from events, both
 * written before anything is sent, so sending always succeeds.
 */
import type { Channel } from "../channel.ts";

export function createWebChannel(): Channel {
  return {
    name: "web",
    accountId: "default",
    capabilities: { media: true, replies: true },
    start: async (host) => host.report({ state: "connected", text: "the gateway's own page" }),
    stop: async () => undefined,
    send: async ({ idempotencyKey }) => ({ messageId: idempotencyKey }),
  };
}
