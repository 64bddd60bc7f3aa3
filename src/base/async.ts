/** Promises: values that are created once, tasks that run in turn, and waits with a limit. */

export function lazy<T>(make: () => Promise<T>) {
  const only = lazyMap<"only", T>();
  return {
    get: (): Promise<T> => only.get("only", make),
    /** The value, for closing it. Waits for a running attempt. Undefined if there is none. */
    made: async (): Promise<T | undefined> => (await only.made())[0],
    /** Forgets the value; the next call creates another. */
    clear: (): void => only.clear(),
  };
}

/** A failed attempt is not kept: its callers get the error, and the next call tries again. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows both types
export function lazyMap<Key, T>() {
  const attempts = new Map<Key, Promise<T>>();
  return {
    get: (key: Key, make: () => Promise<T>): Promise<T> => {
      const known = attempts.get(key);
      if (known !== undefined) return known;
      const attempt = make();
      attempts.set(key, attempt);
      attempt.catch(() => {
        if (attempts.get(key) === attempt) attempts.delete(key);
      });
      return attempt;
    },
    /** All values, for closing them. Waits for running attempts. */
    made: async (): Promise<T[]> =>
      (await Promise.allSettled(attempts.values())).flatMap((end) => (end.status === "fulfilled" ? [end.value] : [])),
    clear: (): void => attempts.clear(),
  };
}

export type KeyedMutex = ReturnType<typeof createKeyedMutex>;

/** Runs tasks with the same key one after the other, and others in parallel. */
export function createKeyedMutex() {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run<T>(key: string, task: () => Promise<T>): Promise<T> {
      const previous = tails.get(key) ?? Promise.resolve();
      const result = previous.then(task, task);
      const tail = result.catch(() => undefined);
      tails.set(key, tail);
      void tail.then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
      return result;
    },
  };
}

const AT_A_TIME = 32;

/** Runs a task for each item, 32 at a time; the results are in the order of the items. */
export async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(start, start + AT_A_TIME).map(task))));
  }
  return results;
}

/** `await using _closing = closing(store)`: closes it at the end of the block. */
export function closing(resource: { close(): unknown } | undefined): AsyncDisposable {
  return { [Symbol.asyncDispose]: async () => void (await resource?.close()) };
}

export const TOO_LATE = Symbol("too late");

/** Resolves to `TOO_LATE` if the work takes longer. The work itself continues. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof TOO_LATE> {
  const late = Promise.withResolvers<typeof TOO_LATE>();
  const timer = setTimeout(() => late.resolve(TOO_LATE), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
    // A failure after the limit must not become an unhandled rejection.
    work.catch(() => undefined);
  }
}

/** Rejects with the signal's reason if the signal is aborted before the promise settles. */
export async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
