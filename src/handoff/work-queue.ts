/** Work that nobody waits for: one piece at a time, of each name only the newest, and no piece fails another. */
export interface WorkQueue<T> {
  /** Takes the place of what waits under the same name. Nothing is taken after `stop`. */
  put(name: string, item: T): void;
  drop(name: string): void;
  /** Everything that was put has been done, or dropped. */
  settled(): Promise<void>;
  /** What has begun goes on to its end. */
  stop(): void;
}

export interface WorkQueueOptions<T> {
  work: (name: string, item: T) => Promise<void>;
  onError: (name: string, error: unknown) => void;
}

export function createWorkQueue<T>({ work, onError }: WorkQueueOptions<T>): WorkQueue<T> {
  const waiting = new Map<string, T>();
  let running: Promise<void> | undefined;
  let isStopped = false;

  const run = async (): Promise<void> => {
    // What is put meanwhile comes at the end of the same round.
    for (const [name, item] of waiting) {
      waiting.delete(name);
      await work(name, item).catch((error: unknown) => onError(name, error));
    }
    running = undefined;
  };
  /** Behind whatever the caller still has to do. */
  const soon = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    await run();
  };
  const settled = async (): Promise<void> => {
    const current = running;
    if (current === undefined) return;
    await current;
    await settled();
  };

  return {
    put(name, item) {
      if (isStopped) return;
      waiting.set(name, item);
      running ??= soon();
    },
    drop: (name) => void waiting.delete(name),
    settled,
    stop() {
      isStopped = true;
      waiting.clear();
    },
  };
}
