/** Keeping the delivery and chat fields of an entry up to date. */
import { type GroupKeyResolution, resolveGroupSessionKey } from "../keys/group.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { DeliveryContext, SessionEntry } from "../store/session-entry.ts";
import type { Lease } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";
import { mergeSessionEntry } from "./entry.ts";
import { metaPatch, routePatch } from "./inbound-meta.ts";
import { openWindow } from "./window.ts";

/** Remembers where the last message of this session came from. */
export async function updateLastRoute(params: {
  agent: AgentHandle;
  sessionKey: string;
  deliveryContext: DeliveryContext;
  lease?: Lease;
}): Promise<SessionEntry | undefined> {
  const { agent, sessionKey, deliveryContext, lease } = params;
  const now = agent.clock.now();
  return await agent.store.update(
    sessionKey,
    (entry) => (entry === undefined ? undefined : mergeSessionEntry(entry, routePatch(deliveryContext, entry), now)),
    lease === undefined ? {} : { lease },
  );
}

/** Records who and what a session is about from an inbound message; makes the session if it is new. */
export async function recordSessionMetaFromInbound(params: {
  agent: AgentHandle;
  sessionKey: string;
  ctx: MessageContext;
  groupResolution?: GroupKeyResolution | null;
  /** False: only sessions that exist already are touched. Left out: true. */
  createIfMissing?: boolean;
}): Promise<SessionEntry | undefined> {
  const { agent, sessionKey, ctx } = params;
  const group = params.groupResolution ?? resolveGroupSessionKey(ctx);
  for (;;) {
    const updated = await agent.store.update(sessionKey, (entry) =>
      entry === undefined
        ? undefined
        : mergeSessionEntry(entry, metaPatch(ctx, group, sessionKey, entry), agent.clock.now()),
    );
    if (updated !== undefined || params.createIfMissing === false) return updated;
    const created = await openWindow(agent, {
      key: sessionKey,
      previous: undefined,
      reason: "initial",
      complete: (entry) => ({ ...entry, ...metaPatch(ctx, group, sessionKey, undefined) }),
    });
    if (created !== undefined) return created;
  }
}
