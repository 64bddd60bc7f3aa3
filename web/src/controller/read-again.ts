/**
 * One read is under way at a time; whoever asks meanwhile gets what the next one brings. So nobody is told
 * what was true before they asked, and many who ask at once cost one more read.
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
