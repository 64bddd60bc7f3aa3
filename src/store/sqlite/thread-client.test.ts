import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { refusal } from "../../../test/contract/store-fixture.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { StoreChange } from "../store.ts";
import { connect } from "./database.ts";
import { createThreadClient } from "./thread-client.ts";

function putWindow(sessionId: string) {
  const window = { key: "agent:main:main", sessionId, openedAt: 1, closedAt: 2, reason: "restore" };
  return { name: "putWindow", arguments: window } as const;
}

describe("thread client", () => {
  it("rejects the requests of a failed thread, and starts another for the next request", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("later", "agent.sqlite");
    const client = createThreadClient({ path, writer: "w" }, () => undefined);
    const ended = { kind: "unavailable", code: "store-thread-ended" };
    expect(await refusal(client.request(putWindow("s-1")))).toEqual(ended);
    await mkdir(folder.join("later"));
    expect(await client.request(putWindow("s-1"))).toBeUndefined();
    await client.close();
  });

  it("reports when there are no file descriptors for a thread", async () => {
    await using folder = await temporaryFolder();
    const program = `
      import { openSync } from "node:fs";
      import { createThreadClient } from ${JSON.stringify(new URL("thread-client.ts", import.meta.url).href)};
      const client = createThreadClient({ path: process.argv[1], writer: "w" }, () => undefined);
      try { for (;;) openSync("/dev/null"); } catch {}
      await client.request({ viewPath: "/nowhere" }).catch(({ code }) => console.log(code));`;
    const node = [process.execPath, "--input-type=module", "-e", program, folder.join("agent.sqlite")];
    const limited = ["-c", 'ulimit -n 64; exec "$@"', "bash", ...node];
    const { stdout } = await promisify(execFile)("bash", limited);
    expect(stdout.trim()).toBe("too-many-open-files");
  });

  it("passes on refusals with kind and code", async () => {
    await using folder = await temporaryFolder();
    const client = createThreadClient({ path: folder.join("agent.sqlite"), writer: "w" }, () => undefined);
    const settle = { name: "settleDelivery", arguments: { id: 7, state: "failed", note: "" } } as const;
    expect(await refusal(client.request(settle))).toEqual({ kind: "not-found", code: "outbox-item-not-found" });
    await client.close();
  });

  it("reports changes before it answers, with writes visible to other connections", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("agent.sqlite");
    const changes: StoreChange[] = [];
    const client = createThreadClient({ path, writer: "w" }, (told) => changes.push(...told));
    await client.request(putWindow("s-1"));
    expect(changes).toEqual([{ what: "entry", key: "agent:main:main" }]);
    const database = connect(path, "reader");
    expect(database.get<{ n: number }>("SELECT count(*) AS n FROM windows")?.n).toBe(1);
    database.close();
    await client.close();
  });

  it("yields between the answers to one commit", async () => {
    await using folder = await temporaryFolder();
    const client = createThreadClient({ path: folder.join("agent.sqlite"), writer: "w" }, () => undefined);
    await client.request(putWindow("first"));
    const answered: number[] = [];
    const turnsOfTheLoop = new Set<number>();
    let turn = 0;
    const next = (): void => {
      turn += 1;
      if (answered.length < 50) setImmediate(next);
    };
    next();
    const writes = Array.from({ length: 50 }, async (_, index) => {
      await client.request(putWindow(`s-${index}`));
      answered.push(index);
      turnsOfTheLoop.add(turn);
    });
    await Promise.all(writes);
    await client.close();
    expect(answered).toEqual(Array.from({ length: 50 }, (_, index) => index));
    expect(turnsOfTheLoop.size).toBeGreaterThan(2);
  });
});
