/** Claude Code's sessions, in the shapes of `holdfast cc … --json`; see docs/claude-code.md. */
import { z } from "zod";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import type { ProjectStatus } from "../../claude/project-status.ts";
import type { ClaudeCodeResult, LiveSession } from "../../claude/runner/runner-contract.ts";
import type { SessionSelection } from "../../claude/selection/selection.ts";
import { type AsJson, agentId, countUpTo, objectOf, textUpTo, admin, read } from "./shapes.ts";

const repoPath = z
  .string()
  .max(4096)
  .regex(/^\//, "an absolute path is needed: the gateway runs in another folder")
  .describe("Absolute path of a folder in the repo.");
const agent = { agentId: agentId.optional() };
const from = z
  .enum(["own", "all"])
  .describe("Which sessions may be resumed: `own` (started by Holdfast) or `all`. Default: as configured, else `all`.")
  .optional();
const session = objectOf<AsJson<DiscoveredSession>>("A Claude Code session.");

export const ccMethods = {
  "cc.list": read({
    summary: "Lists Claude Code's sessions in one repo or all.",
    params: z.strictObject({
      ...agent,
      repoPath: repoPath.describe("Default: every repo.").optional(),
      limit: countUpTo(10_000).default(100),
    }),
    result: z.object({ count: z.number(), sessions: z.array(session) }),
  }),
  "cc.info": read({
    summary: "Shows one session of Claude Code.",
    params: z.strictObject({
      ...agent,
      sessionId: z.string().trim().min(4).max(64).describe("A session id, or a prefix of one."),
    }),
    result: z.object({ session }),
  }),
  "cc.status": read({
    summary: "Shows a project: git, GitHub, documents and its Claude Code sessions.",
    params: z.strictObject({ ...agent, repoPath }),
    result: z.object({ status: objectOf<AsJson<ProjectStatus>>("As `holdfast cc status --json` prints it.") }),
  }),
  "cc.select": read({
    summary: "Decides whether a task resumes a session or starts a new one, with reasons.",
    params: z.strictObject({ ...agent, repoPath, task: textUpTo(100_000), from }),
    result: z.object({ selection: objectOf<AsJson<SessionSelection>>("The decision.") }),
  }),
  "cc.live": read({
    summary: "Lists the runs of all Holdfast processes on this machine.",
    params: z.strictObject(agent),
    result: z.object({ live: z.array(objectOf<LiveSession>("A run.")) }),
  }),
  "cc.run": admin({
    summary: "Gives Claude Code a task and waits for the result. It may change files in the repo.",
    params: z.strictObject({
      ...agent,
      repoPath,
      task: textUpTo(100_000),
      from,
      label: textUpTo(64).describe("Name of a separate work stream in this repo.").optional(),
      model: z.string().min(1).max(256).optional(),
      maxBudgetUsd: z.number().positive().optional(),
      timeoutSeconds: z.number().positive().max(604_800).optional(),
      resume: z.string().min(1).max(64).describe("A session to resume. Default: the selection decides.").optional(),
      fresh: z.boolean().optional(),
    }),
    result: z.object({ result: objectOf<AsJson<ClaudeCodeResult>>("How it ended.") }),
  }),
  "cc.kill": admin({
    summary: "Ends the runs of a session or a repo.",
    params: z.strictObject({
      ...agent,
      target: textUpTo(4096).describe("A session id, or a folder in the repo."),
      force: z.boolean().describe("Also ends a `claude` that a person started.").default(false),
    }),
    result: z.object({
      killed: z.array(
        z.object({ sessionId: z.string().optional(), pid: z.number(), by: z.enum(["holdfast", "signal"]) }),
      ),
    }),
  }),
};
