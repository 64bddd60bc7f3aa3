/** Search for people, in the shape of `holdfast search --json`; see docs/search.md. */
import { z } from "zod";
import type { MeaningStatus } from "../../memory/meaning.ts";
import type { FoundSession } from "../../memory/person-search.ts";
import { type MethodContract, instant, objectOf } from "./shapes.ts";

export const searchMethods = {
  "search.query": {
    summary: "Finds chats, Claude Code sessions and memory files by what was said and done.",
    permission: "read",
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
  },
  "search.status": {
    summary: "Shows what the search index holds, and what it has not read yet.",
    permission: "read",
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
  },
} as const satisfies Record<string, MethodContract>;
