import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { currentProcess, processStartTime, processState } from "./processes.ts";

describe("processState", () => {
  it("recognises this process, but not another one with the same pid", () => {
    expect(processState(currentProcess())).toBe("alive");
    expect(processState({ ...currentProcess(), startedAt: "unknown" })).toBe("alive");
    expect(processState({ ...currentProcess(), startedAt: "another time" })).toBe("dead");
    expect(processState({ ...currentProcess(), host: "elsewhere" })).toBe("unknown");
  });

  it("treats impossible pids as dead", () => {
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 40]) {
      expect(processState({ ...currentProcess(), pid, startedAt: "unknown" })).toBe("dead");
    }
  });

  it("notices at once that a process has ended", async () => {
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    const identity = { ...currentProcess(), pid: child.pid ?? 0, startedAt: "unknown" };
    expect(processState(identity)).toBe("alive");
    child.kill("SIGSTOP");
    expect(processState(identity)).toBe("alive");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(processState(identity)).toBe("dead");
  });

  it.runIf(process.platform === "linux")("takes a process that nobody has waited for yet for dead", async () => {
    // The shell becomes a program that never waits for the child it inherits.
    const parent = spawn("sh", ["-c", "sleep 0 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const identity = { ...currentProcess(), pid: Number(line.toString()), startedAt: "unknown" };
    await vi.waitFor(() => expect(processState(identity)).toBe("dead"));
    parent.kill("SIGKILL");
    await once(parent, "exit");
  });
});

describe("processStartTime", () => {
  it("is close to the actual start", () => {
    const expected = Date.now() - process.uptime() * 1000;
    expect(Math.abs((processStartTime(process.pid) ?? 0) - expected)).toBeLessThan(5000);
    expect(processStartTime(2 ** 40)).toBeUndefined();
  });
});
