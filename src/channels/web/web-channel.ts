/**
 * The gateway's own page as a channel. What is said there is delivered when it is in the transcript and
 * told to whoever watches; both have happened before anything is sent, so sending always succeeds.
 */
import type { Channel } from "../channel.ts";

export function createWebChannel(): Channel {
  return {
    name: "web",
    accountId: "default",
    capabilities: { media: true, replies: true, threads: true, deduplicates: true },
    start: async (host) => host.report({ state: "connected", text: "the gateway's own page" }),
    stop: async () => undefined,
    send: async ({ idempotencyKey }) => ({ messageId: idempotencyKey }),
  };
}
