/** State of the gateway, its agents and channels, and search for people; see docs/search.md. */
import { z } from "zod";
import type { ChannelStatus } from "../../channels/channel.ts";
import { countUpTo, everyAgent, instant, objectOf, read } from "./shapes.ts";
import type { ClusterState } from "../../store/cluster.ts";
import type { MeaningStatus } from "../../memory/meaning.ts";
import type { FoundSession } from "../../memory/person-search.ts";

const recent = z.array(z.object({ key: z.string(), updatedAt: instant, age: z.number() }));
const sessions = z.object({ path: z.string(), count: z.number(), recent });

const channelRow = z.object({
  channel: z.string(),
  accountId: z.string(),
  agentId: z.string().optional().describe("Missing for an account that could not be opened."),
  status: objectOf<ChannelStatus>("`state` and one line of `text`; `loginCode` while a code must be scanned."),
});

const statusRow = z.object({
  agentId: z.string(),
  key: z.string(),
  kind: z.string(),
  sessionId: z.string(),
  updatedAt: instant,
  age: z.number(),
  thinkingLevel: z.string().optional(),
  systemSent: z.boolean().optional(),
  abortedLastRun: z.boolean().optional(),
  inputTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  totalTokens: z.number().optional(),
  remainingTokens: z.number().optional(),
  percentUsed: z.number().optional(),
  model: z.string().optional(),
  contextTokens: z.number().optional(),
  flags: z.array(z.string()),
});

export const statusMethods = {
  health: read({
    summary: "Checks everything and lists problems.",
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
          sessions: sessions.optional(),
          problem: z.string().optional().describe("Why its store cannot be read."),
        }),
      ),
      problems: z.array(z.string()),
    }),
  }),
  status: read({
    summary: "Shows running and queued work, and the most recent sessions.",
    params: z.strictObject({
      agentId: everyAgent,
      limit: countUpTo(100).describe("Number of sessions.").default(10),
    }),
    result: z.object({
      version: z.string(),
      startedAt: instant,
      uptimeMs: z.number(),
      pid: z.number(),
      memory: z.object({ rssBytes: z.number(), heapUsedBytes: z.number() }),
      problems: z.array(z.string()).describe("Current problems as in `health`, without channels."),
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
          mayRepeat: z.number().optional().describe("Deliveries that may have arrived twice."),
        }),
      }),
      channels: z.array(channelRow),
      cluster: objectOf<ClusterState>("Nodes, take-overs and problems of a shared database.").optional(),
      sessions: z.object({
        paths: z.array(z.string()),
        count: z.number(),
        recent: z.array(statusRow),
        byAgent: z.array(z.object({ agentId: z.string(), path: z.string(), count: z.number() })),
      }),
    }),
  }),
  "channels.status": read({
    summary: "Shows the state of the channel accounts.",
    params: z.strictObject({}),
    result: z.object({ ts: instant, channels: z.array(channelRow) }),
  }),
};

export const searchMethods = {
  "search.query": read({
    summary: "Finds chats, Claude Code sessions and memory files by their words.",
    params: z.strictObject({
      text: z.string().trim().min(1).max(2000).describe('Words; `"a phrase"`, `-without`, `begin*`.'),
      in: z.enum(["chats", "claude", "memory"]).describe("Default: everywhere.").optional(),
      repo: z.string().min(1).max(4096).describe("Only what was said in this folder or below.").optional(),
      agentId: z.string().trim().min(1).max(64).describe("Only sessions and memory of this agent.").optional(),
      since: instant.optional(),
      role: z.enum(["user", "agent"]).optional(),
      file: z.string().min(1).max(4096).describe("Only sessions that changed this file.").optional(),
      limit: z.int().min(1).max(100).default(10),
      offset: z.int().min(0).max(400).default(0),
    }),
    result: z.object({
      schema: z.literal(1),
      results: z.array(objectOf<FoundSession>("A session or memory file with its best passages.")),
      total: z.number(),
      matched: z
        .enum(["all", "some", "meaning", "none"])
        .describe("`some`: nothing has all of the words. `meaning`: hardly any of them, but about the same."),
      complete: z.boolean().describe("False: some files are not searchable yet."),
      pendingFiles: z.number(),
      note: z.string().optional(),
    }),
  }),
  "search.status": read({
    summary: "Shows what the search index holds, and what it has not read yet.",
    params: z.strictObject({}),
    result: z.object({
      files: z.number(),
      passages: z.number(),
      bytes: z.number().describe("Size of the index."),
      complete: z.boolean(),
      pendingFiles: z.number(),
      pendingBytes: z.number(),
      embeddings: objectOf<MeaningStatus>(
        "Sessions that the embedding model has encoded, and what it cost.",
      ).optional(),
    }),
  }),
};
