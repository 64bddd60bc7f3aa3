/** Runs all crash and lease tests on the file system that a person will use. */
import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import { type CrashOptions, runCrashRounds } from "./crash-rounds.ts";
import { runLeaseRounds } from "./lease-rounds.ts";

/** The test runs in a new folder below `folder`, removed unless something failed. */
export interface SelftestOptions extends Omit<CrashOptions, "programs"> {
  /** Per store. Default: 8. */
  takeovers?: number | undefined;
}

const DEFAULT_TAKEOVERS = 8;

export type SelftestResult = Awaited<ReturnType<typeof runSelftest>>;

export async function runSelftest(options: SelftestOptions) {
  const { seed, minutes, rounds, takeovers = DEFAULT_TAKEOVERS, onProgress } = options;
  const folder = await freshFolder(resolve(options.folder));
  const leases = [
    await runLeaseRounds({ folder, seed, kind: "sqlite", takeovers }),
    await runLeaseRounds({ folder, seed, kind: "json", takeovers }),
  ];
  const crashes = await runCrashRounds({ folder, seed, minutes, rounds, onProgress });
  const ok =
    leases.every(({ problems }) => problems.length === 0) &&
    crashes.failures.length === 0 &&
    // A fault point that was never reached was not tested.
    crashes.unreached.length === 0;
  if (ok) await rm(folder, { recursive: true, force: true });
  return { ok, seed, folder, crashes, leases };
}

async function freshFolder(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, "holdfast-selftest-"));
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw fileError(error, "create a folder in", parent);
    throw new HoldfastError("usage", "folder-missing", `There is no folder ${parent}`, {
      hint: "Give an existing folder on the file system that you want to test.",
      cause: error,
    });
  }
}
