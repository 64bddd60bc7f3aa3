/** Appending compared with the bare system calls, and reading the end of a large transcript compared with all of it. */
import { open, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { DEFAULT_CONFIG } from "../src/config/config.ts";
import { withSessionLease } from "../src/session/lease.ts";
import { createTranscript } from "../src/transcript/log.ts";
import { readTail, readTranscript } from "../src/transcript/reader.ts";
import { type Result, compare, median } from "./measure.ts";
import { openAgent } from "../src/compose/agent.ts";

const TEXT = "A message of the usual length, with a question and some context around it. ".repeat(8);

export async function measureTranscripts(folder: string): Promise<Result[]> {
  return [await measureAppend(folder), await measureTail(folder), await measureTailGrowth(folder)];
}

/** Under a lease, with the fence that every turn has. */
async function measureAppend(folder: string): Promise<Result> {
  const agent = await openAgent({ home: join(folder, "append"), config: DEFAULT_CONFIG });
  const path = join(folder, "append.jsonl");
  const [ours, theirs] = await withSessionLease(agent, "main", { ttlMs: 60_000 }, async (held) => {
    const log = await createTranscript({
      path,
      sessionId: "append",
      cwd: folder,
      durability: "entry",
      clock: systemClock,
      fence: () => held.fence(),
      epoch: held.lease.epoch,
    });
    const draft = { type: "message" as const, message: { role: "user" as const, content: TEXT, timestamp: 0 } };
    const before = (await stat(path)).size;
    await log.append([draft]);
    const line = Buffer.alloc((await stat(path)).size - before, "x");
    const bare = await open(join(folder, "bare.log"), "a");
    const times = await compare(
      1500,
      async () => void (await log.append([draft])),
      async () => {
        await bare.write(line);
        await bare.datasync();
      },
    );
    await bare.close();
    await log.close();
    return times;
  });
  await agent.store.close();
  return {
    work: "append one entry, durability `entry`",
    ours,
    peer: "write + fdatasync",
    theirs,
    bar: { ratio: "ours/theirs", atMost: 1.3 },
  };
}

async function measureTail(folder: string): Promise<Result> {
  const path = await largeTranscript(join(folder, "large.jsonl"), 100);
  await readTail(path, 50);
  const ours = await median(20, async () => void (await readTail(path, 50)));
  const theirs = await median(2, async () => {
    for await (const item of readTranscript(path)) void item;
  });
  return {
    work: "last 50 entries of 100 MB",
    ours,
    peer: "full read",
    theirs,
    bar: { ratio: "theirs/ours", atLeast: 50 },
  };
}

async function measureTailGrowth(folder: string): Promise<Result> {
  const small = await largeTranscript(join(folder, "small.jsonl"), 1);
  const large = join(folder, "large.jsonl");
  const [ours, theirs] = await compare(
    40,
    async () => void (await readTail(large, 50)),
    async () => void (await readTail(small, 50)),
  );
  return {
    work: "last 50 entries of 100 MB",
    ours,
    peer: "of 1 MB",
    theirs,
    bar: { ratio: "ours/theirs", atMost: 1.5 },
  };
}

async function largeTranscript(path: string, megabytes: number): Promise<string> {
  const lines = [
    JSON.stringify({ type: "session", version: 3, id: "large", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" }),
  ];
  let parentId: string | null = null;
  let bytes = 0;
  for (let index = 1; bytes < megabytes * 1024 * 1024; index++) {
    const id = index.toString(16).padStart(8, "0");
    const message = {
      role: index % 2 === 1 ? "user" : "assistant",
      content: [{ type: "text", text: TEXT }],
      timestamp: index,
    };
    const line = JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message });
    lines.push(line);
    bytes += line.length + 1;
    parentId = id;
  }
  await writeFile(path, `${lines.join("\n")}\n`);
  return path;
}
