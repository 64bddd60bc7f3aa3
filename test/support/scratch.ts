/**
 * Runs once, before the workers start, and cleans up after them: Vitest ends its workers without letting
 * them do so themselves. `setup.ts` puts everything that a worker needs into this folder.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Vitest calls it by this name, and calls what it returns at the end. */
export function setup(): () => void {
  const scratch = mkdtempSync(join(tmpdir(), "holdfast-"));
  process.env["HOLDFAST_TEST_SCRATCH"] = scratch;
  return () => rmSync(scratch, { recursive: true, force: true });
}
