import { readdirSync, readlinkSync, rmSync } from "node:fs";
import { appendFile, readFile, readdir, rename, stat, writeFile } from "node:fs/promises";
import { afterEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { assistantDraft, messageLine, readAll, textOf, userDraft } from "../../test/support/transcripts.ts";
import { HoldfastError } from "../base/errors.ts";
import { installFaultAction } from "../base/faults.ts";
import type { DraftEntry } from "./entries.ts";
import { createTranscript, onSessionTranscriptUpdate, openTranscriptLog, emitSessionTranscriptUpdate } from "./log.ts";
import type { TranscriptProblem } from "./scan.ts";

afterEach(() => installFaultAction(undefined));

/** The fence of a writer that holds the lease. */
function leaseHeld(): void {}

function fenced(): HoldfastError {
  return new HoldfastError("fenced", "lease-lost", "the lease was taken over");
}

describe("createTranscript", () => {
  test("writes a durable private header and refuses an existing path", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("deep", "sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/ws", clock: createTestClock() });
    expect(log.leafId).toBeUndefined();
    expect(await readFile(path, "utf8")).toBe(
      '{"type":"session","version":3,"id":"sid","timestamp":"2026-11-15T12:00:00.000Z","cwd":"/ws"}\n',
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(folder.join("deep"))).mode & 0o777).toBe(0o700);
    await expect(createTranscript({ path, sessionId: "sid", cwd: "/ws" })).rejects.toMatchObject({ kind: "conflict" });
  });

  test("leaves no file when it fails midway", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    installFaultAction((point) => {
      if (point === "transcript.created") throw Object.assign(new Error("EIO: i/o error"), { code: "EIO" });
    });
    await expect(createTranscript({ path, sessionId: "sid", cwd: "/" })).rejects.toMatchObject({ kind: "unavailable" });
    expect(await readdir(folder.path)).toEqual([]);
  });
});

describe.runIf(process.platform === "linux")("openTranscriptLog", () => {
  test("closes the file when it cannot be read to its end", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await (await createTranscript({ path, sessionId: "sid", cwd: "/", entries: [userDraft("one")] })).close();
    await appendFile(path, '{"torn');
    const opened = openTranscriptLog({
      path,
      fence: leaseHeld,
      expected: { written: true },
      isRead: true,
      // Reported after it was opened and before it is read.
      onProblem: () => rmSync(path, { force: true }),
    });
    await expect(opened).rejects.toMatchObject({ kind: "not-found" });
    const links = readdirSync("/proc/self/fd").map((fd) => linkOf(`/proc/self/fd/${fd}`));
    expect(links.filter((link) => link.startsWith(path))).toEqual([]);
  });
});

