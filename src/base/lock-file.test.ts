import { execFile } from "node:child_process";
import { readFile, readdir, stat, utimes, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { abandonedLock, endedPid, startChild } from "../../test/support/child.ts";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { HoldfastError } from "./errors.ts";
import { type FileLockOptions, lockState, withFileLock } from "./lock-file.ts";
import { currentProcess } from "./processes.ts";

const QUICK: FileLockOptions = { timeoutMs: 200, pollIntervalMs: 5 };

async function isFree(path: string, options = QUICK): Promise<boolean> {
  try {
    return await withFileLock(path, options, async () => true);
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "locked") return false;
    throw error;
  }
}

async function age(path: string, seconds: number): Promise<void> {
  const then = new Date(Date.now() - seconds * 1000);
  await utimes(path, then, then);
}

function lockIn(folder: TemporaryFolder): string {
  return folder.join("sessions.json.lock");
}

describe("withFileLock", () => {
  it("names the holder in the file and removes the file afterwards, even after a failure", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    const content = await withFileLock(path, {}, async () => await readFile(path, "utf8"));
    expect(JSON.parse(content)).toMatchObject({ ...currentProcess() });
    const failing = withFileLock(path, {}, async () => await Promise.reject(new Error("the task failed")));
    await expect(failing).rejects.toThrow("the task failed");
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("is released later if no file descriptor is free when the task ends", async () => {
    await using folder = await temporaryFolder();
    const program = `
      import { closeSync, openSync } from "node:fs";
      import { withFileLock } from ${JSON.stringify(new URL("lock-file.ts", import.meta.url).href)};
      const [, path] = process.argv;
      const taken = [];
      const first = await withFileLock(path, {}, async () => {
        try { for (;;) taken.push(openSync("/dev/null")); } catch { return "done"; }
      });
      for (const descriptor of taken) closeSync(descriptor);
      console.log(first, await withFileLock(path, { timeoutMs: 5000 }, async () => "again"));`;
    const node = [process.execPath, "--input-type=module", "-e", program, lockIn(folder)];
    const { stdout } = await promisify(execFile)("bash", ["-c", 'ulimit -n 64; exec "$@"', "bash", ...node]);
    expect(stdout.trim()).toBe("done again");
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("runs the tasks of one process one at a time", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    let inside = 0;
    const seen: number[] = [];
    const enter = async () => {
      inside++;
      await delay(1);
      seen.push(inside);
      inside--;
    };
    await Promise.all(Array.from({ length: 20 }, () => withFileLock(path, {}, enter)));
    expect(seen).toEqual(Array.from({ length: 20 }, () => 1));
  });

  it("refuses a task that would wait for its own lock, but not work that outlives the lock", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    let later: Promise<string> | undefined;
    await withFileLock(path, {}, async () => {
      await expect(withFileLock(path, {}, async () => undefined)).rejects.toMatchObject({ code: "lock-reentered" });
      expect(await withFileLock(`${path}2`, {}, async () => "another lock")).toBe("another lock");
      later = delay(20).then(() => withFileLock(path, {}, async () => "afterwards"));
    });
    expect(await later).toBe("afterwards");
  });

  it("gives up after the timeout and names the holder", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await using holder = startChild("lock", { task: "hold", path });
    await holder.line();
    const error = await withFileLock(path, QUICK, async () => undefined).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ kind: "locked", code: "lock-timeout", data: { pid: holder.pid } });
    expect((await readdir(folder.path)).toSorted()).toEqual(["sessions.json.lock"]);
    holder.process.stdin?.end();
    expect(await withFileLock(path, {}, async () => "free again")).toBe("free again");
  });

  it("reports whether the lock is held", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    expect(await lockState(path)).toBe("free");
    expect(await withFileLock(path, {}, async () => await lockState(path))).toBe("held");
    await writeFile(path, abandonedLock(await endedPid(), "holdfast"));
    expect(await lockState(path)).toBe("abandoned");
  });

  it("names a missing folder", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("nowhere", "x.lock");
    await expect(withFileLock(path, {}, async () => undefined)).rejects.toThrow(path);
  });
});

