/** How far a refresh is, told at most a few times a second. */
import type { RefreshProgress } from "./native-index.ts";

export interface Progress {
  /** More files that have to be read. */
  expect(files: number, bytes: number): void;
  add(files: number, bytes: number): void;
  /** Tells it now. */
  report(): void;
}

const INTERVAL_MS = 250;

export function createProgress(onProgress: ((progress: RefreshProgress) => void) | undefined): Progress {
  const progress: RefreshProgress = { filesDone: 0, filesTotal: 0, bytesDone: 0, bytesTotal: 0 };
  let last = performance.now();
  const report = () => {
    last = performance.now();
    onProgress?.({ ...progress });
  };
  return {
    expect(files, bytes) {
      progress.filesTotal += files;
      progress.bytesTotal += bytes;
    },
    add(files, bytes) {
      progress.filesDone += files;
      progress.bytesDone += bytes;
      if (performance.now() - last >= INTERVAL_MS) report();
    },
    report,
  };
}
