/** A line on stderr for anything that takes more than a second, only where a person looks. */
const PATIENCE_MS = 1000;

/** `using line = waitingLine("…")`: the line is gone when the work is done. */
export function waitingLine(text: string): Disposable {
  if (!process.stderr.isTTY) return { [Symbol.dispose]: () => undefined };
  const startedAt = performance.now();
  let isShown = false;
  const timer = setInterval(() => {
    isShown = true;
    process.stderr.write(`\r\u001b[K${text}, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, PATIENCE_MS);
  timer.unref();
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
      if (isShown) process.stderr.write("\r\u001b[K");
    },
  };
}
