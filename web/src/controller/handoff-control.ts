/** Reads the hand-off of the visible session while its panel is open, and again when it changes. */
import { errorMessage } from "../../../src/base/errors.ts";
import type { RpcCaller } from "../../../src/rpc/client.ts";
import { isConnectionLost } from "../connection.ts";
import type { HandoffDeed, HandoffState } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { createReadAgain } from "./read-again.ts";
import type { RpcEvent } from "../../../src/rpc/protocol.ts";

export function createHandoffControl(store: Store, caller: RpcCaller) {
  let watched: string | undefined;

  /** Ignored for a session that is not shown. */
  const change = (key: string, part: Partial<HandoffState>): void =>
    store.change((state) => {
      const known = state.handoff?.key === key ? state.handoff : { key };
      return state.place.key === key ? { ...state, handoff: { ...known, ...part } } : state;
    });

  const read = async (key: string): Promise<void> => {
    const changes = await caller.call("handoff.status", { sessionKey: key, verify: true }).then(
      (answer) => ({ answer }),
      (error: unknown) => (isConnectionLost(error) ? {} : { problem: errorMessage(error) }),
    );
    change(key, { problem: undefined, ...changes });
  };

  const refresh = createReadAgain(async () => {
    if (watched !== undefined) await read(watched);
  });

  return {
    /** Reads the hand-off until `unwatch`. */
    watch: (key: string): void => {
      watched = key;
      if (store.get().link.state === "open") void refresh();
    },
    unwatch: (): void => {
      watched = undefined;
    },
    refresh,
    /** `name` is the project of an expired hand-off. */
    perform: async (key: string, deed: HandoffDeed, name?: string): Promise<void> => {
      change(key, { doing: deed, result: undefined, problem: undefined });
      let outcome: Partial<HandoffState> = {};
      try {
        outcome = { result: await DEEDS[deed](caller, key, name) };
        await refresh();
      } catch (error) {
        if (!isConnectionLost(error)) outcome = { problem: errorMessage(error) };
      }
      change(key, { doing: undefined, ...outcome });
    },
    onEvent: (event: RpcEvent): void => {
      const changes = event.type === "handoff.changed" || event.type === "session.changed";
      if (changes && event.sessionKey === watched) void refresh();
    },
  };
}

/** Each returns its result as text. */
const DEEDS: Record<HandoffDeed, (caller: RpcCaller, sessionKey: string, name?: string) => Promise<string>> = {
  capture: async (caller, sessionKey) => {
    const { captured } = await caller.call("handoff.capture", { sessionKey });
    return captured ? "Captured." : "Nothing to hand over yet.";
  },
  clear: async (caller, sessionKey) => {
    const { cleared } = await caller.call("handoff.clear", { sessionKey });
    return cleared ? "Deleted. The transcript stays." : "There was no hand-off.";
  },
  resume: async (caller, sessionKey, name) => {
    const { outcome } = await caller.call("handoff.resume", { sessionKey, name });
    return outcome === "ready" ? "Your next message will include it." : "There is no hand-off.";
  },
};