describe("a holder that is alive", () => {
  it("is not evicted, however old its file looks", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await using holder = startChild("lock", { task: "hold", path });
    await holder.line();
    await age(path, 3600);
    expect(await isFree(path)).toBe(false);
  });

  it("is not evicted while it is paused, and continues afterwards", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await using holder = startChild("lock", { task: "hold", path, options: { staleMs: 100 } });
    await holder.line();
    holder.kill("SIGSTOP");
    await age(path, 3600);
    expect(await isFree(path, { ...QUICK, staleMs: 100 })).toBe(false);
    holder.kill("SIGCONT");
    holder.process.stdin?.end();
    await holder.ended();
    expect(await isFree(path)).toBe(true);
  });

  it("keeps its file young for tools that judge by age alone", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await withFileLock(path, { staleMs: 60 }, async () => {
      await age(path, 3600);
      await vi.waitFor(async () => expect(Date.now() - (await stat(path)).mtimeMs).toBeLessThan(60_000));
    });
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("lets others in when it takes the lock repeatedly", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await using busy = startChild("lock", { task: "hold-often", path, holdMs: 250 });
    await busy.line();
    for (let time = 0; time < 3; time++) expect(await isFree(path, { timeoutMs: 5000 })).toBe(true);
  });
});

describe("a holder that is dead", () => {
  it("is evicted at once", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await using holder = startChild("lock", { task: "hold", path });
    await holder.line();
    expect(await isFree(path)).toBe(false);
    holder.kill("SIGKILL");
    await holder.ended();
    expect(await isFree(path, { timeoutMs: 0 })).toBe(true);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("is evicted at once if it died right after taking the lock, leaving no files", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await using victim = startChild("lock", { task: "die-at", path, point: "lock.created" });
    await victim.ended();
    // Temporary files: one of the dead process, and one of a live process that is about to take the lock.
    await writeFile(`${path}.${victim.pid}.0123456789ab.tmp`, abandonedLock(victim.pid, "holdfast"));
    const living = `sessions.json.lock.${process.pid}.0123456789ab.tmp`;
    await writeFile(folder.join(living), JSON.stringify({ ...currentProcess(), nonce: "0123456789abcdef" }));
    expect(await isFree(path, { timeoutMs: 0 })).toBe(true);
    expect(await readdir(folder.path)).toEqual([living]);
  });

  it("is evicted by the next process if earlier claimants died", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await writeFile(path, abandonedLock(await endedPid(), "holdfast"));
    for (let time = 0; time < 6; time++) {
      await using victim = startChild("lock", { task: "die-at", path, point: "lock.takeover.claimed" });
      await victim.ended();
    }
    const left = await readdir(folder.path);
    expect(left.length).toBeGreaterThan(6);
    // Names that grew with every death would become too long for the file system.
    expect(Math.max(...left.map((name) => name.length))).toBeLessThan(100);
    expect(await isFree(path, { timeoutMs: 0 })).toBe(true);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("is replaced by exactly one of many waiters, every time", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    const deadPid = await endedPid();
    await writeFile(path, abandonedLock(deadPid, "holdfast"));
    const marker = folder.join("somebody-is-inside");
    const children = Array.from({ length: 8 }, () =>
      startChild("lock", { task: "contend", path, marker, times: 15, deadPid }),
    );
    const results = await Promise.allSettled(children.map((child) => child.ended()));
    expect(results.filter((result) => result.status === "rejected")).toEqual([]);
    expect(await isFree(path)).toBe(true);
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe("a lock file of another tool", () => {
  it("counts as abandoned only after 30 s if it names no process", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    for (const content of ["", "not JSON", "null", "{}", '{"pid":"7"}']) {
      await writeFile(path, content);
      await age(path, 25);
      expect(await isFree(path, { ...QUICK, timeoutMs: 0 })).toBe(false);
      await age(path, 31);
      expect(await isFree(path, { ...QUICK, timeoutMs: 0 })).toBe(true);
    }
  });

  it("is respected while its process is alive", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: Date.now() }));
    expect(await isFree(path)).toBe(false);
    await writeFile(path, abandonedLock(await endedPid(), "openclaw"));
    expect(await isFree(path, { timeoutMs: 0 })).toBe(true);
  });

  it("is abandoned if the process with its pid started after the lock was taken", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await writeFile(path, JSON.stringify({ pid: process.pid, startedAt: Date.now() }));
    await age(path, process.uptime() + 60);
    expect(await isFree(path, { timeoutMs: 0 })).toBe(true);
  });

  it("is judged by its age when its process is on another host", async () => {
    await using folder = await temporaryFolder();
    const path = lockIn(folder);
    await writeFile(path, JSON.stringify({ ...currentProcess(), host: "elsewhere", nonce: "0123456789abcdef" }));
    expect(await isFree(path)).toBe(false);
    await age(path, 31);
    expect(await isFree(path)).toBe(true);
  });
});
