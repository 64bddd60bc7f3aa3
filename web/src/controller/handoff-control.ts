/** What the session that is shown leaves for its next window: read when somebody looks, and again when it changes. */
import { errorMessage } from "../../../src/base/errors.ts";
import type { RpcCaller } from "../../../src/rpc/client.ts";
import type { RpcEvent } from "../../../src/rpc/events.ts";
import { isConnectionLost } from "../connection.ts";
import type { HandoffDeed, HandoffState } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { createReadAgain } from "./read-again.ts";

export interface HandoffControl {
  /** From now on it is read, until `unwatch`. */
  watch(key: string): void;
  unwatch(): void;
  refresh(): Promise<void>;
  /** `name` is the project of one that has expired. */
  perform(key: string, deed: HandoffDeed, name?: string): Promise<void>;
  onEvent(event: RpcEvent): void;
}

export function createHandoffControl(store: Store, caller: RpcCaller): HandoffControl {
  let watched: string | undefined;

  const read = async (key: string): Promise<void> => {
    const changes = await caller.call("handoff.status", { sessionKey: key, verify: true }).then(
      (answer) => ({ answer }),
      // That the connection is gone is said in one place.
      (error: unknown) => (isConnectionLost(error) ? {} : { problem: errorMessage(error) }),
    );
    const { problem: _, ...known } = stateOf(store, key);
    store.dispatch({ type: "handoff.changed", ...known, ...changes });
  };

  const refresh = createReadAgain(async () => {
    if (watched !== undefined) await read(watched);
  });

  return {
    watch: (key) => {
      watched = key;
      if (store.get().link.state === "open") void refresh();
    },
    unwatch: () => {
      watched = undefined;
    },
    refresh,
    perform: async (key, deed, name) => {
      const { told: _told, problem: _problem, ...before } = stateOf(store, key);
      store.dispatch({ type: "handoff.changed", ...before, doing: deed });
      let outcome: Partial<HandoffState> = {};
      try {
        outcome = { told: await DEEDS[deed](caller, key, name) };
        await refresh();
      } catch (error) {
        if (!isConnectionLost(error)) outcome = { problem: errorMessage(error) };
      }
      const { doing: _doing, ...after } = stateOf(store, key);
      store.dispatch({ type: "handoff.changed", ...after, ...outcome });
    },
    onEvent: (event) => {
      const changes = event.type === "handoff.changed" || event.type === "session.changed";
      if (changes && event.sessionKey === watched) void refresh();
    },
  };
}

function stateOf(store: Store, key: string): HandoffState {
  const { handoff } = store.get();
  return handoff?.key === key ? handoff : { key };
}

/** Each says what came of it. */
const DEEDS: Record<HandoffDeed, (caller: RpcCaller, sessionKey: string, name?: string) => Promise<string>> = {
  capture: async (caller, sessionKey) => {
    const { captured } = await caller.call("handoff.capture", { sessionKey });
    return captured ? "Captured." : "Nothing was said yet that could be handed over.";
  },
  clear: async (caller, sessionKey) => {
    const { cleared } = await caller.call("handoff.clear", { sessionKey });
    return cleared ? "Forgotten. The transcript stays." : "Nothing was kept.";
  },
  resume: async (caller, sessionKey, name) => {
    const { outcome } = await caller.call("handoff.resume", { sessionKey, ...(name === undefined ? {} : { name }) });
    return outcome === "ready" ? "Your next message brings it to the agent." : "There is nothing to bring back.";
  },
};
