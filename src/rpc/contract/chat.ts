/** Conversations: messages to an agent, its answers, messages to a chat, events. */
import { z } from "zod";
import { EVENT_NAMES } from "../protocol.ts";
import {
  type HistoryMessage,
  accountId,
  agentId,
  chat,
  countUpTo,
  idempotencyKey,
  instant,
  message,
  objectOf,
  sessionId,
  sessionKey,
  channelName,
  textUpTo,
  thinkingLevel,
  usage,
  read,
  write,
} from "./shapes.ts";

const waitSeconds = z.number().positive().max(86_400);
const media = z.array(textUpTo(4096)).max(10);
const sessionKeys = z.array(sessionKey).max(1000);

export const chatMethods = {
  "chat.send": write({
    summary: "Admits a message, which is then durable. The reply comes as events and is in the history.",
    params: z.strictObject({
      ...chat,
      message,
      idempotencyKey,
      thinking: thinkingLevel.describe("Stays set for the session.").optional(),
      deliver: z.boolean().describe("Also send the answer to the session's chat, such as on Telegram.").default(false),
    }),
    result: z.object({
      runId: z.string().describe("The idempotency key."),
      status: z
        .enum(["started", "in_flight", "ok"])
        .describe("`in_flight` and `ok`: already admitted by an earlier request."),
      agentId: z.string(),
      sessionKey: z.string().describe("As in events."),
      itemId: z.number().describe("As in events: the turn that answers has this id or a higher one."),
    }),
  }),
  "chat.history": read({
    summary: "Messages of a window, oldest first, page by page from the end.",
    params: z.strictObject({
      ...chat,
      sessionId: sessionId.describe("A window. Default: the current one.").optional(),
      limit: countUpTo(1000).default(200),
      before: z.string().min(1).max(256).describe("The `before` of the previous page.").optional(),
    }),
    result: z.object({
      sessionKey: z.string(),
      sessionId: z.string().optional().describe("Missing for a session without messages."),
      isCurrent: z.boolean(),
      messages: z.array(
        objectOf<HistoryMessage>(
          "A message of the transcript, with `entryId`. `said`: the part that the person wrote; `steered`: sent into a " +
            "running turn; `isFlush`: the agent saved its memory; `isCut`: shortened, because it is huge.",
        ),
      ),
      before: z.string().optional().describe("Set if there is more: pass it to get the next page."),
      problems: z.array(z.string()).optional().describe("Damage in the transcript: some messages are missing here."),
      thinkingLevel: z.string().optional(),
      running: z.object({ itemId: z.number(), startedAt: instant }).optional().describe("The running turn."),
    }),
  }),
  "chat.abort": write({
    summary: "Stops the running turn of a session, like `/stop`.",
    params: z.strictObject({
      ...chat,
      runId: textUpTo(200).describe("Only if the turn answers the message with this idempotency key.").optional(),
    }),
    result: z.object({
      ok: z.literal(true),
      aborted: z.boolean().describe("False: no turn was running in this gateway."),
    }),
  }),
  agent: write({
    summary: "Runs one turn and waits for it.",
    params: z.strictObject({
      message,
      agentId: agentId.optional(),
      sessionKey: sessionKey.describe("Default: the main session, unless `sessionId` or `to` is given.").optional(),
      sessionId: sessionId
        .describe(
          "The current window of a session, or a prefix of its id. A new UUID begins the session `explicit:<id>`.",
        )
        .optional(),
      to: textUpTo(512).describe("A person or group, in the channel's notation.").optional(),
      channel: channelName.describe("For `to`. Default: the only configured channel.").optional(),
      accountId,
      thinking: thinkingLevel.describe("Stays set for the session.").optional(),
      deliver: z.boolean().describe("Also send the answer to the session's chat.").default(false),
      timeoutSeconds: waitSeconds
        .describe("How long to wait; the turn continues. Default: the limit of a turn.")
        .optional(),
      idempotencyKey: idempotencyKey.optional(),
    }),
    result: z.object({
      runId: z.string(),
      status: z.enum(["ok", "error", "aborted", "timeout"]).describe("`timeout`: the turn continues."),
      summary: z.string(),
      agentId: z.string(),
      sessionKey: z.string(),
      result: z
        .object({
          payloads: z.array(
            z.object({
              text: z.string(),
              mediaUrl: z.string().nullable().describe("The first of `mediaUrls`."),
              mediaUrls: z.array(z.string()).exactOptional().describe("Files and URLs attached to the answer."),
            }),
          ),
          meta: z.object({
            durationMs: z.number(),
            aborted: z.boolean(),
            outcome: z.string(),
            withheld: z
              .enum(["send-policy"])
              .optional()
              .describe("Set if the answer is not in `payloads` because the session's send policy is `deny`."),
            agentMeta: z.object({
              sessionId: z.string().optional(),
              provider: z.string().optional(),
              model: z.string().optional(),
              usage: usage.optional(),
              costUsd: z.number().optional(),
            }),
          }),
        })
        .optional()
        .describe("Missing while the turn runs."),
      error: z
        .object({ code: z.string(), kind: z.string(), message: z.string(), hint: z.string().optional() })
        .optional(),
    }),
  }),
  "agents.list": read({
    summary: "Lists the agents that are configured or have a folder.",
    params: z.strictObject({}),
    result: z.object({
      defaultId: z.string(),
      mainKey: z.string(),
      scope: z.string(),
      agents: z.array(
        z.object({
          id: z.string(),
          name: z.string().optional(),
          engine: z.string().optional().describe("Missing until the agent is used."),
          model: z.string().optional(),
          workspace: z.string().optional(),
        }),
      ),
    }),
  }),
  "message.send": write({
    summary: "Puts a message into the outbox and the transcript of the chat's session.",
    params: z.strictObject({
      channel: channelName,
      to: textUpTo(512).describe("The chat, in the channel's notation; for `web` a session key."),
      message: z.string().max(1_000_000).describe("Optional if there is media.").optional(),
      media: media
        .describe("URLs or absolute paths: any file with `admin`, files in the agent's workspace with `write`.")
        .optional(),
      accountId,
      agentId: agentId.describe("Default: the agent of the channel account.").optional(),
      threadId: z.union([z.string().min(1).max(256), z.int()]).optional(),
      replyToId: z.string().min(1).max(256).optional(),
      idempotencyKey,
    }),
    result: z.object({
      ok: z.literal(true),
      runId: z.string(),
      channel: z.string(),
      to: z.string(),
      agentId: z.string(),
      sessionKey: z.string(),
      outboxIds: z.array(z.number()).describe("As in delivery events."),
      state: z.enum(["pending", "sending", "delivered", "failed"]),
      messageId: z.string().optional().describe("The platform's id, once delivered."),
      mirrored: z.boolean().describe("False: the session was busy; its next turn will see the message."),
    }),
  }),
  "events.subscribe": read({
    summary: "Sends events to this connection. A new call replaces the selection of the previous one.",
    params: z.strictObject({
      sessionKeys: sessionKeys.describe("Only events of these sessions. Default: all; an empty list: none.").optional(),
      events: z.array(z.enum(EVENT_NAMES)).max(100).describe("Only these. Default: all.").optional(),
    }),
    result: z.object({
      ok: z.literal(true),
      events: z.array(z.string()),
      sessionKeys: z.array(z.string()).optional(),
    }),
  }),
};
