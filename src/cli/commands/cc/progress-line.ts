/** One line on stderr while many transcripts are read or copied; only where a person looks. */
import type { RefreshOptions } from "../../../claude/index/native-index.ts";
import { formatBytes } from "../../output.ts";

const PATIENCE_SECONDS = 1;

export interface ProgressLine extends Disposable {
  refresh: RefreshOptions;
  /** Shows how far it is, once that is worth a line. */
  tell(text: string): void;
}

/** `using line = progressLine()`: the line is gone when the work is done. */
export function progressLine(): ProgressLine {
  // Not `performance`: loading it takes longer than a list has for it.
  const startedAt = process.uptime();
  let isShown = false;
  const tell = (text: string): void => {
    if (!process.stderr.isTTY || process.uptime() - startedAt < PATIENCE_SECONDS) return;
    isShown = true;
    process.stderr.write(`\r\u001b[K${text}`);
  };
  return {
    refresh: {
      onProgress({ filesDone, filesTotal, bytesDone, bytesTotal }) {
        const bytes = `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`;
        tell(`Reading transcripts: ${filesDone} of ${filesTotal} files, ${bytes}`);
      },
    },
    tell,
    [Symbol.dispose]: () => {
      if (isShown) process.stderr.write("\r\u001b[K");
      isShown = false;
    },
  };
}
