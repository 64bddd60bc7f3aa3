/** The errors of the store contract, the same for every store. */
import { HoldfastError } from "../base/errors.ts";
import { printableLine } from "../base/text.ts";
import type { Lease } from "./queues.ts";
import type { Window } from "./store.ts";

export function storeClosed(path: string): HoldfastError {
  const hint = "Holdfast is shutting down. Try again after it has started.";
  return new HoldfastError("unavailable", "store-closed", `The store ${path} is closed`, { hint, data: { path } });
}

export function labelInUse(label: string, key: string): HoldfastError {
  const message = `The label "${shown(label)}" already belongs to ${shown(key)}`;
  const hint = "Choose another label, or remove it from that session first.";
  return new HoldfastError("conflict", "label-in-use", message, { hint, data: { label, key } });
}

export function leaseLost({ key, epoch }: Lease): HoldfastError {
  const message = `Epoch ${epoch} is no longer the newest lease of ${shown(key)}`;
  const hint = "Another process has taken over the session. Nothing was changed.";
  return new HoldfastError("fenced", "lease-lost", message, { hint, data: { key, epoch } });
}

export function leaseOfAnotherKey(lease: Lease, key: string): HoldfastError {
  const message = `A lease of ${shown(lease.key)} does not allow writing ${shown(key)}`;
  const hint = "Acquire the lease of the session that you write.";
  return new HoldfastError("usage", "lease-of-another-key", message, { hint, data: { lease: lease.key, key } });
}

export function windowIsCurrent({ key, sessionId }: Pick<Window, "key" | "sessionId">): HoldfastError {
  const message = `${shown(sessionId)} is the current window of ${shown(key)}`;
  const hint = "Reset the session first, which closes the window.";
  return new HoldfastError("conflict", "window-is-current", message, { hint, data: { key, sessionId } });
}

export function windowNotClosed({ key, sessionId }: Window): HoldfastError {
  const message = `The window ${shown(sessionId)} has no closing time; only updating a session opens a window`;
  const hint = "Set `closedAt`, or update the session.";
  return new HoldfastError("usage", "window-not-closed", message, { hint, data: { key, sessionId } });
}

export function inboxItemNotRunning(id: number, key: string): HoldfastError {
  const message = `Inbox item ${id} is not running under ${shown(key)}`;
  const hint = "Nothing was changed. Only claimed items can be finished.";
  return new HoldfastError("conflict", "inbox-item-not-running", message, { hint, data: { id, key } });
}

export function outboxItemNotFound(id: number): HoldfastError {
  const hint = "Use an item from `due` or `enqueue`.";
  return new HoldfastError("not-found", "outbox-item-not-found", `There is no outbox item ${id}`, {
    hint,
    data: { id },
  });
}

export function alreadyDelivered(id: number): HoldfastError {
  const hint = "Delivered items are not sent again.";
  return new HoldfastError("conflict", "already-delivered", `Outbox item ${id} was delivered`, { hint, data: { id } });
}

function shown(text: string): string {
  return printableLine(text, 80);
}
