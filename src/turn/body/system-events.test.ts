import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { TurnStep, WrittenTurn } from "../../../test/support/pending-child.ts";
import { openTestDatabase } from "../../../test/support/pending-database.ts";
import { spawnPendingChild } from "../../../test/support/run-pending-child.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { PendingDatabase } from "./pending-database.ts";
import { type SystemEvents, createSystemEvents } from "./system-events.ts";

const KEY = "agent:main:main";
const open = (database: PendingDatabase, limit?: number): SystemEvents =>
  createSystemEvents({ database, now: () => 5, ...(limit === undefined ? {} : { limit }) });

const drained = async (events: SystemEvents, id: string, epoch = 1): Promise<string[]> =>
  (await events.drainSystemEvents(KEY, { id, epoch })).events.map(({ text }) => text);

describe("system events", () => {
  it("wait for their session across a restart", async () => {
    await using folder = await temporaryFolder();
    {
      using database = await openTestDatabase(folder);
      await open(database).enqueueSystemEvent(KEY, " Model switched. ");
      await open(database).enqueueSystemEvent("agent:main:other", "not here");
    }
    using database = await openTestDatabase(folder);
    expect(await open(database).drainSystemEvents(KEY, { id: "t", epoch: 1 })).toEqual({
      id: "t",
      events: [{ at: 5, text: "Model switched." }],
      dropped: 0,
    });
  });

  it("are told once when the turn acknowledges them, and again when it does not", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const events = open(database);
    await events.enqueueSystemEvent(KEY, "a");
    expect(await drained(events, "t1")).toEqual(["a"]);
    await events.enqueueSystemEvent(KEY, "b");
    expect(await drained(events, "t1")).toEqual(["a"]);
    expect(await drained(events, "t2")).toEqual(["a", "b"]);
    expect(await events.acknowledgeSystemEvents(KEY, "t1")).toBe(false);
    expect(await events.acknowledgeSystemEvents(KEY, "t2")).toBe(true);
    expect(await drained(events, "t3")).toEqual([]);
    expect(await events.acknowledgeSystemEvents(KEY, "t3")).toBe(false);
  });

  it("keep what came in during the turn for the next one", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const events = open(database);
    await events.enqueueSystemEvent(KEY, "a");
    await drained(events, "t1");
    await events.enqueueSystemEvent(KEY, "a");
    await events.acknowledgeSystemEvents(KEY, "t1");
    expect(await drained(events, "t2")).toEqual(["a"]);
  });

  it("skip nothing but empty and repeated texts", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const events = open(database);
    const queued = [];
    for (const text of ["a", "a", " ", "b", "a"]) queued.push(await events.enqueueSystemEvent(KEY, text));
    expect(queued).toEqual([true, false, false, true, true]);
    expect(await drained(events, "t")).toEqual(["a", "b", "a"]);
  });

  it("say how many had to be let go, once", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const events = open(database, 2);
    for (const text of ["1", "2", "3", "4"]) await events.enqueueSystemEvent(KEY, text);
    const drain = async (id: string) => {
      const { events: told, dropped } = await events.drainSystemEvents(KEY, { id, epoch: 1 });
      return [dropped, ...told.map(({ text }) => text)];
    };
    expect(await drain("t1")).toEqual([2, "3", "4"]);
    // What a turn holds is not let go: its repetition needs it.
    for (const text of ["5", "6", "7"]) await events.enqueueSystemEvent(KEY, text);
    expect(await drain("t1")).toEqual([2, "3", "4"]);
    await events.acknowledgeSystemEvents(KEY, "t1");
    expect(await drain("t2")).toEqual([1, "6", "7"]);
    await events.acknowledgeSystemEvents(KEY, "t2");
    await events.enqueueSystemEvent(KEY, "8");
    expect(await drain("t3")).toEqual([0, "8"]);
  });

  it("are refused to a process that lost its lease", async () => {
    await using folder = await temporaryFolder();
    using first = await openTestDatabase(folder);
    using second = await openTestDatabase(folder);
    const [paused, newer] = [open(first), open(second)];
    await paused.enqueueSystemEvent(KEY, "a");
    expect(await drained(paused, "t1", 4)).toEqual(["a"]);
    expect(await drained(newer, "t2", 5)).toEqual(["a"]);
    await expect(drained(paused, "t1", 4)).rejects.toMatchObject({ kind: "fenced" });
    expect(await paused.acknowledgeSystemEvents(KEY, "t1")).toBe(false);
    expect(await newer.acknowledgeSystemEvents(KEY, "t2")).toBe(true);
  });

  it("are forgotten with their session", async () => {
    await using folder = await temporaryFolder();
    using database = await openTestDatabase(folder);
    const events = open(database);
    await events.enqueueSystemEvent(KEY, "a");
    await events.forgetSystemEvents(KEY);
    expect(await drained(events, "t")).toEqual([]);
  });

  it("come from several processes at once and are told once each", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("pending.sqlite");
    const children = ["x", "y"].map((name) => spawnPendingChild({ path, task: "enqueue", name, count: 40 }).finished());
    using database = await openTestDatabase(folder);
    const events = open(database, 1000);
    const told: string[] = [];
    const takeTurn = async (id: string): Promise<void> => {
      told.push(...(await drained(events, id)));
      await events.acknowledgeSystemEvents(KEY, id);
    };
    const ended = Promise.all(children).then(() => "ended" as const);
    for (let turn = 0; (await Promise.race([ended, delay(2)])) !== "ended"; turn++) await takeTurn(`t${turn}`);
    await takeTurn("last");
    expect(told).toHaveLength(80);
    for (const name of ["x", "y"]) {
      const own = told.filter((text) => text.startsWith(name));
      expect(own).toEqual(Array.from({ length: 40 }, (_, step) => `${name}-${step}`));
    }
  });

  it("are in exactly one written turn when processes die at every step of it", async () => {
    await using folder = await temporaryFolder();
    const steps: TurnStep[] = ["enqueued", "drained", "written", "acknowledged"];
    const enqueued: unknown[] = [];
    for (const [index, dieAfter] of steps.entries()) {
      const run = { ...turnsOf(folder, index + 1), dieAfter, dieInTurn: index };
      enqueued.push(...(await spawnPendingChild(run).finished()));
    }
    enqueued.push(...(await spawnPendingChild(turnsOf(folder, 9)).finished()));
    const lines = (await readFile(folder.join("transcript"), "utf8")).split("\n").filter(Boolean);
    const written = lines.map((line) => JSON.parse(line) as WrittenTurn);
    expect(written.map(({ turn }) => turn)).toEqual(["turn-0", "turn-1", "turn-2", "turn-3", "turn-4"]);
    // The events of turns that died are told too: by their repetition, or by the turn after.
    expect(written.flatMap(({ events }) => events)).toEqual(enqueued);
    expect(enqueued.length).toBeGreaterThan(5);
  });
});

function turnsOf(folder: TemporaryFolder, epoch: number) {
  const [path, transcript] = [folder.join("pending.sqlite"), folder.join("transcript")];
  return { path, task: "turns" as const, epoch, turns: 5, transcript };
}
