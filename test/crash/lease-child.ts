/**
 * Takes the lease of `main`, prints its epoch, waits for the end of stdin, then tries to write under that lease and
 * prints the outcome.
 */
import { once } from "node:events";
import { reportError } from "../../src/base/errors.ts";
import type { StoreKind } from "../../src/store/store.ts";
import { openStore } from "../support/stores.ts";

export interface LeaseChildTask {
  kind: StoreKind;
  home: string;
  ttlMs: number;
}

const { kind, home, ttlMs } = JSON.parse(process.argv[2] ?? "") as LeaseChildTask;
const store = await openStore(kind, { home });
const attempt = await store.leases.acquire("main", { ttlMs });
if (!attempt.acquired) throw new Error(`The lease is held by ${attempt.held.holder}`);
process.stdout.write(`${attempt.lease.epoch}\n`);

process.stdin.resume();
await once(process.stdin, "end");
const ending = await store
  .update("main", () => ({ sessionId: "stale", updatedAt: 1 }), { lease: attempt.lease })
  .then(
    () => "written",
    (error: unknown) => reportError(error).kind,
  );
process.stdout.write(`${ending}\n`);
await store.close();
