/** For whoever deletes a session without a gateway: what waits for its next turn goes with it. */
import { fileExists } from "../../base/files.ts";
import { createGroupHistory } from "./group-history.ts";
import { type OpenPendingOptions, openPendingDatabase } from "./pending-database.ts";
import { createSystemEvents } from "./system-events.ts";

/** Makes no file where there is none. */
export async function forgetPending(options: OpenPendingOptions, sessionKey: string): Promise<void> {
  if (!(await fileExists(options.path))) return;
  const database = await openPendingDatabase(options);
  try {
    const now = options.clock.now.bind(options.clock);
    await createGroupHistory({ database, now }).forget(sessionKey);
    await createSystemEvents({ database, now }).forgetSystemEvents(sessionKey);
  } finally {
    database.close();
  }
}
