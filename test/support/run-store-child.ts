import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StoreKind } from "../../src/store/store.ts";
import type { Leased } from "../../src/store/queues.ts";

export type StoreChildTask = { kind: StoreKind; home: string } & (
  | { task: "die-with-lease"; leased: Leased }
  | { task: "count"; name: string; updates: number }
);

const SCRIPT = fileURLToPath(new URL("./store-child.ts", import.meta.url));

/** Runs `store-child.ts` to its end; rejects when it failed. */
export async function runStoreChild(task: StoreChildTask): Promise<void> {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(task)], { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  const expected = task.task === "die-with-lease" ? signal === "SIGKILL" : code === 0;
  if (!expected) throw new Error(`The child process failed (code ${code}, signal ${signal}): ${errors}`);
}
