/** Which states were changed, by whomever. The store is listened to only once somebody wants to know. */
import type { Store } from "../store/store.ts";

export interface HandoffChanges {
  /** Calls it with the session's key, also for changes of this process. */
  listen(listener: (key: string) => void): void;
  close(): void;
}

export function createHandoffChanges(store: Pick<Store, "onChange">): HandoffChanges {
  const listeners: ((key: string) => void)[] = [];
  let stop: (() => void) | undefined;
  return {
    listen(listener) {
      listeners.push(listener);
      stop ??= store.onChange(({ what, key }) => {
        if (what !== "handoff") return;
        for (const told of listeners) told(key);
      });
    },
    close() {
      listeners.length = 0;
      stop?.();
      stop = undefined;
    },
  };
}
