import { describe, expect, it } from "vitest";
import type { RpcCaller } from "../../rpc/client.ts";
import { openConversation } from "../commands/chat.ts";
import type { LiveCaller } from "../gateway-client.ts";
import type { RpcEvent } from "../../rpc/protocol.ts";

const KEY = "agent:main:cli:dm:me";
const turn = { agentId: "main", sessionKey: KEY };

/** A gateway that admits every message as item 7 and sends the events on request. */
function scriptedCaller(options: { early?: RpcEvent[]; late?: RpcEvent[]; dies?: boolean }): LiveCaller {
  let tell: ((event: RpcEvent) => void) | undefined;
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(() => undefined);
  const call = async (method: string): Promise<unknown> => {
    for (const event of options.early ?? []) tell?.(event);
    setImmediate(() => {
      for (const event of options.late ?? []) tell?.(event);
      if (options.dies === true) reject(new Error("gone"));
    });
    return await Promise.resolve(method === "chat.abort" ? { ok: true, aborted: true } : { itemId: 7 });
  };
  return {
    call: call as RpcCaller["call"],
    watch: async (_, listener) => {
      tell = listener;
      await Promise.resolve();
    },
    lost,
    close: async () => await Promise.resolve(),
  };
}

const ended = (itemId: number, text: string): RpcEvent => ({
  type: "turn.ended",
  ...turn,
  itemId,
  outcome: "answered",
  text,
  durationMs: 1,
});

async function say(caller: LiveCaller) {
  const heard: RpcEvent[] = [];
  const conversation = await openConversation(caller, { agentId: "main", sessionKey: KEY });
  const end = await conversation.say("hello", (event) => heard.push(event));
  return { end, heard };
}

describe("a conversation", () => {
  it("waits for the turn that answers and forwards its events", async () => {
    const text: RpcEvent = { type: "turn.text", ...turn, itemId: 7, text: "hi" };
    const { end, heard } = await say(scriptedCaller({ late: [text, ended(7, "hi")] }));
    expect(end).toMatchObject({ outcome: "answered", text: "hi" });
    expect(heard).toEqual([text, ended(7, "hi")]);
  });

  it("handles an end that arrives before the response", async () => {
    const { end } = await say(scriptedCaller({ early: [ended(7, "fast")] }));
    expect(end.text).toBe("fast");
  });

  it("ignores other turns and accepts one that answers several messages", async () => {
    const { end, heard } = await say(scriptedCaller({ late: [ended(6, "not ours"), ended(9, "ours")] }));
    expect(end.text).toBe("ours");
    expect(heard).toHaveLength(1);
  });

  it("reports a dropped message", async () => {
    const dropped: RpcEvent = { type: "message.dropped", ...turn, itemIds: [7], reason: "the queue is full" };
    await expect(say(scriptedCaller({ late: [dropped] }))).rejects.toMatchObject({
      code: "message-dropped",
      message: expect.stringContaining("the queue is full") as string,
    });
  });

  it("ends when the gateway is gone", async () => {
    await expect(say(scriptedCaller({ dies: true }))).rejects.toThrow("gone");
  });
});
