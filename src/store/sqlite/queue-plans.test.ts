import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createSqliteStore } from "./sqlite-store.ts";

const FINISHED = 100_000;

it("finds waiting items among a hundred thousand ended ones without a full scan", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "agent.sqlite");
  const store = await createSqliteStore({ path, agentId: "main" });
  const database = new DatabaseSync(path);
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${FINISHED})
    INSERT INTO inbox (key, channel, account_id, chat_id, message_id, payload, received_at, state, attempts)
    SELECT 'agent:main:' || (i % 100), 'telegram', 'default', 'c', i, '{}', i, 'done', 1 FROM n;
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${FINISHED})
    INSERT INTO outbox (key, idempotency_key, target, payload, created_at, state, attempts, due_at)
    SELECT 'agent:main:' || (i % 100), 'k' || i, '{"channel":"telegram","accountId":"default"}', '{}', i, 'delivered', 1, i FROM n;
  `);
  database.close();
  const address = { channel: "telegram", accountId: "default", chatId: "c", messageId: "new" };
  await store.inbox.admit({ key: "agent:main:5", address, payload: {}, receivedAt: 1 });
  const target = { channel: "telegram", accountId: "default", to: "c" };
  await store.outbox.enqueue("agent:main:5", [{ idempotencyKey: "new", target, payload: {} }]);
  const now = Date.now() + 1000;

  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 50; round++) {
    const began = performance.now();
    expect(await store.inbox.pending()).toHaveLength(1);
    expect(await store.inbox.pending("agent:main:5")).toHaveLength(1);
    expect(await store.outbox.due(now, 10)).toHaveLength(1);
    expect(await store.outbox.due(now, 10, target)).toHaveLength(1);
    expect(await store.outbox.routes()).toHaveLength(1);
    fastest = Math.min(fastest, performance.now() - began);
  }
  // Reading every row would take tens of milliseconds each time. The fastest round does not depend on the machine's load.
  expect(fastest).toBeLessThan(10);
  expect(await store.inbox.prune(1001)).toBe(1000);
  expect(await store.outbox.prune(1001)).toBe(1000);
  await store.close();
});
