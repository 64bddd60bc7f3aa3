/** Claude Code's sessions. Shapes as in `holdfast cc … --json`; see docs/claude-code.md. */
import { z } from "zod";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import type { ProjectStatus } from "../../claude/project-status.ts";
import type { ClaudeCodeResult, LiveSession } from "../../claude/runner/runner-contract.ts";
import type { SessionSelection } from "../../claude/selection/selection.ts";
import { type AsJson, type MethodContract, agentId, objectOf } from "./shapes.ts";

const repoPath = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^\//, "an absolute path is needed: the gateway runs in another folder than you")
  .describe("A folder of the repo, absolute.");
const agent = { agentId: agentId.exactOptional() };
const session = objectOf<AsJson<DiscoveredSession>>("A Claude Code session.");

export const ccMethods = {
  "cc.list": {
    summary: "Claude Code's sessions of a repo, or of all.",
    permission: "read",
    params: z.strictObject({
      ...agent,
      repoPath: repoPath.describe("Left out: every repo.").exactOptional(),
      limit: z.int().min(1).max(10_000).default(100),
    }),
    result: z.object({ count: z.number(), sessions: z.array(session) }),
  },
  "cc.info": {
    summary: "One session of Claude Code.",
    permission: "read",
    params: z.strictObject({ ...agent, sessionId: z.string().trim().min(4).max(64).describe("Or the start of it.") }),
    result: z.object({ session }),
  },
  "cc.status": {
    summary: "A project: git, GitHub, documents and Claude Code's sessions on it.",
    permission: "read",
    params: z.strictObject({ ...agent, repoPath }),
    result: z.object({ status: objectOf<AsJson<ProjectStatus>>("As `holdfast cc status --json` prints it.") }),
  },
  "cc.select": {
    summary: "Resume a session for a task or start afresh, with reasons.",
    permission: "read",
    params: z.strictObject({ ...agent, repoPath, task: z.string().trim().min(1).max(100_000) }),
    result: z.object({ selection: objectOf<AsJson<SessionSelection>>("The decision.") }),
  },
  "cc.live": {
    summary: "What runs now for any Holdfast process of this machine.",
    permission: "read",
    params: z.strictObject(agent),
    result: z.object({ live: z.array(objectOf<LiveSession>("A run.")) }),
  },
  "cc.run": {
    summary: "Gives Claude Code a task and waits for its end. It may change files of the repo.",
    permission: "admin",
    params: z.strictObject({
      ...agent,
      repoPath,
      task: z.string().trim().min(1).max(100_000),
      label: z.string().trim().min(1).max(64).describe("A line of work of its own in this repo.").exactOptional(),
      model: z.string().min(1).max(256).exactOptional(),
      maxBudgetUsd: z.number().positive().exactOptional(),
      timeoutSeconds: z.number().positive().max(604_800).exactOptional(),
      resume: z.string().min(1).max(64).describe("This session. Left out: the selection decides.").exactOptional(),
      fresh: z.boolean().exactOptional(),
    }),
    result: z.object({ result: objectOf<AsJson<ClaudeCodeResult>>("How it ended.") }),
  },
  "cc.kill": {
    summary: "Ends what runs for a session or a repo.",
    permission: "admin",
    params: z.strictObject({
      ...agent,
      target: z.string().trim().min(1).max(4096).describe("A session id, or a folder of the repo."),
      force: z.boolean().describe("Also a `claude` that a person has started.").default(false),
    }),
    result: z.object({
      killed: z.array(
        z.object({ sessionId: z.string().exactOptional(), pid: z.number(), by: z.enum(["holdfast", "signal"]) }),
      ),
    }),
  },
} as const satisfies Record<string, MethodContract>;
