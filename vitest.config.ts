import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Folders whose tests take long although their files are short. A fresh checkout has no durations to go by,
 * and a file of a minute that comes last leaves the other cores idle.
 */
const LONG_FOLDERS = ["test/crash/", "test/contract/", "test/e2e/", "test/pins/"];

class LongFoldersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const path = relative(import.meta.dirname, moduleId);
  const index = LONG_FOLDERS.findIndex((folder) => path.startsWith(folder));
  return index === -1 ? LONG_FOLDERS.length : index;
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "web/src/**/*.test.ts"],
    globalSetup: ["test/support/scratch.ts"],
    setupFiles: ["test/support/setup.ts"],
    isolate: false,
    // Much of the time goes to waiting for other processes: two workers per core keep the cores busy.
    maxWorkers: 2 * availableParallelism(),
    sequence: { sequencer: LongFoldersFirst },
    // Generous, for busy machines: only a test that fails takes this long.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
