/** Engines and channels that a program registers. */
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { silentLogger } from "../base/log.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../config/config.ts";
import type { Engine, EngineContext, OpenEngine } from "../engine/engine.ts";
import { type OpenHoldfastTurnsOptions, openHoldfastTurns } from "./agents.ts";

const config: HoldfastConfig = {
  ...DEFAULT_CONFIG,
  agents: { main: { engine: "shout" }, other: { engine: "echo" } },
};

function shoutEngine(): { open: OpenEngine; contexts: EngineContext[]; closed: string[] } {
  const contexts: EngineContext[] = [];
  const closed: string[] = [];
  const open = (context: EngineContext): Engine => {
    contexts.push(context);
    return {
      name: "shout",
      keepsConversation: false,
      async *run({ text }) {
        const content = [{ type: "text" as const, text: text.toUpperCase() }];
        const source = { provider: "test", model: "shout", stopReason: "stop" as const, timestamp: 1 };
        yield { type: "message", message: { role: "assistant", content, ...source } };
      },
      close: async () => void closed.push(context.agentId),
    };
  };
  return { open, contexts, closed };
}

async function ask(home: string, options: OpenHoldfastTurnsOptions, agentId: string): Promise<string | undefined> {
  const turns = await openHoldfastTurns({ home, config, logger: silentLogger, ...options });
  try {
    const { ended } = await turns.pipeline.admit({
      address: { channel: "web", accountId: "default", chatId: "42", messageId: "1" },
      ctx: { Provider: "web", From: "web:42", ChatType: "direct", Body: "hello" },
      receivedAt: Date.now(),
      agentId,
      deliver: false,
    });
    return (await ended).text;
  } finally {
    await turns.close();
  }
}

describe("a registered engine", () => {
  it("answers for the agents that have its name, and is closed with them", async () => {
    await using home = await temporaryFolder();
    const { open, contexts, closed } = shoutEngine();
    expect(await ask(home.path, { engines: { shout: open } }, "main")).toBe("HELLO");
    expect(contexts).toMatchObject([{ agentId: "main", workspace: home.join("agents/main/workspace") }]);
    expect(closed).toEqual(["main"]);
    expect(await ask(home.path, { engines: { shout: open } }, "other")).toContain("[echo]");
  });

  it("is never replaced by another one", async () => {
    await using home = await temporaryFolder();
    await expect(ask(home.path, {}, "main")).rejects.toMatchObject({ code: "engine-not-found", kind: "not-found" });
    const { open } = shoutEngine();
    await expect(ask(home.path, { engines: { shoot: open } }, "main")).rejects.toMatchObject({
      hint: expect.stringContaining('Did you mean "shoot"?') as string,
    });
  });

  it("cannot take the name of Holdfast's own", async () => {
    await using home = await temporaryFolder();
    const { open } = shoutEngine();
    await expect(ask(home.path, { engines: { echo: open } }, "other")).rejects.toMatchObject({
      code: "engine-name-taken",
    });
  });
});
