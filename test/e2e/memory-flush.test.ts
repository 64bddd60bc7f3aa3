/** The agent saves its memory before a conversation ends or is compacted, without long delays. */
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startFakeModelStream, type StreamReply, says, uses } from "../support/fake-model-stream.ts";
import { ADA } from "../support/fake-telegram/updates.ts";
import { type ChatHome, createChatHome } from "../support/chat-home.ts";
import { memoryFile } from "../../src/engine/workspace/workspace-description.ts";

const KEY = `agent:main:telegram:dm:${ADA.id}`;
const MODEL = "anthropic/claude-sonnet-4-5";

/** Of every day: a test may begin before midnight and end after it. */
async function memoryOf(home: ChatHome): Promise<string> {
  const folder = join((await home.agent()).workspace, "memory");
  const names = (await readdir(folder)).toSorted();
  return (await Promise.all(names.map(async (name) => await readFile(join(folder, name), "utf8")))).join("");
}

describe("with the echo engine", () => {
  it("memory is saved before /new, and when the window is nearly full", async () => {
    await using home = await createChatHome();
    home.telegram.say("remember the heron");
    await home.hears(ADA.id, "remember the heron");
    home.telegram.say("/new");
    await home.hears(ADA.id, "A new conversation has begun");
    expect((await memoryOf(home)).trim().split("\n")).toHaveLength(1);
    home.telegram.say("tokens:190000");
    home.telegram.say("and now?");
    await home.hears(ADA.id, "and now?");
    expect((await memoryOf(home)).trim().split("\n")).toHaveLength(2);
    expect(home.texts(ADA.id)).toHaveLength(4);
  });
});

async function modelHome(url: string, flushTimeoutSeconds = 60): Promise<ChatHome> {
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
  return uses("write_file", { path: memoryFile(Date.now()), content, append: true });
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
    await using home = await modelHome(model.url);
    home.telegram.say("I like herons");
    await home.hears(ADA.id, "Noted.");
    home.telegram.say("What is a heron?");
    await home.hears(ADA.id, "A heron is a bird.");
    expect(await memoryOf(home)).toBe("They like herons.\n");
    // The waiting message is answered afterwards, and is not part of the flush.
    expect(JSON.stringify(model.requests[1]?.body)).not.toContain("What is a heron?");
    expect(JSON.stringify(model.requests[3]?.body)).toContain("What is a heron?");
    home.telegram.say("/new");
    await home.hears(ADA.id, "A new conversation has begun");
    expect(await memoryOf(home)).toContain("They know herons.");
    expect(home.texts(ADA.id)).toHaveLength(3);
  });

  it.each([
    ["fails", { status: 400, body: JSON.stringify({ type: "error", error: { type: "x", message: "not now" } }) }],
    ["hangs", { silent: true }],
  ] as const)("a flush that %s does not delay the person for long, and is reported", async (_, failure) => {
    await using model = await startFakeModelStream(nearlyFull, failure, says("A heron is a bird."), failure);
    await using home = await modelHome(model.url, 1);
    home.telegram.say("I like herons");
    home.telegram.say("What is a heron?");
    await home.hears(ADA.id, "A heron is a bird.");
    expect(home.logged).toContainEqual(expect.stringContaining("could not save its memory"));
    home.telegram.say("/new");
    await home.hears(ADA.id, "A new conversation has begun");
    expect(await home.transcript(KEY)).toEqual([]);
  });
});
