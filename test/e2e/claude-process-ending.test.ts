/** How one real Claude Code process starts and ends, without leftovers. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  AT_ONCE,
  collect,
  createProcessHome,
  eventOf,
  isText,
  isToolUse,
  startParent,
  toolStarted,
} from "../support/process-home.ts";
import { toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { hang, slowly, text, toolUse } from "../support/fake-anthropic/reply.ts";

describe("ending", AT_ONCE, () => {
  test("an interrupt works before the turn has started", async () => {
    await using home = await createProcessHome();
    home.api.script(hang());
    await using claude = home.start();
    const running = claude.send("go");
    expect(await claude.interrupt()).toBe("answered");
    expect(await running).toMatchObject({ outcome: "interrupted", canContinue: true });
  });

  test("falls back to SIGINT, which ends the turn and the process", async () => {
    await using home = await createProcessHome();
    home.api.script(slowly(text("one two three ".repeat(200)), 20));
    await using claude = home.start({ grace: { interruptMs: 0, terminateMs: 20_000 } });
    const running = claude.send("count");
    await eventOf(claude, isText);
    expect(await claude.interrupt()).toBe("process-ended");
    const turn = await running;
    expect(turn).toMatchObject({ outcome: "interrupted", canContinue: false });
    expect(turn.text).toMatch(/^one /);
    expect(await claude.ended).toMatchObject({ code: 0 });
  });

  test("an unresponsive process is ended by signals", async () => {
    await using home = await createProcessHome();
    home.api.script(toolUse("Bash", { command: "sleep 300" }));
    await using claude = home.start({
      permissionMode: "bypassPermissions",
      grace: { interruptMs: 200, endMs: 200, terminateMs: 200 },
    });
    const running = claude.send("go");
    await eventOf(claude, isToolUse);
    // It can neither answer nor end itself.
    process.kill(claude.pid, "SIGSTOP");
    expect(await claude.interrupt()).toBe("process-ended");
    expect(await running).toMatchObject({ outcome: "interrupted", canContinue: false });
    expect(await claude.ended).toMatchObject({ signal: "SIGKILL" });
    expect(home.home.processes()).toEqual([]);
  });

  test("stop ends a turn and its background processes", async () => {
    await using home = await createProcessHome();
    home.api.script(toolUse("Bash", { command: "sleep 300", run_in_background: true }), hang());
    await using claude = home.start({ permissionMode: "bypassPermissions" });
    const running = claude.send("go");
    await home.api.waitFor((request) => toolResults(request).length > 0);
    await claude.stop();
    expect(await running).toMatchObject({ outcome: "interrupted", canContinue: false });
    expect(home.home.processes()).toEqual([]);
  });

  test("a killed claude leaves a crashed turn and no running tool", async () => {
    await using home = await createProcessHome();
    home.api.script(toolUse("Bash", { command: "sleep 300" }));
    await using claude = home.start({ permissionMode: "bypassPermissions" });
    const running = claude.send("go");
    await toolStarted(home.home, "sleep");
    process.kill(claude.pid, "SIGKILL");
    expect(await running).toMatchObject({
      outcome: "crashed",
      error: "claude ended by SIGKILL before the turn had a result",
      canContinue: false,
    });
    await claude.ended;
    expect(home.home.processes()).toEqual([]);
  });

  test("nothing keeps running when the parent is killed", async () => {
    await using home = await createProcessHome();
    home.api.script(toolUse("Bash", { command: "nohup sleep 300 & sleep 300" }));
    const parent = await startParent({ ...home.options, permissionMode: "bypassPermissions" });
    await toolStarted(home.home, "sleep", 2);
    parent.kill("SIGKILL");
    await home.home.empty();
    expect(home.home.processes()).toEqual([]);
  });

  test("nothing keeps running when the parent is killed while claude starts", async () => {
    await using home = await createProcessHome();
    for (const ms of [0, 3, 30, 300]) {
      const parent = await startParent(home.options);
      await delay(ms);
      parent.kill("SIGKILL");
      await home.home.empty();
    }
    expect(home.home.processes()).toEqual([]);
  });
});

describe("starting", AT_ONCE, () => {
  test("reports a program that ends at once", async () => {
    await using home = await createProcessHome();
    const command = join(home.home.home, "broken");
    writeProgram(command, "echo 'half a line'; printf '{\"type\":'; echo 'no licence' >&2; exit 3");
    await using claude = home.start({ command });
    const events = collect(claude);
    expect(await claude.send("hello")).toMatchObject({
      outcome: "crashed",
      sessionId: undefined,
      error: "claude ended with exit code 3 before the turn had a result: no licence",
    });
    expect(events.filter(({ type }) => type === "damaged")).toMatchObject([
      { excerpt: "half a line" },
      { reason: "the output ended in the middle of a line", excerpt: '{"type":' },
    ]);
  });

  test("an escaped child process does not keep the process from ending", async () => {
    await using home = await createProcessHome();
    const command = join(home.home.home, "forking");
    const marks = "env -u HOLDFAST_RUN -u HOLDFAST_TEST_MARK";
    writeProgram(command, `read -r _\n(${marks} setsid sleep 6 &)\nexit 0`);
    await using claude = home.start({ command });
    expect(await claude.send("hello")).toMatchObject({ outcome: "crashed" });
    expect(await claude.ended).toMatchObject({ code: 0 });
  });
});

/** Written by another process: a process that this one starts meanwhile would inherit the open file ("text file busy"). */
function writeProgram(path: string, script: string): void {
  execFileSync("sh", ["-c", 'cat > "$0" && chmod 755 "$0"', path], { input: `#!/bin/sh\n${script}\n` });
}
