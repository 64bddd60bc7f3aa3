/** Group history and system events when processes are killed or work side by side. */
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openStore } from "../support/stores.ts";
import { type ChildTasks, type TurnStep, startChild } from "../support/child.ts";
import type { WrittenTurn } from "../support/store-child.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { STORE_KINDS } from "../support/agent-home.ts";

const KEY = "agent:main:main";

describe.each(STORE_KINDS)("pending items of a %s store", (kind) => {
  it("survive a kill if they were acknowledged", async () => {
    await using folder = await temporaryFolder();
    const home = folder.path;
    let acknowledged = 0;
    for (const enough of [1, 20, 60]) {
      const last = acknowledged + enough;
      const child = startChild("store", { kind, home, task: "append", start: acknowledged });
      await child.line((line) => line === last);
      child.kill("SIGKILL");
      await child.ended();
      acknowledged = Number(child.lines.at(-1)) + 1;
    }
    const store = await openStore(kind, { home });
    const kept = (await store.history.take("group", { id: "t", epoch: 1 })).map(({ body }) => Number(body));
    await store.close();
    expect(acknowledged).toBeGreaterThan(80);
    expect(kept.slice(0, acknowledged)).toEqual(Array.from({ length: acknowledged }, (_, index) => index));
    expect(kept.length - acknowledged).toBeLessThanOrEqual(1);
  });

  it("from several concurrent processes are reported once each", async () => {
    await using folder = await temporaryFolder();
    const home = folder.path;
    const store = await openStore(kind, { home });
    const { systemEvents } = store;
    const children = ["x", "y"].map((name) =>
      startChild("store", { kind, home, task: "enqueue", name, count: 10 }).ended(),
    );
    const told: string[] = [];
    const takeTurn = async (id: string): Promise<void> => {
      const { events } = await systemEvents.drainSystemEvents(KEY, { id, epoch: 1 });
      told.push(...events.map(({ text }) => text));
      await systemEvents.acknowledgeSystemEvents(KEY, id);
    };
    const ended = Promise.all(children).then(() => "ended" as const);
    for (let turn = 0; (await Promise.race([ended, delay(2)])) !== "ended"; turn++) await takeTurn(`t${turn}`);
    await takeTurn("last");
    await store.close();
    expect(told).toHaveLength(20);
    for (const name of ["x", "y"]) {
      const own = told.filter((text) => text.startsWith(name));
      expect(own).toEqual(Array.from({ length: 10 }, (_, step) => `${name}-${step}`));
    }
  });

  it("are in exactly one written turn, wherever a process dies", async () => {
    await using folder = await temporaryFolder();
    const transcript = folder.join("turns");
    const turns = { kind, home: folder.path, task: "turns" as const, turns: 5, transcript };
    const steps: TurnStep[] = ["enqueued", "drained", "written", "acknowledged"];
    const enqueued: unknown[] = [];
    for (const [index, dieAfter] of steps.entries()) {
      const run = { ...turns, epoch: index + 1, dieAfter, dieInTurn: index };
      enqueued.push(...(await linesOf(run)));
    }
    enqueued.push(...(await linesOf({ ...turns, epoch: 9 })));
    const lines = (await readFile(transcript, "utf8")).split("\n").filter(Boolean);
    const written = lines.map((line) => JSON.parse(line) as WrittenTurn);
    expect(written.map(({ turn }) => turn)).toEqual(["turn-0", "turn-1", "turn-2", "turn-3", "turn-4"]);
    // The events of a turn that died are in its repetition, or in the next turn.
    expect(written.flatMap(({ events }) => events)).toEqual(enqueued);
    expect(enqueued.length).toBeGreaterThan(5);
  });
});

async function linesOf(task: ChildTasks["store"]): Promise<unknown[]> {
  const child = startChild("store", task);
  await child.ended();
  return child.lines;
}
