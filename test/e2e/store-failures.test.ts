/** A full disk and a locked store under a running gateway: nothing is lost, and it is over when it is over. */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentLayout } from "../../src/config/layout.ts";
import { hastyClock } from "../support/fake-telegram/telegram-stage.ts";
import { ADA, BOB } from "../support/fake-telegram/updates.ts";
import { openHouse, until } from "../support/house.ts";
import { canMount, smallDisk } from "../support/small-disk.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;

/** Where nothing can be mounted, the same is tried with injected errors. */
describe.skipIf(!canMount())("a full disk", () => {
  it("keeps messages at Telegram, says so, and answers everything once there is room", async () => {
    await using disk = await smallDisk(16);
    await using house = await openHouse({ home: join(disk.path, "home"), gateway: { clock: hastyClock } });
    const { telegram } = house;
    telegram.say("before");
    await house.hears(ADA.id, "before");
    const makeRoom = await disk.fill();
    telegram.say("in the middle");
    telegram.say("me too", { from: BOB });
    await until(() => house.statuses.at(-1) === "telegram retrying", "a report");
    expect(JSON.stringify(await house.rpc("health", {}))).toMatch(/no space|full/i);
    expect(house.texts(ADA.id)).toHaveLength(1);
    await makeRoom();
    await house.hears(ADA.id, "in the middle");
    await house.hears(BOB.id, "me too");
    expect(await house.transcript(KEY)).toHaveLength(4);
    expect(house.texts(ADA.id)).toHaveLength(2);
  });

  it("during a turn puts the turn off; the answer comes once there is room", async () => {
    await using disk = await smallDisk(16);
    await using house = await openHouse({ home: join(disk.path, "home") });
    const { telegram } = house;
    telegram.say("sleep:1000\nthink about it");
    await until(async () => (await house.transcript(KEY).catch(() => [])).length === 1, "the turn");
    const makeRoom = await disk.fill();
    await until(() => house.logged.some((line) => line.includes("trying again")), "a pause");
    expect(house.texts(ADA.id)).toEqual([]);
    await makeRoom();
    await house.hears(ADA.id, "think about it");
    expect(house.texts(ADA.id)).toHaveLength(1);
    expect((await house.transcript(KEY)).filter((line) => line.startsWith("user"))).toHaveLength(1);
  });
});

describe("a store that another process has locked", () => {
  it("holds up its agent, not the gateway, and nothing is lost", async () => {
    await using house = await openHouse({
      config: (config) => ({ ...config, agents: { main: {}, other: {} } }),
    });
    const { telegram } = house;
    telegram.say("sleep:500\nfirst");
    await until(async () => (await house.transcript(KEY).catch(() => [])).length === 1, "the turn");
    const unlock = lock(agentLayout(house.home, "main").database);
    telegram.say("second");
    const answer = await house.rpc("agent", { message: "and you?", agentId: "other", idempotencyKey: "1" });
    expect(JSON.stringify(answer)).toContain("window: and you?");
    expect(house.texts(ADA.id)).toEqual([]);
    unlock();
    await house.hears(ADA.id, "second");
    expect(house.texts(ADA.id)).toEqual([expect.stringContaining("first"), expect.stringContaining("second")]);
  });
});

/** As another process that writes for long would. */
function lock(path: string): () => void {
  const database = new DatabaseSync(path);
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}
