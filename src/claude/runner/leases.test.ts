import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { startChild } from "../../../test/support/child.ts";
import type { RunningSession } from "../native/layout.ts";
import { laneOf, leaseLane, leaseSession, type HeldLock, watchForWriters } from "./leases.ts";
import { laneLockFile, sessionLockFile } from "./run-files.ts";

const SESSION = "11111111-2222-4333-8444-555555555555";
const noWriters = async (): Promise<RunningSession[]> => [];

describe("a lane", () => {
  it("is the worktree of any subfolder or link", async () => {
    await using folder = await temporaryFolder();
    await mkdir(folder.join("repo", "src", "deep"), { recursive: true });
    await mkdir(folder.join("repo", ".git"));
    await mkdir(folder.join("worktree"));
    await writeFile(folder.join("worktree", ".git"), "gitdir: elsewhere\n");
    await symlink(folder.join("repo"), folder.join("link"));
    const lane = await laneOf(folder.join("repo"), undefined);
    expect(await laneOf(folder.join("repo", "src", "deep"), undefined)).toEqual(lane);
    expect(await laneOf(folder.join("link"), undefined)).toEqual(lane);
    expect(await laneOf(folder.join("worktree"), undefined)).not.toEqual(lane);
  });

  it("hashes its name, and a label never collides with a path", () => {
    const names = [
      laneLockFile("/locks", { worktree: "/a" }),
      laneLockFile("/locks", { worktree: "/a", label: "b" }),
      laneLockFile("/locks", { worktree: "/a::b" }),
      laneLockFile("/locks", { worktree: "/a", label: "../../etc/passwd\n" }),
    ];
    expect(new Set(names).size).toBe(4);
    for (const name of names) expect(name).toMatch(/^\/locks\/repo-[0-9a-f]{32}\.lock$/);
  });

  it("is given to waiting runs in order", async () => {
    await using folder = await temporaryFolder();
    const lane = { worktree: folder.path };
    const first = await leaseLane(folder.join("locks"), lane, { timeoutMs: 10_000 });
    const order: number[] = [];
    const next = [1, 2, 3].map(async (number) => {
      const lock = await leaseLane(folder.join("locks"), lane, { timeoutMs: 10_000 });
      order.push(number);
      expect(lock.waited).toBe(true);
      await lock.release();
    });
    await delay(20);
    expect(order).toEqual([]);
    await first.release();
    await Promise.all(next);
    expect(order).toEqual([1, 2, 3]);
    expect(await readdir(folder.join("locks"))).toEqual([]);
  });

  it("goes to the next run after a cancelled wait", async () => {
    await using folder = await temporaryFolder();
    const lane = { worktree: folder.path };
    const first = await leaseLane(folder.join("locks"), lane, { timeoutMs: 10_000 });
    const controller = new AbortController();
    const second = leaseLane(folder.join("locks"), lane, { timeoutMs: 10_000, signal: controller.signal });
    const third = leaseLane(folder.join("locks"), lane, { timeoutMs: 10_000 });
    controller.abort();
    await expect(second).rejects.toMatchObject({ kind: "interrupted", code: "run-cancelled" });
    await first.release();
    await (await third).release();
  });

  it("is waited for until the timeout, within and across processes", async () => {
    await using folder = await temporaryFolder();
    const lane = { worktree: folder.path };
    const first = await leaseLane(folder.join("locks"), lane, { timeoutMs: 10_000 });
    await expect(leaseLane(folder.join("locks"), lane, { timeoutMs: 30 })).rejects.toMatchObject({
      kind: "locked",
      code: "queue-timeout",
    });
    await first.release();
    await using child = startChild("lock", { task: "hold", path: laneLockFile(folder.join("locks"), lane) });
    await child.line();
    await expect(leaseLane(folder.join("locks"), lane, { timeoutMs: 500 })).rejects.toMatchObject({
      code: "queue-timeout",
      data: { pid: child.pid },
    });
  });

  it("waits for another process, names it, can be cancelled, and gets the lock at once when that process dies", async () => {
    await using folder = await temporaryFolder();
    const lane = { worktree: folder.path };
    const locks = folder.join("locks");
    await mkdir(locks);
    await using child = startChild("lock", { task: "hold", path: laneLockFile(locks, lane) });
    await child.line();
    const controller = new AbortController();
    const cancelled = leaseLane(locks, lane, { timeoutMs: 10_000, signal: controller.signal });
    await delay(50);
    controller.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "run-cancelled" });

    const busy: number[] = [];
    let taken: HeldLock | undefined;
    const waiting = leaseLane(locks, lane, { timeoutMs: 10_000, onBusy: ({ pid }) => busy.push(pid) });
    void waiting.then((lock) => (taken = lock));
    // Paused is not dead.
    child.kill("SIGSTOP");
    await delay(300);
    expect(taken).toBeUndefined();
    child.kill("SIGKILL");
    const lock = await waiting;
    expect(busy).toEqual([child.pid]);
    expect(lock.waited).toBe(true);
    await lock.release();
  });
});

describe("a session", () => {
  it("is refused when its id is not a UUID", async () => {
    await using folder = await temporaryFolder();
    await expect(leaseSession(folder.path, "../evil", noWriters, { timeoutMs: 0 })).rejects.toMatchObject({
      code: "session-id-invalid",
    });
    expect(sessionLockFile("/locks", SESSION.toUpperCase())).toBe(`/locks/session-${SESSION}.lock`);
  });

  it("is waited for while a process without a lock uses it, also after the lock is taken", async () => {
    await using folder = await temporaryFolder();
    let running: RunningSession[] = [{ pid: 4711, sessionId: SESSION, status: "busy" }];
    const seenUnderLock: boolean[] = [];
    const read = async (): Promise<RunningSession[]> => {
      seenUnderLock.push((await readdir(folder.path)).includes(`session-${SESSION}.lock`));
      return running;
    };
    const holders: unknown[] = [];
    const waiting = leaseSession(folder.path, SESSION, read, {
      timeoutMs: 10_000,
      onBusy: (holder) => {
        holders.push(holder);
        running = [];
      },
    });
    const lock = await waiting;
    expect(holders).toEqual([{ kind: "person", pid: 4711, sessionId: SESSION, status: "busy" }]);
    expect(lock.waited).toBe(true);
    expect(seenUnderLock.every(Boolean)).toBe(true);
    await lock.release();
  });

  it("releases its lock when the other process does not end in time", async () => {
    await using folder = await temporaryFolder();
    const read = async (): Promise<RunningSession[]> => [{ pid: 4711, sessionId: SESSION }];
    const waiting = leaseSession(folder.path, SESSION, read, { timeoutMs: 20 });
    await expect(waiting).rejects.toMatchObject({ code: "queue-timeout", data: { pid: 4711 } });
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("reports every other writer once while it is held", async () => {
    let running: RunningSession[] = [{ pid: 1, sessionId: SESSION }];
    const seen = Promise.withResolvers<number>();
    const end = watchForWriters(
      async () => running,
      () => ({ pid: 1, sessionId: SESSION }),
      (writer) => seen.resolve(writer.pid),
    );
    running = [...running, { pid: 2, sessionId: SESSION }];
    expect(await seen.promise).toBe(2);
    end();
  });
});
