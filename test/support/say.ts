/** A message that somebody sent, and the whole house answering it: one process, no channel, the configured engine. */
import { nodeCrypto } from "../../src/base/builtin.ts";
import type { HoldfastConfig } from "../../src/config/config.ts";
import type { MessageContext } from "../../src/keys/message-context.ts";
import { openTurns } from "../../src/compose/turns.ts";

export interface Saying {
  home: string;
  config: HoldfastConfig;
  agentId?: string | undefined;
}

/** The key of the session that the message belongs to. */
export async function say({ home, config, agentId }: Saying, ctx: MessageContext): Promise<string> {
  const turns = await openTurns({ home, config, channels: false });
  try {
    const address = {
      channel: ctx.Provider ?? "test",
      accountId: "default",
      chatId: ctx.From ?? "",
      messageId: nodeCrypto().randomUUID(),
    };
    const message = { address, ctx, receivedAt: Date.now(), deliver: false };
    const { sessionKey, ended } = await turns.pipeline.admit(agentId === undefined ? message : { ...message, agentId });
    const { outcome, error } = await ended;
    if (outcome !== "answered") throw new Error(`The turn ended as ${outcome}: ${JSON.stringify(error)}`);
    return sessionKey;
  } finally {
    await turns.close();
  }
}
