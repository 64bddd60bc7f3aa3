/**
 * Sends messages so that none is lost or duplicated: each has an idempotency key, so unanswered messages are
 * simply sent again after a reconnect or a reload.
 */
import { errorMessage } from "../../../src/base/errors.ts";
import type { RpcCaller } from "../../../src/rpc/client.ts";
import { isConnectionLost } from "../connection.ts";
import type { PendingMessage } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { turnName } from "../state/turn-number.ts";
import type { HistoryControl } from "./history-control.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

export interface ChatControl {
  send(key: string, text: string): void;
  retry(id: string): void;
  discard(id: string): void;
  stop(key: string): void;
  /** Call it after connecting: resends everything that is unanswered. */
  sendAgain(): Promise<void>;
  onEvent(event: RpcEvent): void;
}

/** Older messages are not resent: after some days the gateway forgets its answers. */
const RESEND_MS = 12 * 60 * 60 * 1000;

export function createChatControl(store: Store, caller: RpcCaller, history: HistoryControl): ChatControl {
  const transmit = async ({ id, key, text }: PendingMessage): Promise<void> => {
    try {
      const answer = await caller.call("chat.send", { sessionKey: key, message: text, idempotencyKey: id });
      const hasEnded = answer.status === "ok" || isEnded(store, answer);
      store.dispatch({ type: "message.accepted", id, itemId: answer.itemId, hasEnded });
      if (hasEnded) await history.refresh();
    } catch (error) {
      // `sendAgain` retries after a reconnect.
      if (isConnectionLost(error)) return;
      store.dispatch({ type: "message.refused", id, problem: errorMessage(error) });
    }
  };

  return {
    send: (key, text) => {
      const message: PendingMessage = { id: crypto.randomUUID(), key, text, createdAt: Date.now() };
      store.dispatch({ type: "message.written", message });
      void transmit(message);
    },
    retry: (id) => {
      store.dispatch({ type: "message.retried", id });
      const message = store.get().pending.find((known) => known.id === id);
      if (message !== undefined) void transmit(message);
    },
    discard: (id) => store.dispatch({ type: "message.discarded", id }),
    stop: (key) => {
      store.dispatch({ type: "turn.stopping", key });
      caller.call("chat.abort", { sessionKey: key }).catch(() => undefined);
    },
    sendAgain: async () => {
      for (const message of store.get().pending) {
        if (message.problem !== undefined) continue;
        if (Date.now() - message.createdAt > RESEND_MS && message.itemId !== undefined) {
          store.dispatch({ type: "message.discarded", id: message.id });
        } else {
          await transmit(message);
        }
      }
    },
    onEvent: (event) => {
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
