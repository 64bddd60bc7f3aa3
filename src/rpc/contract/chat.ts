/** The conversation as a page or a terminal sees it. */
import { z } from "zod";
import {
  type HistoryMessage,
  type MethodContract,
  agentId,
  idempotencyKey,
  instant,
  objectOf,
  sessionId,
  sessionKey,
} from "./shapes.ts";

export const chatMethods = {
  "chat.send": {
    summary: "Admits a message: durable when answered. The reply comes by events and is in the history.",
    permission: "write",
    params: z.strictObject({
      sessionKey,
      agentId: agentId.exactOptional(),
      message: z.string().min(1).max(1_000_000),
      idempotencyKey,
      deliver: z
        .boolean()
        .describe("Also send the answer to where the session lives, such as Telegram.")
        .default(false),
    }),
    result: z.object({
      runId: z.string().describe("The idempotency key."),
      status: z.enum(["started", "in_flight", "ok"]).describe("`in_flight`, `ok`: it was admitted before."),
      agentId: z.string(),
      sessionKey: z.string().describe("As events name it."),
      itemId: z.number().describe("As events name it: the turn that answers has this id or a higher one."),
    }),
  },
  "chat.history": {
    summary: "Messages of a window, oldest first, page by page from the end.",
    permission: "read",
    params: z.strictObject({
      sessionKey,
      agentId: agentId.exactOptional(),
      sessionId: sessionId.describe("A window. Left out: the current one.").exactOptional(),
      limit: z.int().min(1).max(1000).default(200),
      before: z.string().min(1).max(256).describe("`before` of the page that was read last.").exactOptional(),
    }),
    result: z.object({
      sessionKey: z.string(),
      sessionId: z.string().exactOptional().describe("Missing for a session in which nothing was said yet."),
      isCurrent: z.boolean(),
      messages: z.array(
        objectOf<HistoryMessage>(
          "A message of the transcript, with `entryId`; `said` is what the person wrote of it, `steered` that it came " +
            "into a running turn, `isFlush` that the agent saved its memory there, `isCut` that it was huge.",
        ),
      ),
      before: z.string().exactOptional().describe("There is more: ask for it with this."),
      thinkingLevel: z.string().exactOptional(),
      running: z
        .object({ itemId: z.number(), startedAt: instant })
        .exactOptional()
        .describe("The turn that runs right now."),
    }),
  },
  "chat.abort": {
    summary: "Stops the turn that runs for a session, as `/stop` does.",
    permission: "write",
    params: z.strictObject({ sessionKey, agentId: agentId.exactOptional() }),
    result: z.object({ ok: z.literal(true), aborted: z.boolean().describe("False: nothing ran in this gateway.") }),
  },
} as const satisfies Record<string, MethodContract>;
