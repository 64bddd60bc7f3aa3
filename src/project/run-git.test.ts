/** Limits on real programs that hang, print too much or do not exist. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { type CommandOptions, runCommand } from "./run-git.ts";

function options(folder: string, changes: Partial<CommandOptions> = {}): CommandOptions {
  const env = { PATH: `${folder}:/usr/bin:/bin` };
  return { cwd: folder, env, timeoutMs: 10_000, maxOutputBytes: 1_000_000, ...changes };
}

function script(path: string, body: string): void {
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

async function untilGone(pid: number): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt++) {
    // A process that ended but was not reaped is still listed.
    if (!existsSync(`/proc/${pid}`) || readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ")) return true;
    await delay(25);
  }
  return false;
}

describe("runCommand", () => {
  it("returns output, errors and exit code, and passes arguments unchanged", async () => {
    await using folder = await temporaryFolder();
    script(folder.join("tool"), `printf '%s|' "$@"; echo oops >&2; exit 7`);
    const result = await runCommand("tool", ["a b", "$(id)", "`x`", '"'], options(folder.path));
    expect({ ...result, stdout: result.stdout.toString() }).toEqual({
      stdout: 'a b|$(id)|`x`|"|',
      stderr: "oops\n",
      exitCode: 7,
    });
  });

  it("kills a slow program with its children", async () => {
    await using folder = await temporaryFolder();
    script(folder.join("tool"), `sleep 600 & echo $! > child.pid; sleep 600`);
    const start = performance.now();
    const result = await runCommand("tool", [], options(folder.path, { timeoutMs: 1500 }));
    expect(result.failure).toBe("timeout");
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(await untilGone(Number(readFileSync(folder.join("child.pid"), "utf8")))).toBe(true);
  });

  it("does not wait for background processes of the program", async () => {
    await using folder = await temporaryFolder();
    script(folder.join("tool"), `sleep 600 & echo $! > child.pid`);
    const result = await runCommand("tool", [], options(folder.path, { timeoutMs: 1500 }));
    expect(result.failure).toBe("timeout");
    expect(await untilGone(Number(readFileSync(folder.join("child.pid"), "utf8")))).toBe(true);
  });

  it("stops a program that prints too much and keeps the beginning", async () => {
    await using folder = await temporaryFolder();
    script(folder.join("tool"), `exec yes`);
    const result = await runCommand("tool", [], options(folder.path, { maxOutputBytes: 1_001 }));
    expect(result.failure).toBe("too-much-output");
    expect(result.stdout.toString()).toBe(`${"y\n".repeat(500)}y`);
  });

  it("names a missing program", async () => {
    await using folder = await temporaryFolder();
    expect(await runCommand("no-such-tool", [], options(folder.path))).toMatchObject({ failure: "missing" });
    expect(await runCommand("sh", [], options(folder.path, { cwd: folder.join("gone") }))).toMatchObject({
      failure: "not-started",
    });
    script(folder.join("tool"), "kill -9 $$");
    expect(await runCommand("tool", [], options(folder.path))).toMatchObject({ failure: "killed" });
  });

  it("lets this process end while a program runs in the background, and kills the program with it", async () => {
    await using folder = await temporaryFolder();
    script(folder.join("tool"), `echo $$ > tool.pid; sleep 600`);
    const module = fileURLToPath(new URL("run-git.ts", import.meta.url));
    const source = `
      import { existsSync } from "node:fs";
      import { runCommand } from ${JSON.stringify(module)};
      const env = { ...process.env, PATH: process.cwd() + ":" + process.env.PATH };
      void runCommand("tool", [], { cwd: ".", env, timeoutMs: 60_000, maxOutputBytes: 10, background: true });
      const timer = setInterval(() => {
        if (existsSync("tool.pid")) clearInterval(timer);
      }, 10);
    `;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
      cwd: folder.path,
      stdio: "inherit",
    });
    const [code] = await once(child, "exit", { signal: AbortSignal.timeout(20_000) });
    expect(code).toBe(0);
    expect(await untilGone(Number(readFileSync(folder.join("tool.pid"), "utf8")))).toBe(true);
  });
});
