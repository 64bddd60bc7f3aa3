/** The lease of a route lies beside those of the sessions; no chat has such a key. */
import { encodeName } from "../../keys/encoding.ts";
import type { DeliveryRoute } from "../../store/store.ts";

export function deliveryLeaseKey(agentId: string, { channel, accountId }: DeliveryRoute): string {
  return `${prefixOf(agentId)}${encodeName(channel)}:${encodeName(accountId)}`;
}

export function isDeliveryLease(agentId: string, key: string): boolean {
  return key.startsWith(prefixOf(agentId));
}

function prefixOf(agentId: string): string {
  return `agent:${agentId}:delivery:`;
}
