import { describe, expect, it } from "vitest";
import type { DraftEntry } from "../../transcript/entries.ts";
import { openTranscriptLog } from "../../transcript/log.ts";
import { localTime } from "../../base/clock.ts";
import { type CommandHome, KEY, createCommandHome } from "../../../test/support/command-home.ts";
import { shortCount } from "./command.ts";

async function rows(home: CommandHome, options?: Parameters<CommandHome["type"]>[1]): Promise<Map<string, string>> {
  const lines = ((await home.type("/status", options)) ?? "").split("\n");
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ")).trim()]));
}

describe("/status", () => {
  it("shows a session without messages", async () => {
    await using home = await createCommandHome();
    expect(Object.fromEntries(await rows(home))).toEqual({
      session: KEY,
      window: "none: no message yet",
      engine: "echo",
      model: "the engine's own",
      thinking: "model default",
      verbose: "off",
      send: "on (as configured)",
      queue: "0 messages waiting; followup, cap 20, drop summarize",
      running: "nothing",
    });
    expect(await home.entry()).toBeUndefined();
  });

  it("shows the session", async () => {
    await using home = await createCommandHome({
      config: { agents: { main: { model: "anthropic/claude-haiku-5-5" } } },
    });
    await home.say("one");
    const { sessionId } = await home.say("/new two");
    await home.type("/label my \u001b[31mgarden");
    await home.type("/think high");
    await home.agent.store.update(KEY, (entry) => entry && { ...entry, totalTokens: 12_400, compactionCount: 2 });
    const runningSince = home.clock.now() - 5000;
    const status = await rows(home, { lane: { state: () => ({ queued: 2, runningSince }) } });
    expect(status.get("session")).toBe(`${KEY}  "my \\u001b[31mgarden"`);
    expect(status.get("window")).toBe(`number 2 (${sessionId}), since ${localTime(home.clock.now())}`);
    expect(status.get("context")).toBe("12k of 200k (6%), 2 compactions");
    expect(status.get("thinking")).toBe("high");
    expect(status.get("queue")).toMatch(/^2 messages waiting; /);
    expect(status.get("running")).toBe(`since ${localTime(runningSince)}`);
    expect(status.has("cost")).toBe(false);
    expect(status.has("activation")).toBe(false);
  });

  it("shows the cost of the window, and that the last answer was stopped", async () => {
    await using home = await createCommandHome();
    const { sessionFile = "" } = await home.say("one");
    await using log = await openTranscriptLog({ path: sessionFile });
    await log.append([priced(0.25), priced(0.5)]);
    await home.type("/stop", { lane: { stop: async () => ({ aborted: true, dropped: 0 }) } });
    const status = await rows(home);
    expect(status.get("cost")).toBe("$0.75 in this window");
    expect(status.get("running")).toBe("nothing; the last answer was stopped");
    expect(status.get("context")).toBe("0 of an assumed 33k (0%), 0 compactions");
  });

  it("is a list of lines in a messenger, with the activation of a group", async () => {
    await using home = await createCommandHome();
    const ctx = { Surface: "telegram", Provider: "telegram", From: "telegram:group:-100", ChatType: "group" };
    const answer = await home.type("/status", { ctx });
    expect(answer).toContain("\nengine: echo\nmodel: the engine's own\n");
    expect(answer).toContain("\nactivation: mention\n");
  });
});

function priced(total: number): DraftEntry {
  const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  const usage = { ...tokens, totalTokens: 2, cost: { ...tokens, total } };
  const content = [{ type: "text" as const, text: "costly" }];
  return { type: "message", message: { role: "assistant", content, usage, timestamp: 1 } };
}

it.each([
  [0, "0"],
  [999, "999"],
  [1000, "1k"],
  [1234, "1.2k"],
  [9949, "9.9k"],
  [9950, "10k"],
  [200_000, "200k"],
  [999_499, "999k"],
  [999_500, "1M"],
  [1_048_576, "1M"],
  [12_500_000, "13M"],
])("%d tokens are %s", (count, text) => {
  expect(shortCount(count)).toBe(text);
});
