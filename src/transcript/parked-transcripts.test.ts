import { appendFile, copyFile, readdir, readlink, rename, unlink, utimes } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { readContext } from "./context.ts";
import type { DraftEntry } from "./entries.ts";
import { createTranscript, openTranscriptLog } from "./log.ts";
import { messageText } from "./messages.ts";
import { type ParkedTranscripts, createParkedTranscripts } from "./parked-transcripts.ts";

const said = (text: string): DraftEntry => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }], timestamp: 1 },
});

async function fixture() {
  const folder = await temporaryFolder();
  const path = folder.join("a.jsonl");
  await (await createTranscript({ path, sessionId: "a", cwd: "/" })).close();
  const parked = createParkedTranscripts();
  return {
    path,
    parked,
    [Symbol.asyncDispose]: async () => {
      await parked.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function openParked(path: string, parked: ParkedTranscripts, epoch = 1) {
  return await openTranscriptLog({ path, fence: () => undefined, epoch, parked });
}

async function say(path: string, parked: ParkedTranscripts, text: string, epoch = 1): Promise<string[]> {
  await using log = await openParked(path, parked, epoch);
  await log.append([said(text)]);
  return (await log.context()).messages.map(messageText);
}

describe("parked transcripts", () => {
  it("continue where they stopped, with the conversation in memory", async () => {
    await using made = await fixture();
    const { path, parked } = made;
    await say(path, parked, "one");
    expect(await say(path, parked, "two", 2)).toEqual(["one", "two"]);
    expect(await say(path, parked, "three", 3)).toEqual(["one", "two", "three"]);
    const read = await readContext(path);
    expect(read.problems).toEqual([]);
    expect(read.messages.map(messageText)).toEqual(["one", "two", "three"]);
    expect(read.entries.map(({ leaseEpoch }) => leaseEpoch)).toEqual([1, 2, 3]);
    await using log = await openParked(path, parked, 4);
    expect((await log.context()).entries).toEqual(read.entries);
  });

  it("are reread when another process wrote, replaced or touched the file", async () => {
    await using made = await fixture();
    const { path, parked } = made;
    await say(path, parked, "one");
    await using foreign = await openTranscriptLog({ path, fence: () => undefined, epoch: 5 });
    await foreign.append([said("foreign")]);
    await foreign.sync();
    expect(await say(path, parked, "two", 6)).toEqual(["one", "foreign", "two"]);
    await copyFile(path, `${path}.copy`);
    await rename(`${path}.copy`, path);
    expect(parked.take(path)).toBeUndefined();
    expect(await say(path, parked, "three", 7)).toEqual(["one", "foreign", "two", "three"]);
    await utimes(path, 1, 1);
    expect(parked.take(path)).toBeUndefined();
    await unlink(path);
    await expect(openParked(path, parked)).rejects.toMatchObject({ kind: "not-found" });
  });

  it("are not parked after a failed write or without a lease", async () => {
    await using made = await fixture();
    const { path, parked } = made;
    let remaining = Number.POSITIVE_INFINITY;
    const fence = () => {
      if (remaining-- <= 0) throw new Error("lost");
    };
    const log = await openTranscriptLog({ path, fence, epoch: 1, parked });
    await log.append([said("one")]);
    // Before the write, and not after it.
    remaining = 1;
    await expect(log.append([said("two")])).rejects.toThrow("lost");
    await log.close();
    expect(parked.take(path)).toBeUndefined();
    await (await openTranscriptLog({ path, parked })).close();
    expect(parked.take(path)).toBeUndefined();
  });

  it("are not parked if another process wrote after their last write", async () => {
    await using made = await fixture();
    const { path, parked } = made;
    await say(path, parked, "one");
    const state = parked.take(path);
    if (state === undefined) throw new Error("It was not parked");
    await appendFile(path, "\n");
    parked.park(path, state);
    expect(parked.take(path)).toBeUndefined();
  });

  it.runIf(process.platform === "linux")(
    "close the oldest file when there are too many, and all when none is wanted",
    async () => {
      await using folder = await temporaryFolder();
      const parked = createParkedTranscripts({ maxFiles: 2, idleMs: 50 });
      const paths = ["a", "b", "c"].map((name) => folder.join(`${name}.jsonl`));
      const handles = async (): Promise<number> => {
        const fds = await readdir("/proc/self/fd");
        const files = await Promise.all(fds.map(async (fd) => await readlink(`/proc/self/fd/${fd}`).catch(() => "")));
        return files.filter((file) => paths.includes(file)).length;
      };
      for (const path of paths) {
        await (await createTranscript({ path, sessionId: "a", cwd: "/" })).close();
        await say(path, parked, "one");
      }
      await expect.poll(handles).toBeLessThanOrEqual(2);
      await expect.poll(handles).toBe(0);
      await parked.close();
    },
  );
});
