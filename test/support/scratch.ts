/**
 * Runs once, before the workers start, and cleans up after them: Vitest ends its workers without letting
 * them do so themselves. `setup.ts` and `temp-folder.ts` put everything that a test needs into this folder.
 *
 * It is in memory where possible. Holdfast forces acknowledged writes to disk, so on a real disk most
 * tests would mostly wait for it. The same writes are forced at the same time.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemErrorCode } from "../../src/base/errors.ts";

/** Vitest calls `setup` first and the returned function at the end. */
export function setup(): () => void {
  const scratch = scratchInMemory() ?? mkdtempSync(join(tmpdir(), PREFIX));
  process.env["HOLDFAST_TEST_SCRATCH"] = scratch;
  return () => {
    endPostgres(join(scratch, "postgres.json"));
    rmSync(scratch, { recursive: true, force: true });
  };
}

/** The server that a test has started; see `postgres.ts`. */
function endPostgres(known: string): void {
  if (!existsSync(known)) return;
  const { pid, folder } = JSON.parse(readFileSync(known, "utf8")) as { pid: number; folder: string };
  if (isRunning(pid)) process.kill(pid, "SIGQUIT");
  rmSync(folder, { recursive: true, force: true });
}

const PREFIX = `holdfast-scratch-${process.pid}-`;
const MEMORY = "/dev/shm";
/** Three times the measured peak of all tests. */
const NEEDED_BYTES = 1e9;

/** Undefined if the file system is missing, too small, or mounted without permission to run programs. */
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

/** A killed run leaves its folder, and nothing else would free that memory. */
function removeAbandoned(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = /^holdfast-scratch-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      rmSync(join(MEMORY, name), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
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
