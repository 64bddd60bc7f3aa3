/** Turns that are waited for, and the agents that answer them. */
import { z } from "zod";
import {
  type MethodContract,
  agentId,
  channelName,
  idempotencyKey,
  sessionId,
  sessionKey,
  thinkingLevel,
  usage,
} from "./shapes.ts";

export const agentMethods = {
  agent: {
    summary: "Runs one turn and waits for its end.",
    permission: "write",
    params: z.strictObject({
      message: z.string().min(1).max(1_000_000),
      agentId: agentId.exactOptional(),
      sessionKey: sessionKey.describe("Left out, and neither of the next two: the main session.").exactOptional(),
      sessionId: sessionId.describe("Of the current window of a session, or the start of it.").exactOptional(),
      to: z.string().trim().min(1).max(512).describe("A person or group, as the channel names it.").exactOptional(),
      channel: channelName.describe("For `to`. Left out: the only one that is configured.").exactOptional(),
      accountId: z.string().trim().min(1).max(64).exactOptional(),
      thinking: thinkingLevel.describe("Kept for the session from now on.").exactOptional(),
      deliver: z.boolean().describe("Also send the answer to where the session lives.").default(false),
      timeoutSeconds: z
        .number()
        .positive()
        .max(86_400)
        .describe("How long to wait; the turn itself goes on. Left out: as long as a turn may take.")
        .exactOptional(),
      idempotencyKey: idempotencyKey.exactOptional(),
    }),
    result: z.object({
      runId: z.string(),
      status: z.enum(["ok", "error", "aborted", "timeout"]).describe("`timeout`: the turn goes on."),
      summary: z.string(),
      agentId: z.string(),
      sessionKey: z.string(),
      result: z
        .object({
          payloads: z.array(z.object({ text: z.string(), mediaUrl: z.null() })),
          meta: z.object({
            durationMs: z.number(),
            aborted: z.boolean(),
            outcome: z.string(),
            agentMeta: z.object({
              sessionId: z.string().exactOptional(),
              provider: z.string().exactOptional(),
              model: z.string().exactOptional(),
              usage: usage.exactOptional(),
              costUsd: z.number().exactOptional(),
            }),
          }),
        })
        .exactOptional()
        .describe("Missing while the turn goes on."),
      error: z
        .object({ code: z.string(), kind: z.string(), message: z.string(), hint: z.string().exactOptional() })
        .exactOptional(),
    }),
  },
  "agents.list": {
    summary: "The agents that are configured or have a folder.",
    permission: "read",
    params: z.strictObject({}),
    result: z.object({
      defaultId: z.string(),
      mainKey: z.string(),
      scope: z.string(),
      agents: z.array(
        z.object({
          id: z.string(),
          name: z.string().exactOptional(),
          engine: z.string().exactOptional().describe("Missing while the agent was not used."),
          model: z.string().exactOptional(),
          workspace: z.string().exactOptional(),
        }),
      ),
    }),
  },
} as const satisfies Record<string, MethodContract>;