/** Empty if it is gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

describe("append", () => {
  test("chains entries and continues at the end of the file after reopening", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const clock = createTestClock();
    const log = await createTranscript({ path, sessionId: "sid", cwd: "/ws", clock });
    const first = await log.append([userDraft("one"), assistantDraft("two")]);
    clock.advance(5);
    const second = await log.append([{ type: "session_info", name: "n" }]);
    await log.close();
    await using again = await openTranscriptLog({ path, clock });
    const third = await again.append([userDraft("four")]);

    const { entries, report } = await readAll(path);
    expect(report.problems).toEqual([]);
    expect(entries).toEqual([...first, ...second, ...third]);
    expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.slice(0, -1).map(({ id }) => id)]);
    expect(entries.every(({ id }) => /^[0-9a-f]{8}$/.test(id))).toBe(true);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(4);
    expect(again.leafId).toBe(entries.at(-1)?.id);
  });

  test("keeps the order of simultaneous calls", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/ws" });
    await Promise.all(Array.from({ length: 40 }, (_, index) => log.append([userDraft(String(index))])));
    const { entries, report } = await readAll(path);
    expect(entries.map(textOf)).toEqual(Array.from({ length: 40 }, (_, index) => String(index)));
    expect(report.problems).toEqual([]);
  });

  test("notifies listeners after the entry is in the file", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/ws" });
    const heard: string[] = [];
    const stop = onSessionTranscriptUpdate(({ sessionFile }) => heard.push(sessionFile));
    await log.append([]);
    expect(heard).toEqual([]);
    await log.append([userDraft("x")]);
    stop();
    expect(heard).toEqual([path]);
  });

  test("syncs as configured", async () => {
    await using folder = await temporaryFolder();
    const synced: string[] = [];
    for (const durability of ["entry", "turn", "none"] as const) {
      await using log = await createTranscript({
        path: folder.join(`${durability}.jsonl`),
        sessionId: "sid",
        cwd: "/",
        durability,
      });
      installFaultAction((point) => {
        if (point === "transcript.append.synced") synced.push(durability);
      });
      await log.append([userDraft("x")]);
      synced.push("appended");
      await log.sync();
      await log.sync();
    }
    expect(synced).toEqual(["entry", "appended", "appended", "turn", "appended"]);
  });

  test("refuses values that are not JSON, and a closed log", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
    const impossible: DraftEntry = { type: "custom", customType: "x", data: 1n };
    await expect(log.append([impossible])).rejects.toMatchObject({ kind: "usage", code: "entry-not-json" });
    await log.close();
    await log.close();
    await expect(log.append([userDraft("x")])).rejects.toMatchObject({ code: "transcript-closed" });
  });

  test.each(["transcript.append.written", "transcript.append.synced"] as const)(
    "a failure at %s is an error without a torn line; the next append works",
    async (failing) => {
      await using folder = await temporaryFolder();
      const path = folder.join("sid.jsonl");
      await using log = await createTranscript({ path, sessionId: "sid", cwd: "/", durability: "entry" });
      await log.append([userDraft("one")]);
      const before = await readFile(path);
      installFaultAction((point) => {
        if (point === failing) throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" });
      });
      await expect(log.append([userDraft("lost")])).rejects.toMatchObject({ kind: "unavailable", code: "disk-full" });
      installFaultAction(undefined);
      expect(await readFile(path)).toEqual(before);
      await log.append([userDraft("two")]);
      const { entries, report } = await readAll(path);
      expect(entries.map(textOf)).toEqual(["one", "two"]);
      expect(report.problems).toEqual([]);
    },
  );

  test("continues in the new file when the old one was replaced", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/", fence: leaseHeld });
    await log.append([userDraft("one")]);
    await writeFile(folder.join("new"), await readFile(path));
    await rename(folder.join("new"), path);
    await log.append([userDraft("two")]);
    expect((await readAll(path)).entries.map(textOf)).toEqual(["one", "two"]);
  });

  test("does not recreate a removed file", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
    await rename(path, folder.join("elsewhere"));
    await expect(log.append([userDraft("x")])).rejects.toMatchObject({ kind: "not-found" });
    expect(await readdir(folder.path)).toEqual(["elsewhere"]);
  });
});

describe("other writers", () => {
  test("without a fence the log continues after foreign entries", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
    const [one] = await log.append([userDraft("one")]);
    await appendFile(path, `${JSON.stringify(messageLine("abcdef01", one?.id ?? null, "foreign"))}\n`);
    const [two] = await log.append([userDraft("two")]);
    expect(two?.parentId).toBe("abcdef01");
  });

  test("without a fence a torn foreign line is set aside before the next append", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/", clock: createTestClock() });
    await log.append([userDraft("one")]);
    await appendFile(path, '{"type":"mess');
    await log.append([userDraft("two")]);
    const { entries, report } = await readAll(path);
    expect(entries.map(textOf)).toEqual(["one", "two"]);
    expect(report.problems).toEqual([]);
    expect(await readFile(folder.join("sid.jsonl.torn-2026-11-15T12-00-00.000Z"), "utf8")).toBe('{"type":"mess');
  });

  test("with a fence the log keeps its own leaf and reports the foreign line", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const problems: TranscriptProblem[] = [];
    await using log = await createTranscript({
      path,
      sessionId: "sid",
      cwd: "/",
      fence: leaseHeld,
      onProblem: (problem) => problems.push(problem),
    });
    const [one] = await log.append([userDraft("one")]);
    await appendFile(path, `${JSON.stringify(messageLine("abcdef01", one?.id ?? null, "stale"))}\n`);
    const [two] = await log.append([userDraft("two")]);
    expect(two?.parentId).toBe(one?.id);
    expect(problems.map(({ reason }) => reason)).toEqual(["the file was changed by a process without the lease"]);
  });

  test("a fence that fails before the write changes nothing; one that fails after it acknowledges nothing", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    let calls = 0;
    let failFrom = Number.POSITIVE_INFINITY;
    const fence = () => {
      if (++calls >= failFrom) throw fenced();
    };
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/", fence });
    const [one] = await log.append([userDraft("one")]);
    failFrom = calls + 2;
    await expect(log.append([userDraft("too late")])).rejects.toMatchObject({ kind: "fenced" });
    expect(log.leafId).toBe(one?.id);
    const size = (await stat(path)).size;
    await expect(log.append([userDraft("never")])).rejects.toMatchObject({ kind: "fenced" });
    expect((await stat(path)).size).toBe(size);
  });

  test("the last line of a stale holder does not become the leaf", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const options = { path, fence: leaseHeld };
    await using stale = await createTranscript({ ...options, sessionId: "sid", cwd: "/", epoch: 1 });
    const [one] = await stale.append([userDraft("one")]);
    await using holder = await openTranscriptLog({ ...options, epoch: 2 });
    const [two] = await holder.append([userDraft("two")]);
    const [late] = await stale.append([userDraft("late"), userDraft("later")]);
    expect([two?.parentId, late?.parentId]).toEqual([one?.id, one?.id]);

    const problems: TranscriptProblem[] = [];
    await using next = await openTranscriptLog({
      ...options,
      epoch: 3,
      onProblem: (problem) => problems.push(problem),
    });
    expect(next.leafId).toBe(two?.id);
    expect(problems).toMatchObject([{ reason: expect.stringContaining("lost the lease") }]);
  });
});

test("follows a holder whose store restarted its epochs", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await (
    await createTranscript({
      path,
      sessionId: "sid",
      cwd: "/",
      fence: leaseHeld,
      epoch: 57,
      entries: [userDraft("one")],
    })
  ).close();
  for (const epoch of [1, 2]) {
    const log = await openTranscriptLog({ path, fence: leaseHeld, epoch });
    await log.append([userDraft(`epoch ${epoch}`)]);
    await log.close();
  }
  const { entries } = await readAll(path);
  expect(entries.map(({ parentId }) => parentId)).toEqual([null, ...entries.slice(0, -1).map(({ id }) => id)]);
});

test("every listener gets updates, even if others throw, until it unsubscribes", () => {
  const heard: string[] = [];
  const stopThrowing = onSessionTranscriptUpdate(() => {
    throw new Error("broken listener");
  });
  const stop = onSessionTranscriptUpdate(({ sessionFile }) => heard.push(sessionFile));
  emitSessionTranscriptUpdate(" /a.jsonl ");
  emitSessionTranscriptUpdate("  ");
  stop();
  emitSessionTranscriptUpdate("/b.jsonl");
  stopThrowing();
  expect(heard).toEqual(["/a.jsonl"]);
});
