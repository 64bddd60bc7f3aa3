/** The agent saves its memory before a conversation ends or is compacted, without long delays. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startFakeModelStream, type StreamReply, says, uses } from "../support/fake-model-stream.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { memoryFileOf } from "../../src/turn/run/flush-memory.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;
const MODEL = "anthropic/claude-sonnet-4-5";

async function memoryOf(house: ChatHome): Promise<string> {
  const { workspace } = await house.agent();
  return await readFile(join(workspace, memoryFileOf(Date.now())), "utf8");
}

describe("with the echo engine", () => {
  it("memory is saved before /new, and when the window is nearly full", async () => {
    await using house = await createChatHome();
    house.telegram.say("remember the heron");
    await house.hears(ADA.id, "remember the heron");
    house.telegram.say("/new");
    await house.hears(ADA.id, "A new conversation has begun");
    expect((await memoryOf(house)).trim().split("\n")).toHaveLength(1);
    house.telegram.say("tokens:190000");
    house.telegram.say("and now?");
    await house.hears(ADA.id, "and now?");
    expect((await memoryOf(house)).trim().split("\n")).toHaveLength(2);
    expect(house.texts(ADA.id)).toHaveLength(4);
  });
});

async function modelHouse(url: string, flushTimeoutSeconds = 60): Promise<ChatHome> {
  return await createChatHome({
    config: (config) => ({
      ...config,
      agents: { main: { model: MODEL } },
      models: { [MODEL]: { contextWindow: 10_000 } },
      providers: { anthropic: { baseUrl: `${url}/v1` } },
      memory: { ...config.memory, flushTimeoutSeconds },
    }),
    env: { ANTHROPIC_API_KEY: "test-key-without-value" },
  });
}

const nearlyFull = says("Noted.", { usage: { input: 7000, output: 20, cacheRead: 0 } });

function remembers(content: string): StreamReply {
  return uses("write_file", { path: memoryFileOf(Date.now()), content, append: true });
}

describe("with the model engine", () => {
  it("memory is saved when the window is nearly full, and before /new", async () => {
    await using model = await startFakeModelStream(
      nearlyFull,
      remembers("They like herons.\n"),
      says("NO_REPLY"),
      says("A heron is a bird."),
      remembers("They know herons.\n"),
      says("NO_REPLY"),
    );
    await using house = await modelHouse(model.url);
    house.telegram.say("I like herons");
    await house.hears(ADA.id, "Noted.");
    house.telegram.say("What is a heron?");
    await house.hears(ADA.id, "A heron is a bird.");
    expect(await memoryOf(house)).toBe("They like herons.\n");
    // The waiting message is answered afterwards, and is not part of the flush.
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain("What is a heron?");
    expect(JSON.stringify(model.requests[3]?.body)).toContain("What is a heron?");
    house.telegram.say("/new");
    await house.hears(ADA.id, "A new conversation has begun");
    expect(await memoryOf(house)).toContain("They know herons.");
    expect(house.texts(ADA.id)).toHaveLength(3);
  });

  it.each([
    ["fails", { status: 400, body: JSON.stringify({ type: "error", error: { type: "x", message: "not now" } }) }],
    ["hangs", { silent: true }],
  ] as const)("a flush that %s does not delay the person for long, and is reported", async (_, failure) => {
    await using model = await startFakeModelStream(nearlyFull, failure, says("A heron is a bird."), failure);
    await using house = await modelHouse(model.url, 1);
    house.telegram.say("I like herons");
    house.telegram.say("What is a heron?");
    await house.hears(ADA.id, "A heron is a bird.");
    expect(house.logged).toContainEqual(expect.stringContaining("could not save its memory"));
    house.telegram.say("/new");
    await house.hears(ADA.id, "A new conversation has begun");
    expect(await house.transcript(KEY)).toEqual([]);
  });
});
