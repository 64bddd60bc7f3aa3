/**
 * Under which key a lease is kept. That of a session has the session's key. That of an account's deliveries
 * begins with a word that no canonical session key begins with: no chat, whatever it is called, can hold
 * up deliveries by being answered.
 */
import { encodeName } from "../keys/encoding.ts";
import type { DeliveryRoute, Leased } from "./store.ts";

export interface LeaseOwner {
  agentId: string;
  /** The canonical form of a session key of this agent; refuses other agents' keys. */
  ownKey: (key: string) => string;
}

export function leaseKeyOf(leased: Leased, { agentId, ownKey }: LeaseOwner): string {
  if (typeof leased === "string") return ownKey(leased);
  if (!("key" in leased)) return deliveryLeaseKey(agentId, leased);
  return isDeliveryLease(agentId, leased.key) ? leased.key : ownKey(leased.key);
}

export function deliveryLeaseKey(agentId: string, { channel, accountId }: DeliveryRoute): string {
  return `${prefixOf(agentId)}${encodeName(channel)}:${encodeName(accountId)}`;
}

export function isDeliveryLease(agentId: string, key: string): boolean {
  return key.startsWith(prefixOf(agentId));
}

function prefixOf(agentId: string): string {
  return `delivery:${agentId}:`;
}
