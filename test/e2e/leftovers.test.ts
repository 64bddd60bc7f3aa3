/** Processes stopped in the middle of a write leave no files, or none for long. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, it } from "vitest";
import { silentLogger } from "../../src/base/log.ts";
import { DEFAULT_CONFIG } from "../../src/config/config.ts";
import { initSessionState } from "../../src/session/init.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { BIN, runCliShared } from "../support/cli.ts";
import { endedPid } from "../support/child.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temp-folder.ts";
import { userDraft } from "../support/transcripts.ts";
import { openAgent } from "../../src/compose/agent.ts";
import { openGateway } from "../../src/compose/turns.ts";

const MESSAGES = 3000;

/** A session that takes a while to be exported. */
async function homeWithMuchSaid(): Promise<TemporaryFolder> {
  const home = await temporaryFolder();
  const agent = await openAgent({ home: home.path, config: DEFAULT_CONFIG, logger: silentLogger });
  const opened = await initSessionState({ agent, ctx: { SessionKey: "main", Body: "x" }, cfg: DEFAULT_CONFIG });
  await using log = await openTranscriptLog({ path: opened.transcriptPath });
  await log.append(Array.from({ length: MESSAGES }, (_, index) => userDraft(`${index} ${"words ".repeat(500)}`)));
  await agent.store.close();
  return home;
}

function startExport(home: TemporaryFolder, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [BIN, "sessions", "export", "main", ...args], {
    cwd: home.path,
    env: { ...process.env, HOLDFAST_HOME: home.path },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function leftIn(home: TemporaryFolder): Promise<string[]> {
  const names = await readdir(home.path, { recursive: true });
  return names.filter((name) => name.endsWith(".tmp"));
}

async function startedExport(home: TemporaryFolder): Promise<ChildProcess> {
  const child = startExport(home, "--output", "out.md");
  for (let waited = 0; waited < 2000 && (await leftIn(home)).length === 0; waited += 1) await delay(5);
  expect(await leftIn(home)).toHaveLength(1);
  return child;
}

it("an export whose reader stops early leaves no files", async () => {
  await using home = await homeWithMuchSaid();
  const child = startExport(home);
  await once(child.stdout ?? child, "data");
  expect(await leftIn(home)).toEqual([]);
  child.stdout?.destroy();
  await once(child, "exit");
  expect(await leftIn(home)).toEqual([]);
});

it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("an export stopped by %s leaves no files", async (signal) => {
  await using home = await homeWithMuchSaid();
  const child = await startedExport(home);
  child.kill(signal);
  const [, endedBy] = (await once(child, "exit")) as [number | null, string | null];
  expect(endedBy).toBe(signal);
  expect(await leftIn(home)).toEqual([]);
});

it("files of a killed process are removed by the next export, by doctor, and when a gateway starts", async () => {
  await using home = await homeWithMuchSaid();
  const kill = async (): Promise<void> => {
    const child = await startedExport(home);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await leftIn(home)).toHaveLength(1);
  };
  await kill();
  await runCliShared(["sessions", "export", "main", "--output", "out.md"], { home: home.path });
  expect(await leftIn(home)).toEqual([]);

  await kill();
  expect((await runCliShared(["doctor", "--json"], { home: home.path })).json()).toMatchObject({
    findings: [{ check: "leftovers" }],
  });
  await runCliShared(["doctor", "--fix"], { home: home.path });
  expect(await leftIn(home)).toEqual([]);

  await kill();
  const pid = await endedPid();
  await mkdir(home.join("agents/main/media"), { recursive: true });
  await writeFile(home.join(`agents/main/media/a.png.${pid}.0123456789ab.tmp`), "half");
  await writeFile(home.join(`agents/main/media/b.png.${process.pid}.0123456789ab.tmp`), "still written");
  const gateway = await openGateway({
    home: home.path,
    config: DEFAULT_CONFIG,
    port: 0,
    channels: false,
    logger: silentLogger,
  });
  for (let waited = 0; waited < 5000 && (await leftIn(home)).length > 1; waited += 20) await delay(20);
  expect(await leftIn(home)).toEqual([`agents/main/media/b.png.${process.pid}.0123456789ab.tmp`]);
  await gateway.close();
});

it("files of a killed process next to another program's store are removed by the next command that opens it", async () => {
  await using folder = await temporaryFolder();
  const pid = await endedPid();
  await mkdir(folder.join("home"));
  await mkdir(folder.join("openclaw/archive"), { recursive: true });
  await writeFile(folder.join("openclaw/sessions.json"), "{}");
  await writeFile(folder.join(`openclaw/a.jsonl.${pid}.0123456789ab.tmp`), "half a transcript");
  await writeFile(folder.join(`openclaw/archive/b.jsonl.${pid}.0123456789ab.tmp`), "half a transcript");
  await writeFile(folder.join("openclaw/sessions.json.tmp"), "not ours");
  const store = folder.join("openclaw/sessions.json");
  expect((await runCliShared(["sessions", "--store", store], { home: folder.join("home") })).code).toBe(0);
  expect(await leftIn(folder)).toEqual(["openclaw/sessions.json.tmp"]);
});
