import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { readRunningSessions } from "./layout.ts";

const sessionId = "2567e988-bbe2-47b1-88e2-236ca4fc214e";

function procStart(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

async function claudeHome(files: Record<string, unknown>) {
  const folder = await temporaryFolder();
  await mkdir(folder.join("sessions"));
  for (const [name, content] of Object.entries(files)) {
    await writeFile(folder.join("sessions", name), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

it.runIf(process.platform === "linux")(
  "a session is running while the process that wrote its file is alive",
  async () => {
    const child: ChildProcess = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    await once(child, "spawn");
    const pid = child.pid ?? 0;
    const record = {
      pid,
      sessionId,
      procStart: procStart(pid),
      startedAt: Date.now(),
      status: "waiting",
      waitingFor: "permission",
      cwd: "/repo",
      other: 1,
    };
    await using home = await claudeHome({ [`${pid}.json`]: record });
    try {
      expect(await readRunningSessions(home.path)).toEqual([
        { pid, sessionId, startedAt: record.startedAt, status: "waiting", waitingFor: "permission", cwd: "/repo" },
      ]);
      await writeFile(home.join("sessions", `${pid}.json`), JSON.stringify({ ...record, procStart: "1" }));
      expect(await readRunningSessions(home.path)).toEqual([]);
      await writeFile(home.join("sessions", `${pid}.json`), JSON.stringify(record));
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    expect(await readRunningSessions(home.path)).toEqual([]);
  },
);

it("a file without a start time counts unless its process is younger", async () => {
  const { pid } = process;
  await using home = await claudeHome({ [`${pid}.json`]: { pid, sessionId, startedAt: Date.now() } });
  expect(await readRunningSessions(home.path)).toHaveLength(1);
  await writeFile(home.join("sessions", `${pid}.json`), JSON.stringify({ pid, sessionId, startedAt: 1000 }));
  expect(await readRunningSessions(home.path)).toEqual([]);
});

it("skips malformed files and never opens other names", async () => {
  const { pid } = process;
  const record = { pid, sessionId, startedAt: Date.now() };
  await using home = await claudeHome({
    "1.json": "{",
    "2.json": "[]",
    "3.json": record,
    "token.json": record,
    [`${pid}.json.tmp`]: record,
  });
  await chmod(home.join("sessions", "token.json"), 0);
  await symlink(home.join("sessions", "token.json"), home.join("sessions", `${pid}.json`));
  expect(await readRunningSessions(home.path)).toEqual([]);
  expect(await readRunningSessions(home.join("missing"))).toEqual([]);
});
