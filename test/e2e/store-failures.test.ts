/** A full disk and a locked store under a running gateway: nothing is lost, and it recovers. */
import { mkdir, readFile, readdir, readlink, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentLayout } from "../../src/config/layout.ts";
import { startCliGateway, runCli } from "../support/cli.ts";
import { type FakeTelegram, startFakeTelegram } from "../support/fake-telegram/fake-telegram.ts";
import { hastyClock } from "../support/fake-telegram/telegram-home.ts";
import { ADA, BOB } from "../support/fake-telegram/updates.ts";
import { createChatHome } from "../support/chat-home.ts";
import { canMount, smallDisk } from "../support/temp-folder.ts";
import { HELD, createHeldClock, until } from "../support/time.ts";
import { openTurns } from "../../src/compose/turns.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;
/** For a command that must end without a signal. */
const PATIENCE_MS = 20_000;

/** Where nothing can be mounted, the same is tried with injected errors. */
describe.skipIf(!canMount())("a full disk", { concurrent: true }, () => {
  it("leaves messages at Telegram, reports it, and answers everything once there is space", async () => {
    await using disk = await smallDisk(16);
    await using home = await createChatHome({ home: join(disk.path, "home"), gateway: { clock: hastyClock } });
    const { telegram } = home;
    telegram.say("before");
    await home.hears(ADA.id, "before");
    const makeRoom = await disk.fill();
    telegram.say("in the middle");
    telegram.say("me too", { from: BOB });
    await until(() => home.statuses.at(-1) === "telegram retrying", "a report");
    expect(JSON.stringify(await home.rpc("health", {}))).toMatch(/no space|full/i);
    expect(home.texts(ADA.id)).toHaveLength(1);
    await makeRoom();
    await home.hears(ADA.id, "in the middle");
    await home.hears(BOB.id, "me too");
    expect(await home.transcript(KEY)).toHaveLength(4);
    expect(home.texts(ADA.id)).toHaveLength(2);
  });

  it("postpones the turn; the answer comes once there is space", async () => {
    await using disk = await smallDisk(16);
    const clock = createHeldClock();
    await using home = await createChatHome({ home: join(disk.path, "home"), gateway: { clock } });
    const { telegram } = home;
    telegram.say(`${HELD}\nthink about it`);
    await until(async () => (await home.transcript(KEY).catch(() => [])).length === 1, "the turn");
    const makeRoom = await disk.fill();
    clock.release();
    await until(() => home.logged.some((line) => line.includes("trying again")), "a pause");
    expect(home.texts(ADA.id)).toEqual([]);
    await makeRoom();
    await home.hears(ADA.id, "think about it");
    expect(home.texts(ADA.id)).toHaveLength(1);
    expect((await home.transcript(KEY)).filter((line) => line.startsWith("user"))).toHaveLength(1);
  });

  it("prevents a gateway from starting; the next one with space answers waiting messages", async () => {
    await using disk = await smallDisk(16);
    await using telegram = await startFakeTelegram();
    const home = join(disk.path, "home");
    await furnish(home, telegram);
    const heard = (): boolean => telegram.sent.some(({ params }) => String(params["text"]).includes("think about it"));
    let makeRoom: () => Promise<void>;
    {
      await using gateway = await startCliGateway(home);
      telegram.say("sleep:2000\nthink about it");
      await until(async () => (await transcripts(home)).includes("think about it"), "the turn");
      // Filling takes its time: the answer must not overtake it.
      gateway.process.kill("SIGSTOP");
      makeRoom = await disk.fill();
      gateway.process.kill("SIGKILL");
    }

    const { code, stdout, stderr } = await runCli(["gateway", "--port", "0"], { home, timeoutMs: PATIENCE_MS });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^holdfast: Cannot .*gateway\.json.*\n {2}Free some disk space and try again/);
    expect(heard()).toBe(false);

    await makeRoom();
    await using _gateway = await startCliGateway(home);
    await until(heard, "the answer");
  });
});

describe("an agent that cannot be opened", () => {
  it.skipIf(process.platform !== "linux")("keeps no file open, however often it is tried", async () => {
    await using home = await createChatHome({ started: false });
    const file = join(home.home, "file");
    await mkdir(home.home);
    await writeFile(file, "no folder");
    const config = { ...home.config, agents: { main: { workspace: join(file, "workspace") } } };
    const turns = await openTurns({ home: home.home, config, channels: false, execution: "thread" });
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(turns.agents.open("main")).rejects.toMatchObject({ code: "not-a-folder" });
    }
    expect((await openFiles()).filter((path) => path.startsWith(home.home))).toEqual([]);
    await turns.close();
  });
});

describe("a store that another process has locked", () => {
  it("holds up its agent, not the gateway, and nothing is lost", async () => {
    const clock = createHeldClock();
    await using home = await createChatHome({
      config: (config) => ({ ...config, agents: { main: {}, other: {} } }),
      gateway: { clock },
    });
    const { telegram } = home;
    telegram.say(`${HELD}\nfirst`);
    await until(async () => (await home.transcript(KEY).catch(() => [])).length === 1, "the turn");
    const unlock = lock(agentLayout(home.home, "main").database);
    clock.release();
    telegram.say("second");
    const answer = await home.rpc("agent", { message: "and you?", agentId: "other", idempotencyKey: "1" });
    expect(JSON.stringify(answer)).toContain("window: and you?");
    expect(home.texts(ADA.id)).toEqual([]);
    expect(await home.rpc("health", {})).toMatchObject({
      ok: true,
      agents: [
        { agentId: "main", sessions: { count: 1 } },
        { agentId: "other", sessions: { count: 1 } },
      ],
    });
    unlock();
    await home.hears(ADA.id, "second");
    expect(home.texts(ADA.id)).toEqual([expect.stringContaining("first"), expect.stringContaining("second")]);
  });
});

/** A home whose gateway everybody on Telegram may write to. */
async function furnish(home: string, telegram: FakeTelegram): Promise<void> {
  await mkdir(home, { mode: 0o700 });
  const tokenFile = join(home, "telegram.token");
  await writeFile(tokenFile, telegram.token);
  const account = { apiRoot: telegram.url, allowFrom: ["*"], tokenFile };
  await writeFile(join(home, "config.json"), JSON.stringify({ channels: { telegram: { default: account } } }));
}

async function transcripts(home: string): Promise<string> {
  const folder = agentLayout(home, "main").sessionsFolder;
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".jsonl"));
  return (await Promise.all(names.map(async (name) => await readFile(join(folder, name), "utf8")))).join("");
}

/** Like another process with a long write. */
function lock(path: string): () => void {
  const database = new DatabaseSync(path);
  database.exec("BEGIN IMMEDIATE");
  return () => database.close();
}

/** Of this process. */
async function openFiles(): Promise<string[]> {
  const handles = await readdir("/proc/self/fd");
  return await Promise.all(handles.map(async (name) => await readlink(`/proc/self/fd/${name}`).catch(() => "")));
}
