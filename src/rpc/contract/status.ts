/** How the gateway, its agents and channels are. */
import { z } from "zod";
import type { ChannelStatus } from "../../channels/channel.ts";
import { type MethodContract, agentId, instant, objectOf } from "./shapes.ts";

const recent = z.array(z.object({ key: z.string(), updatedAt: instant, age: z.number() }));
const sessions = z.object({ path: z.string(), count: z.number(), recent });

const channelRow = z.object({
  channel: z.string(),
  accountId: z.string(),
  agentId: z.string().exactOptional().describe("Missing for an account that could not be built."),
  status: objectOf<ChannelStatus>("`state` and one line of `text`; `loginCode` while one is to be scanned."),
});

const statusRow = z.object({
  agentId: z.string(),
  key: z.string(),
  kind: z.string(),
  sessionId: z.string(),
  updatedAt: instant,
  age: z.number(),
  thinkingLevel: z.string().exactOptional(),
  systemSent: z.boolean().exactOptional(),
  abortedLastRun: z.boolean().exactOptional(),
  inputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  totalTokens: z.number().exactOptional(),
  remainingTokens: z.number().exactOptional(),
  percentUsed: z.number().exactOptional(),
  model: z.string().exactOptional(),
  contextTokens: z.number().exactOptional(),
  flags: z.array(z.string()),
});

export const statusMethods = {
  health: {
    summary: "Whether everything works, with what does not.",
    permission: "read",
    params: z.strictObject({}),
    result: z.object({
      ok: z.boolean(),
      ts: instant,
      durationMs: z.number(),
      defaultAgentId: z.string(),
      channels: z.array(channelRow),
      agents: z.array(
        z.object({
          agentId: z.string(),
          isDefault: z.boolean(),
          sessions: sessions.exactOptional(),
          problem: z.string().exactOptional().describe("Why its store cannot be read."),
        }),
      ),
      problems: z.array(z.string()),
    }),
  },
  status: {
    summary: "What runs, what waits, and the sessions used last.",
    permission: "read",
    params: z.strictObject({
      agentId: agentId.describe("Only this agent. Left out: all.").exactOptional(),
      limit: z.int().min(1).max(100).describe("How many sessions.").default(10),
    }),
    result: z.object({
      version: z.string(),
      startedAt: instant,
      uptimeMs: z.number(),
      pid: z.number(),
      memory: z.object({ rssBytes: z.number(), heapUsedBytes: z.number() }),
      turns: z.object({
        running: z.array(
          z.object({ agentId: z.string(), sessionKey: z.string(), itemId: z.number(), startedAt: instant }),
        ),
        queued: z.number(),
        draining: z.boolean(),
        counts: z.object({
          admitted: z.number(),
          duplicates: z.number(),
          turns: z.number(),
          failed: z.number(),
          dropped: z.number(),
          delivered: z.number(),
          mayRepeat: z
            .number()
            .exactOptional()
            .describe("Deliveries of which nobody knew whether an earlier attempt had arrived."),
        }),
      }),
      channels: z.array(channelRow),
      sessions: z.object({
        paths: z.array(z.string()),
        count: z.number(),
        recent: z.array(statusRow),
        byAgent: z.array(z.object({ agentId: z.string(), path: z.string(), count: z.number() })),
      }),
    }),
  },
  "channels.status": {
    summary: "The channel accounts and how they are.",
    permission: "read",
    params: z.strictObject({}),
    result: z.object({ ts: instant, channels: z.array(channelRow) }),
  },
} as const satisfies Record<string, MethodContract>;
