/** The file of what waits for the next turns, closed when the test ends: `using database = …`. */
import { createLogger } from "../../src/base/log.ts";
import { type PendingDatabase, openPendingDatabase } from "../../src/turn/body/pending-database.ts";
import type { TemporaryFolder } from "./temp-folder.ts";
import { createTestClock } from "./test-clock.ts";

/** Also what was logged, one line each. */
export interface TestPendingDatabase extends PendingDatabase, Disposable {
  logged: string[];
}

export async function openTestDatabase(folder: TemporaryFolder): Promise<TestPendingDatabase> {
  const logged: string[] = [];
  const database = await openPendingDatabase({
    path: folder.join("pending.sqlite"),
    clock: createTestClock(),
    logger: createLogger({ write: (line) => void logged.push(line) }),
  });
  return { ...database, logged, [Symbol.dispose]: () => database.close() };
}
