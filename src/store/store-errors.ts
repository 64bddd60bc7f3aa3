/** The refusals of the store contract, the same from every store. */
import { HoldfastError, errorMessage } from "../base/errors.ts";
import { printableLine } from "../base/printable.ts";
import type { Lease, Window } from "./store.ts";

export function storeClosed(path: string): HoldfastError {
  return new HoldfastError("unavailable", "store-closed", `The store ${path} is closed`, {
    hint: "The program is shutting down; try again when it runs.",
    data: { path },
  });
}

export function labelInUse(label: string, key: string): HoldfastError {
  return new HoldfastError(
    "conflict",
    "label-in-use",
    `The label "${printableLine(label, 80)}" already belongs to ${printableLine(key, 80)}`,
    { hint: "Choose another label, or take it off that session first.", data: { label, key } },
  );
}

export function leaseLost(lease: Lease): HoldfastError {
  return new HoldfastError(
    "fenced",
    "lease-lost",
    `Epoch ${lease.epoch} is no longer the newest lease of ${printableLine(lease.key, 80)}`,
    {
      hint: "Another process has taken over the session. Nothing was changed.",
      data: { key: lease.key, epoch: lease.epoch },
    },
  );
}

export function leaseOfAnotherKey(lease: Lease, key: string): HoldfastError {
  return new HoldfastError(
    "usage",
    "lease-of-another-key",
    `A lease of ${printableLine(lease.key, 80)} does not allow writing ${printableLine(key, 80)}`,
    { hint: "Acquire the lease of the session that is written.", data: { lease: lease.key, key } },
  );
}

export function windowIsCurrent(window: Pick<Window, "key" | "sessionId">): HoldfastError {
  return new HoldfastError(
    "conflict",
    "window-is-current",
    `${printableLine(window.sessionId, 80)} is the current window of ${printableLine(window.key, 80)}`,
    {
      hint: "Reset the session first: that closes the window.",
      data: { key: window.key, sessionId: window.sessionId },
    },
  );
}

export function windowNotClosed(window: Window): HoldfastError {
  return new HoldfastError(
    "usage",
    "window-not-closed",
    `The window ${printableLine(window.sessionId, 80)} has no closing time; only updating a session opens a window`,
    { hint: "Give it a `closedAt`, or update the session.", data: { key: window.key, sessionId: window.sessionId } },
  );
}

export function payloadNotJson(error: unknown): HoldfastError {
  return new HoldfastError("usage", "invalid-payload", `The message cannot be stored as JSON: ${errorMessage(error)}`, {
    hint: "Nothing was changed. A message may hold only what JSON can.",
    cause: error,
  });
}

export function inboxItemNotRunning(id: number, key: string): HoldfastError {
  return new HoldfastError(
    "conflict",
    "inbox-item-not-running",
    `Inbox item ${id} is not running under ${printableLine(key, 80)}`,
    { hint: "Nothing was changed. Only claimed items can be finished.", data: { id, key } },
  );
}

export function outboxItemNotFound(id: number): HoldfastError {
  return new HoldfastError("not-found", "outbox-item-not-found", `There is no outbox item ${id}`, {
    hint: "Settle only what `due` or `enqueue` gave.",
    data: { id },
  });
}

export function alreadyDelivered(id: number): HoldfastError {
  return new HoldfastError("conflict", "already-delivered", `Outbox item ${id} was delivered`, {
    hint: "What was delivered is not sent again.",
    data: { id },
  });
}
