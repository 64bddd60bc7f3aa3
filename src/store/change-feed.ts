/**
 * Tells listeners about changes. Changes of this store handle are reported right after their commit. Changes of other
 * processes are polled several times a second while there are listeners.
 */
import type { Logger } from "../base/log.ts";
import type { StoreChange } from "./store.ts";

export interface ChangeSource {
  /** Called for the first listener. Earlier changes do not count. */
  start(): void;
  /** The changes of other processes since the last call. */
  look(): readonly StoreChange[];
}

const POLL_INTERVAL_MS = 250;

/** Polls the source while there are listeners. */
export function createChangeFeed(source: ChangeSource, logger: Logger) {
  const look = (): void => {
    try {
      listeners.tell(source.look());
    } catch (error) {
      logger.warn("Changes of other processes could not be read", { error });
    }
  };
  const listeners = createListeners(logger, () => {
    source.start();
    const timer = setInterval(look, POLL_INTERVAL_MS).unref();
    return () => clearInterval(timer);
  });
  return listeners;
}

/** `begin` is called for the first listener; the function that it returns is called when the last one has left. */
export function createListeners(logger: Logger, begin: () => () => void) {
  const listeners = new Set<(change: StoreChange) => void>();
  let end: (() => void) | undefined;

  const tellOne = (listener: (change: StoreChange) => void, change: StoreChange): void => {
    try {
      listener({ ...change });
    } catch (error) {
      logger.error("A listener of store changes failed", { error, ...change });
    }
  };
  const tell = (changes: readonly StoreChange[]): void => {
    for (const change of changes) for (const listener of listeners) tellOne(listener, change);
  };
  const stop = (): void => {
    end?.();
    end = undefined;
  };

  return {
    listen: (listener: (change: StoreChange) => void): (() => void) => {
      end ??= begin();
      // Wrapped, so that one function can listen twice and stop each separately.
      const own = (change: StoreChange): void => listener(change);
      listeners.add(own);
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stop();
      };
    },
    tell,
    hasListeners: (): boolean => listeners.size > 0,
    close: (): void => {
      listeners.clear();
      stop();
    },
  };
}
