/** Hook input on a real pipe, even if the process is paused meanwhile. */
import { execFileSync } from "node:child_process";
import { constants, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { setImmediate as afterPolling } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { readInput } from "./hook-call.ts";

const WAIT_MS = 100;

describe("the input of a hook", () => {
  it("is read even if the process was paused longer than the timeout", async () => {
    await using pipe = await openPipe();
    pipe.write('{"session_id":"a"}');
    expect(await heldUp(() => readInput(pipe.stream(), WAIT_MS))).toEqual({ session_id: "a" });
  });

  it("is read completely if it arrives in parts", async () => {
    await using pipe = await openPipe();
    pipe.write('{"session_id":');
    const reading = heldUp(() => readInput(pipe.stream(), WAIT_MS));
    await afterPolling();
    await afterPolling();
    pipe.write('"a"}');
    expect(await reading).toEqual({ session_id: "a" });
  });

  it("times out if nothing arrives", async () => {
    await using pipe = await openPipe();
    expect(await readInput(pipe.stream(), WAIT_MS)).toBeUndefined();
  });
});

/** Blocks the event loop, so that its timers are due when it continues. */
async function heldUp<T>(work: () => Promise<T>): Promise<T> {
  await afterPolling();
  const done = work();
  const until = performance.now() + 1.5 * WAIT_MS;
  while (performance.now() < until);
  return await done;
}

async function openPipe() {
  const folder = await temporaryFolder();
  const path = folder.join("pipe");
  execFileSync("mkfifo", [path]);
  // Open at both ends, so that neither side blocks.
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  let socket: Socket | undefined;
  return {
    write: (text: string) => writeSync(fd, text),
    stream: () => (socket = new Socket({ fd, readable: true, writable: false })),
    async [Symbol.asyncDispose]() {
      socket?.destroy();
      await folder[Symbol.asyncDispose]();
    },
  };
}
