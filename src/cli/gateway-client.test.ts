import { readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { systemErrorCode } from "../base/errors.ts";
import type { ProcessIdentity } from "../base/processes.ts";
import { gatewayLayout } from "../config/layout.ts";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { GATEWAY_FLAGS, startGatewayProcess } from "./gateway-client.ts";

/** A program in place of the gateway: it announces itself by a file. */
async function program(folder: TemporaryFolder, code: string) {
  const file = folder.join("program.mjs");
  await writeFile(file, code);
  return { file, args: ["gateway"] };
}

function finder(folder: TemporaryFolder): () => Promise<{ process: ProcessIdentity } | undefined> {
  return async () => {
    const text = await readFile(folder.join("pid"), "utf8").catch(() => "");
    return text === "" ? undefined : { process: { pid: Number(text), startedAt: "", host: "" } };
  };
}

it("sets the same V8 limits as npm start", async () => {
  const { scripts } = JSON.parse(await readFile("package.json", "utf8")) as { scripts: { start: string } };
  expect(scripts.start).toBe(`node ${GATEWAY_FLAGS.join(" ")} bin/holdfast.js gateway`);
});

describe("startGatewayProcess", () => {
  it("starts a detached process with a private log file and discards its stdout", async () => {
    await using folder = await temporaryFolder();
    const code = `
      import { writeFileSync } from "node:fs";
      console.log("the token");
      console.error("a line of the log", process.argv[2], process.cwd());
      writeFileSync(${JSON.stringify(folder.join("pid"))}, String(process.pid));
      setInterval(() => {}, 1000);
    `;
    const home = folder.join("home");
    const started = await startGatewayProcess({ home, find: finder(folder), program: await program(folder, code) });
    const { pid } = started.process;
    try {
      expect(pid).not.toBe(process.pid);
      const { logFile } = gatewayLayout(home);
      expect(await readFile(logFile, "utf8")).toBe(`a line of the log gateway ${home}\n`);
      expect((await stat(logFile)).mode & 0o777).toBe(0o600);
    } finally {
      process.kill(pid, "SIGKILL");
      await expect.poll(() => isAlive(pid)).toBe(false);
    }
  });

  it("shows the end of the log when the process ends early", async () => {
    await using folder = await temporaryFolder();
    const code = `console.error("line 1\\n".repeat(30) + "the port is taken"); process.exitCode = 7;`;
    const started = startGatewayProcess({
      home: folder.path,
      find: finder(folder),
      program: await program(folder, code),
    });
    await expect(started).rejects.toMatchObject({
      kind: "unavailable",
      code: "gateway-not-started",
      message: expect.stringMatching(
        /it ended with exit code 7\. The end of its log:\n( {4}line 1\n){9} {4}the port/,
      ) as string,
      hint: expect.stringContaining("holdfast gateway") as string,
    });
  });

  it("uses the gateway that another command started at the same time", async () => {
    await using folder = await temporaryFolder();
    const code = `
      import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(folder.join("pid"))}, "12345");
      process.exitCode = 1;
    `;
    const found = await startGatewayProcess({
      home: folder.path,
      find: finder(folder),
      program: await program(folder, code),
    });
    expect(found.process.pid).toBe(12345);
  });

  it("ends its own process when another command's gateway answers first", async () => {
    await using folder = await temporaryFolder();
    const code = `
      import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(folder.join("started"))}, String(process.pid));
      writeFileSync(${JSON.stringify(folder.join("pid"))}, "12345");
      setInterval(() => {}, 1000);
    `;
    const found = await startGatewayProcess({
      home: folder.path,
      find: finder(folder),
      program: await program(folder, code),
    });
    expect(found.process.pid).toBe(12345);
    expect(isAlive(Number(await readFile(folder.join("started"), "utf8")))).toBe(false);
  });

  it("gives up after a time limit", async () => {
    await using folder = await temporaryFolder();
    const code = `
      import { writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(folder.join("started"))}, String(process.pid));
      setInterval(() => {}, 1000);
    `;
    const started = startGatewayProcess({
      home: folder.path,
      find: finder(folder),
      program: await program(folder, code),
      patienceMs: 1000,
    });
    await expect(started).rejects.toThrow(/does not answer after 1 seconds/);
    const pid = Number(await readFile(folder.join("started"), "utf8"));
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) !== "ESRCH";
  }
}
