/** Gives work to Claude Code in the background, for chats that Claude Code answers. The gateway runs it. */
import { z } from "zod";
import { HoldfastError } from "../../base/errors.ts";
import { defineTool } from "../bridge-tool.ts";
import { findConversation } from "../privacy.ts";

const MAX_TASK = 100_000;

export const sessionsSpawn = defineTool({
  name: "sessions_spawn",
  title: "Give a task to Claude Code",
  description:
    "Gives a task to another Claude Code, which works on it in a repo in the background. Returns at once; the person " +
    "sees progress, questions and the result in this conversation. Describe the task completely: it does not know " +
    "this conversation.",
  writes: true,
  input: z.strictObject({
    task: z.string().trim().min(1).max(MAX_TASK).describe("What to do"),
    repo: z.string().trim().min(1).max(4096).optional().describe("Name or path of an allowed repo (default workspace)"),
    label: z.string().trim().min(1).max(64).optional().describe("Name of a separate work stream in the repo"),
    model: z.string().trim().min(1).max(200).optional().describe("Model (default as configured)"),
    budgetUsd: z.number().positive().optional().describe("Limit of the cost in US dollars"),
    persistent: z.boolean().default(false).describe("Keep it running for follow-ups (default false)"),
  }),
  output: z.object({ status: z.literal("accepted"), runId: z.string(), decision: z.string(), project: z.string() }),
  run: async (request, bridge) => {
    const link = await findConversation(bridge);
    if (!link.linked) {
      throw new HoldfastError("not-found", "no-conversation", `No task was started. ${link.reason}`, {
        hint: "Do the work yourself, or ask the person to start it with /cc run.",
      });
    }
    return await bridge.startTask({
      ...request,
      sessionKey: link.key,
      agentId: bridge.agentId,
      idempotencyKey: bridge.ids.uuid(),
    });
  },
});
