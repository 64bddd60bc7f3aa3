/** The conversation: say something, read what was said, stop what runs. */
import type { HandlersOf } from "../handler.ts";
import { readHistory } from "./chat-history.ts";
import { toAddressedMessage } from "./owner-message.ts";
import { openTarget } from "./target-session.ts";

export const chatHandlers: HandlersOf<"chat.send" | "chat.history" | "chat.abort"> = {
  "chat.send": async (params, { parts }) => {
    const { agent, key } = await openTarget(parts, { ...params, key: params.sessionKey });
    const { idempotencyKey, deliver } = params;
    const { admitted, item, agentId, sessionKey } = await parts.pipeline.admit(
      toAddressedMessage(
        {
          agentId: agent.agentId,
          key,
          entry: await agent.store.get(key),
          text: params.message,
          idempotencyKey,
          now: parts.clock.now(),
          deliver,
        },
        parts,
      ),
    );
    const isOver = item.state === "done" || item.state === "dropped";
    const status = admitted ? "started" : isOver ? "ok" : "in_flight";
    return { runId: idempotencyKey, status, agentId, sessionKey, itemId: item.id };
  },

  "chat.history": readHistory,

  "chat.abort": async (params, { parts }) => {
    const { key } = await openTarget(parts, { ...params, key: params.sessionKey });
    return { ok: true, aborted: await parts.pipeline.abort(key, "stopped by the owner") };
  },
};
