import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createTestClock } from "../../../test/support/test-clock.ts";
import { silentLogger } from "../../base/log.ts";
import { forgetPending } from "./forget-pending.ts";
import { createGroupHistory } from "./group-history.ts";
import { openPendingDatabase } from "./pending-database.ts";
import { createSystemEvents } from "./system-events.ts";

it("takes what waits for one session, while another process has the file open", async () => {
  await using folder = await temporaryFolder();
  const options = { path: folder.join("pending.sqlite"), clock: createTestClock(), logger: silentLogger };
  const database = await openPendingDatabase(options);
  const parts = { database, now: () => options.clock.now() };
  const [history, events] = [createGroupHistory(parts), createSystemEvents(parts)];
  for (const key of ["a", "b"]) {
    await history.append(key, { sender: "Ada", body: "hi", timestamp: 1, messageId: "m" });
    await events.enqueueSystemEvent(key, "rain");
  }
  await forgetPending(options, "a");
  const claim = { id: "t", epoch: 1 };
  expect([await history.take("a", claim), (await events.drainSystemEvents("a", claim)).events]).toEqual([[], []]);
  expect(await history.take("b", claim)).toHaveLength(1);
  expect((await events.drainSystemEvents("b", claim)).events).toHaveLength(1);
  database.close();
});

it("makes no file where there is none", async () => {
  await using folder = await temporaryFolder();
  await forgetPending({ path: folder.join("pending.sqlite"), clock: createTestClock(), logger: silentLogger }, "a");
  expect(await readdir(folder.path)).toEqual([]);
});
