/** Scans single transcripts, for tests of the native readers. */
import { openNativeFileSync } from "../../src/claude/native/layout.ts";
import { type FileScan, createFileScanner } from "../../src/claude/native/scan-file.ts";
import type { UsageLedger } from "../../src/claude/native/usage.ts";

export function scanTranscript(path: string): FileScan {
  using file = openNativeFileSync(path);
  const result = file === undefined ? undefined : createFileScanner().scan(file.descriptor);
  if (result === undefined) throw new Error(`no transcript ${path}`);
  return result;
}

export function sumUsage(ledger: UsageLedger) {
  const total = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const usage of ledger.values()) {
    total.input += usage.input;
    total.output += usage.output;
    total.cacheRead += usage.cacheRead;
    total.cacheWrite += usage.cacheWrite;
  }
  return total;
}
