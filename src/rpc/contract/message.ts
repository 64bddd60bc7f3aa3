/** Messages that nobody asked for: from a person or a program to a chat. */
import { z } from "zod";
import { type MethodContract, agentId, channelName, idempotencyKey } from "./shapes.ts";

export const messageMethods = {
  "message.send": {
    summary: "Puts a message into the outbox of the session that the chat belongs to, and into its transcript.",
    permission: "write",
    params: z.strictObject({
      channel: channelName,
      to: z.string().trim().min(1).max(512).describe("The chat, as the channel names it; for `web` a session key."),
      message: z.string().max(1_000_000).describe("May be left out where there is media.").exactOptional(),
      media: z
        .array(z.string().trim().min(1).max(4096))
        .max(10)
        .describe(
          "URLs, or absolute paths of files: with `admin` of any, with `write` of those in the agent's workspace.",
        )
        .exactOptional(),
      accountId: z.string().trim().min(1).max(64).exactOptional(),
      agentId: agentId.describe("Left out: the agent of the channel account.").exactOptional(),
      threadId: z.union([z.string().min(1).max(256), z.int()]).exactOptional(),
      replyToId: z.string().min(1).max(256).exactOptional(),
      idempotencyKey,
    }),
    result: z.object({
      ok: z.literal(true),
      runId: z.string(),
      channel: z.string(),
      to: z.string(),
      agentId: z.string(),
      sessionKey: z.string(),
      outboxIds: z.array(z.number()).describe("As delivery events name them."),
      state: z.enum(["pending", "sending", "delivered", "failed"]),
      messageId: z.string().exactOptional().describe("The platform's id, once delivered."),
      mirrored: z.boolean().describe("False: the session was busy; the agent is told with its next turn."),
    }),
  },
} as const satisfies Record<string, MethodContract>;
