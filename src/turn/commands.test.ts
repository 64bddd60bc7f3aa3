import { describe, expect, it } from "vitest";
import { type TestAgent, testAgent } from "../../test/support/test-agent.ts";
import { createEchoEngine } from "../engine/echo/echo.ts";
import { runChatCommand } from "./commands.ts";
import { runTurn } from "./run-turn.ts";

const KEY = "agent:main:cli:dm:ada";

async function say({ agent, config }: TestAgent, text: string) {
  const ctx = { SessionKey: KEY, Provider: "cli", Body: text };
  return await runTurn({ agent, config, engine: createEchoEngine(), ctx, commandAuthorized: true });
}

async function command({ agent }: TestAgent, text: string): Promise<string | undefined> {
  return await runChatCommand({ agent, sessionKey: KEY, engine: "echo", text });
}

describe("chat commands", () => {
  it("leave ordinary text and resets to others", async () => {
    await using fixture = await testAgent();
    for (const text of ["hello", "/new", "/Reset now", "/usr/bin/env", "/quit", "a /status"]) {
      expect(await command(fixture, text)).toBeUndefined();
    }
  });

  it("recognise a mistyped word", async () => {
    await using fixture = await testAgent();
    expect(await command(fixture, "/staus")).toBe("There is no /staus. Did you mean /status?");
    expect(await command(fixture, "/nwe")).toBe("There is no /nwe. Did you mean /new?");
  });

  it("tell where one is, list windows and go back", async () => {
    await using fixture = await testAgent();
    expect(await command(fixture, "/status")).toContain("nothing was said here yet");
    await say(fixture, "one");
    const { session } = await say(fixture, "/new two");
    expect(await command(fixture, "/status")).toContain(session.sessionId);
    expect((await command(fixture, "/windows"))?.split("\n")).toHaveLength(2);
    expect(await command(fixture, "/back 9")).toContain("Which window?");
    expect(await command(fixture, "/back 2")).toBe("That is the window you are in.");
    expect(await command(fixture, "/back 1")).toMatch(/^Back at window/);
    expect((await say(fixture, "three")).reply).toContain("message 2 of this window: three");
  });

  it("name a session and take the name away", async () => {
    await using fixture = await testAgent();
    await say(fixture, "one");
    await command(fixture, "/label garden");
    expect((await fixture.agent.store.get(KEY))?.label).toBe("garden");
    await command(fixture, "/label");
    expect(await fixture.agent.store.get(KEY)).not.toHaveProperty("label");
  });
});

describe("a turn", () => {
  it("has the message on disk before the engine runs, and the reply before it is returned", async () => {
    await using fixture = await testAgent();
    const { agent, config } = fixture;
    const { readFileSync } = await import("node:fs");
    let onDisk = "";
    const engine = {
      name: "echo" as const,
      async *run() {
        const entry = await agent.store.get(KEY);
        onDisk = readFileSync(entry?.sessionFile ?? "", "utf8");
        yield { type: "text" as const, text: "answer" };
      },
    };
    const ctx = { SessionKey: KEY, Body: "question" };
    const { session, reply } = await runTurn({ agent, config, engine, ctx });
    expect(onDisk).toContain('"text":"question"');
    expect(reply).toBe("answer");
    expect(readFileSync(session.transcriptPath, "utf8")).toContain('"text":"answer"');
  });

  it("runs alone: a second one of the same session waits for the first", async () => {
    await using fixture = await testAgent("sqlite", { realTime: true });
    const replies = await Promise.all([say(fixture, "a"), say(fixture, "b"), say(fixture, "c")]);
    const numbers = replies.map(({ reply }) => /message (\d)/.exec(reply ?? "")?.[1]);
    expect(new Set(numbers)).toEqual(new Set(["1", "2", "3"]));
  });

  it("takes the model from the words behind /new, and answers only the rest", async () => {
    await using fixture = await testAgent();
    fixture.config.models["minimax/MiniMax-M2.1"] = {};
    await say(fixture, "one");
    const { reply, model } = await say(fixture, "/new minimax summarize");
    expect(model).toMatchObject({ provider: "minimax", model: "MiniMax-M2.1" });
    expect(reply).toBe("[echo] message 1 of this window: summarize");
    delete fixture.config.models["minimax/MiniMax-M2.1"];
  });
});
