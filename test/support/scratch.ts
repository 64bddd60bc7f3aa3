/**
 * Runs once, before the workers start, and cleans up after them: Vitest ends its workers without letting
 * them do so themselves. `setup.ts` and `temp-folder.ts` put everything that a test needs into this folder.
 *
 * It lies in memory where that is possible. Everything that Holdfast promises is forced to disk, so on a
 * disk most tests would spend most of their time waiting for it; what is forced, and when, is the same.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemErrorCode } from "../../src/base/errors.ts";

/** Vitest calls it by this name, and calls what it returns at the end. */
export function setup(): () => void {
  const scratch = scratchInMemory() ?? mkdtempSync(join(tmpdir(), PREFIX));
  process.env["HOLDFAST_TEST_SCRATCH"] = scratch;
  return () => rmSync(scratch, { recursive: true, force: true });
}

const PREFIX = `holdfast-scratch-${process.pid}-`;
const MEMORY = "/dev/shm";
/** Three times of what all tests together were seen to hold at a time. */
const NEEDED_BYTES = 1e9;

/** Undefined where there is no such file system, where it is small, and where no program may run from it. */
function scratchInMemory(): string | undefined {
  let scratch: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    removeAbandoned();
    if (bavail * bsize < NEEDED_BYTES) return undefined;
    scratch = mkdtempSync(join(MEMORY, PREFIX));
    const program = join(scratch, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    execFileSync(program);
    return scratch;
  } catch {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
    return undefined;
  }
}

/** A run that was killed leaves its folder, and memory is not emptied by anybody else. */
function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = /^holdfast-scratch-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    } catch {
      // Somebody else's.
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== "ESRCH";
  }
}
