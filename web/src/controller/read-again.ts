/**
 * Runs one read at a time. Requests during a read share the next one, so that none gets outdated data.
 */
export function createReadAgain(read: () => Promise<void>): () => Promise<void> {
  let reading: Promise<void> | undefined;
  let isStale = false;

  const readWhileStale = async (): Promise<void> => {
    while (isStale) {
      isStale = false;
      await read();
    }
  };

  return async () => {
    isStale = true;
    reading ??= readWhileStale().finally(() => {
      reading = undefined;
    });
    await reading;
  };
}
