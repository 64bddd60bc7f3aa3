import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createLogger } from "../base/log.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { createBackground } from "./background.ts";
import type { EndedTurn } from "./handoff.ts";

const { handoff: CONFIG } = DEFAULT_CONFIG;

describe("background captures", () => {
  it("run after a number of messages, after a large result and after a long turn", async () => {
    const { background, calls } = observed();
    for (let index = 0; index < 9; index++) background.turnEnded(turn("a", { messages: 2 }));
    await background.settled();
    expect(calls).toEqual([]);
    background.turnEnded(turn("a", { messages: 2 }));
    background.turnEnded(turn("b", { largestToolResult: CONFIG.largeToolResult }));
    background.turnEnded(turn("c", { timedOut: true }));
    await background.settled();
    expect(calls).toEqual(["a messages", "b tool-result", "c timeout"]);
    background.turnEnded(turn("a", { messages: 19 }));
    await background.settled();
    expect(calls).toHaveLength(3);
  });

  it("count messages from the last capture of any process", async () => {
    const { background, calls } = observed();
    background.turnEnded(turn("a", { messages: 19 }));
    background.captured("a");
    background.turnEnded(turn("a", { messages: 19 }));
    await background.settled();
    expect(calls).toEqual([]);
  });

  it("run one at a time, merged per session, and never within the turn", async () => {
    let running = 0;
    let most = 0;
    const { background, calls } = observed(async () => {
      most = Math.max(most, ++running);
      await delay(5);
      running--;
    });
    for (const key of ["a", "b", "a", "c", "a"]) background.turnEnded(turn(key, { timedOut: true }));
    expect(calls).toEqual([]);
    await background.settled();
    expect(calls.sort()).toEqual(["a timeout", "b timeout", "c timeout"]);
    expect(most).toBe(1);
  });

  it("that fail do not block the next one", async () => {
    const { background, calls } = observed(async (key) => {
      if (key === "a") throw new Error("no");
      await Promise.resolve();
    });
    background.turnEnded(turn("a", { timedOut: true }));
    background.turnEnded(turn("b", { timedOut: true }));
    await background.settled();
    expect(calls).toEqual(["a timeout", "b timeout"]);
  });

  it("of open work run when a process ends, newest first, within a time limit", async () => {
    const { background, calls } = observed(async (key) => {
      if (key === "slow") await delay(60_000, undefined, { ref: false });
    });
    for (const key of ["slow", "a", "b"]) background.turnEnded(turn(key, { messages: 2 }));
    expect(await background.captureOpen("signal", 200)).toBe(2);
    expect(calls).toEqual(["b signal", "a signal", "slow signal"]);
    expect(await background.captureOpen("signal", 200)).toBe(0);
  });

  it("that outlast their time limit are awaited by a close, and fail silently once the store is closed", async () => {
    const closed = Promise.withResolvers<void>();
    const { background, calls, log } = observed(async (key) => {
      await closed.promise;
      throw new Error(`${key}: store-closed`);
    });
    for (const key of ["a", "b"]) background.turnEnded(turn(key, { messages: 2 }));
    expect(await background.captureOpen("signal", 20)).toBe(0);
    background.stop();
    let isSettled = false;
    const settled = background.settled().then(() => (isSettled = true));
    await delay(20);
    expect(isSettled).toBe(false);
    closed.resolve();
    await settled;
    expect(calls).toEqual(["b signal"]);
    expect(log).toEqual([]);
  });

  it("do not start after a stop", async () => {
    const { background, calls } = observed();
    background.stop();
    background.turnEnded(turn("a", { timedOut: true }));
    await background.settled();
    expect(calls).toEqual([]);
  });
});

function turn(sessionKey: string, more: Partial<EndedTurn>): EndedTurn {
  return { sessionKey, messages: 0, largestToolResult: 0, timedOut: false, ...more };
}

function observed(work: (key: string) => Promise<void> = async () => {}) {
  const calls: string[] = [];
  const capture = async (key: string, reason: string): Promise<void> => {
    calls.push(`${key} ${reason}`);
    await work(key);
  };
  const log: string[] = [];
  const logger = createLogger({ level: "debug", write: (line) => log.push(line) });
  const background = createBackground({ config: CONFIG, logger, capture, captureBehind: capture });
  return { background, calls, log };
}
