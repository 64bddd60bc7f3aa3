/** Background work: one item at a time, only the newest of each name. A failed item does not affect others. */
export interface WorkQueue<T> {
  /** Replaces a waiting item of the same name. Ignored after `stop`. */
  put(name: string, item: T): void;
  drop(name: string): void;
  /** Starts waiting items now, and waits until all are done. */
  settled(): Promise<void>;
  /** Drops waiting items. A running one finishes. */
  stop(): void;
}

export interface WorkQueueOptions<T> {
  /** Items wait this long, so that several changes become one item. Default: 0. */
  delayMs?: number;
  /** Pauses this many times as long as an item took, so that turns keep most of the processor. Default: 0. */
  rest?: number;
  work: (name: string, item: T) => Promise<void>;
  onError: (name: string, error: unknown) => void;
}

const MAX_REST_MS = 1_000;

export function createWorkQueue<T>({ delayMs = 0, rest = 0, work, onError }: WorkQueueOptions<T>): WorkQueue<T> {
  const waiting = new Map<string, { item: T }>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isStopped = false;
  /** Callers of `settled`: nothing pauses while they wait. */
  let waiters = 0;
  let endPause: (() => void) | undefined;

  const pause = async (ms: number): Promise<void> => {
    if (waiters > 0 || isStopped || ms <= 0) return;
    await new Promise<void>((resolve) => {
      endPause = resolve;
      setTimeout(resolve, Math.min(ms, MAX_REST_MS)).unref();
    });
  };
  const run = async (): Promise<void> => {
    for (const name of Array.from(waiting.keys())) {
      const next = waiting.get(name);
      if (next === undefined) continue;
      waiting.delete(name);
      const startedAt = performance.now();
      await work(name, next.item).catch((error: unknown) => onError(name, error));
      await pause((performance.now() - startedAt) * rest);
    }
    running = undefined;
    if (waiting.size > 0) startLater();
  };
  const start = (): void => {
    clearTimeout(timer);
    timer = undefined;
    running ??= run();
  };
  const startLater = (): void => {
    timer ??= setTimeout(start, delayMs).unref();
  };

  const isBusy = (): boolean => running !== undefined || waiting.size > 0;
  const settled = async (): Promise<void> => {
    waiters += 1;
    endPause?.();
    while (isBusy()) {
      start();
      await running;
    }
    waiters -= 1;
  };

  return {
    put(name, item) {
      if (isStopped) return;
      waiting.set(name, { item });
      if (running === undefined) startLater();
    },
    drop: (name) => void waiting.delete(name),
    settled,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      waiting.clear();
      endPause?.();
    },
  };
}
