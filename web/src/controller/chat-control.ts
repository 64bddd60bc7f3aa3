/**
 * Sends messages so that none is lost or duplicated: each has an idempotency key, so unanswered messages are
 * simply sent again after a reconnect or a reload.
 */
import { errorMessage } from "../../../src/base/errors.ts";
import type { RpcCaller } from "../../../src/rpc/client.ts";
import { isConnectionLost } from "../connection.ts";
import { accepted, changePending, stopping } from "../state/changes.ts";
import type { PendingMessage } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { turnName } from "../state/turn-number.ts";
import type { HistoryControl } from "./history-control.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

/** Older messages are not resent: after some days the gateway forgets its answers. */
const RESEND_MS = 12 * 60 * 60 * 1000;

export function createChatControl(store: Store, caller: RpcCaller, history: HistoryControl) {
  const transmit = async ({ id, key, text }: PendingMessage): Promise<void> => {
    try {
      const answer = await caller.call("chat.send", { sessionKey: key, message: text, idempotencyKey: id });
      const hasEnded = answer.status === "ok" || isEnded(store, answer);
      store.change((state) => accepted(state, { id, itemId: answer.itemId, hasEnded }));
      if (hasEnded) await history.refresh();
    } catch (error) {
      // `sendAgain` retries after a reconnect.
      if (isConnectionLost(error)) return;
      store.change((state) => changePending(state, id, { problem: errorMessage(error) }));
    }
  };

  const discard = (id: string): void => {
    store.set({ pending: store.get().pending.filter((message) => message.id !== id) });
  };

  return {
    send: (key: string, text: string): void => {
      const message: PendingMessage = { id: crypto.randomUUID(), key, text, createdAt: Date.now() };
      store.set({ pending: [...store.get().pending, message] });
      void transmit(message);
    },
    retry: (id: string): void => {
      store.change((state) => changePending(state, id, { problem: undefined }));
      const message = store.get().pending.find((known) => known.id === id);
      if (message !== undefined) void transmit(message);
    },
    discard,
    stop: (key: string): void => {
      store.change((state) => stopping(state, key));
      caller.call("chat.abort", { sessionKey: key }).catch(() => undefined);
    },
    /** Call it after connecting: resends everything that is unanswered. */
    sendAgain: async (): Promise<void> => {
      for (const message of store.get().pending) {
        if (message.problem !== undefined) continue;
        if (Date.now() - message.createdAt > RESEND_MS && message.itemId !== undefined) discard(message.id);
        else await transmit(message);
      }
    },
    onEvent: (event: RpcEvent): void => {
      if (event.type !== "turn.ended") return;
      // The turn may have answered earlier messages too: ask about them.
      for (const message of store.get().pending) {
        const isEarlier = message.itemId !== undefined && message.itemId < event.itemId && message.hasEnded !== true;
        if (message.key === event.sessionKey && isEarlier && message.problem === undefined) void transmit(message);
      }
    },
  };
}

/** The event may arrive before the answer to `chat.send`. */
function isEnded(store: Store, { sessionKey, itemId }: { sessionKey: string; itemId: number }): boolean {
  return store.get().ended.includes(turnName(sessionKey, itemId));
}
