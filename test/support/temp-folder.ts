/** A folder that is gone when the test ends: `await using folder = await temporaryFolder()`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  path: string;
  join(...parts: string[]): string;
}

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-test-"));
  return {
    path,
    join: (...parts) => join(path, ...parts),
    [Symbol.asyncDispose]: async () => {
      await rm(path, { recursive: true, force: true });
    },
  };
}
