/** Takes a file lock. Reports `held` when it has it. */
import { once } from "node:events";
import { rename, unlink, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { withFileLock } from "../../src/base/lock-file.ts";
import { abandonedLock, childTask, dieAt, report } from "./child.ts";

const task = childTask("lock");

switch (task.task) {
  case "hold":
    await withFileLock(task.path, task.options ?? {}, async () => {
      report("held");
      process.stdin.resume();
      await once(process.stdin, "end");
    });
    break;
  case "hold-often":
    for (let time = 0; ; time++) {
      await withFileLock(task.path, {}, async () => await delay(task.holdMs));
      if (time === 0) report("held");
    }
  case "die-at":
    dieAt(task.point);
    await withFileLock(task.path, {}, async () => undefined);
    break;
  case "contend":
    for (let time = 0; time < task.times; time++)
      await withFileLock(task.path, { pollIntervalMs: 1 }, () => criticalSection(time));
    break;
}

/** Fails if another process is inside, and leaves the lock like a dead holder. */
async function criticalSection(time: number): Promise<void> {
  if (task.task !== "contend") return;
  await writeFile(task.marker, String(process.pid), { flag: "wx" });
  await delay(time % 3);
  await unlink(task.marker);
  const left = `${task.path}.left-${process.pid}`;
  await writeFile(left, abandonedLock(task.deadPid, time % 2 === 0 ? "holdfast" : "openclaw"));
  await rename(left, task.path);
}
