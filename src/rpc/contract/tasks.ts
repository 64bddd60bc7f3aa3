/** Tasks that conversations gave to Claude Code; see docs/claude-code-from-chat.md. */
import { z } from "zod";
import { chat, countUpTo, idempotencyKey, instant, textUpTo, read, write } from "./shapes.ts";

const taskView = z
  .object({
    id: z.string().describe("For `/cc stop <id>` and `/cc send #<id> <text>`."),
    key: z.string().describe("Its own session."),
    state: z.enum(["accepted", "running", "ended"]),
    text: z.string(),
    repoPath: z.string(),
    label: z.string().optional(),
    line: z.string().describe("What it is doing, while this gateway runs it.").optional(),
    question: z
      .object({
        code: z.string().describe("For `/cc allow <code>`, `/cc always <code>` and `/cc deny <code>`."),
        tool: z.string(),
        detail: z.string(),
        askedAt: instant,
      })
      .describe("What Claude Code may not do without an answer.")
      .optional(),
    outcome: z.string().describe("How it ended.").optional(),
    costUsd: z.number().optional(),
    startedAt: instant.optional(),
    endedAt: instant.optional(),
  })
  .describe("A task.");

export const taskMethods = {
  "tasks.list": read({
    summary: "Lists the tasks of a session, newest first.",
    params: z.strictObject({ ...chat, limit: countUpTo(100).default(20) }),
    result: z.object({ tasks: z.array(taskView) }),
  }),
  "sessions.tool": write({
    summary: "Runs a tool over sessions in the name of a session, which sees what that session may see.",
    params: z.strictObject({
      ...chat,
      tool: textUpTo(64).describe("Such as `sessions_list`; see docs/session-tools.md."),
      input: z.record(z.string(), z.unknown()).default({}).describe("The tool's arguments."),
      idempotencyKey,
    }),
    result: z.object({ text: z.string(), isError: z.boolean() }),
  }),
  "tasks.start": write({
    summary: "Gives Claude Code a task in the name of a session, which gets its questions and its result.",
    params: z.strictObject({
      ...chat,
      task: textUpTo(100_000),
      repo: textUpTo(4096).describe("Name or path of an allowed repo. Default: the agent's workspace.").optional(),
      label: textUpTo(64).describe("Name of a separate work stream in the repo.").optional(),
      model: textUpTo(200).optional(),
      budgetUsd: z.number().positive().optional(),
      persistent: z.boolean().default(false).describe("Keeps Claude Code running for follow-ups."),
      worktree: z.boolean().default(false).describe("Works in a new worktree, alongside other tasks in the repo."),
      idempotencyKey,
    }),
    result: z.object({
      status: z.literal("accepted"),
      runId: z.string().describe("The task's id."),
      decision: z.string().describe("Why a session is resumed, or a fresh one started."),
      project: z.string().describe("The state of the repo, for a model."),
    }),
  }),
};
