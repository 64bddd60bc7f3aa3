/** `openclaw_session_list`: every Claude Code session of the repo. */
import { z } from "zod";
import { type Bridge, defineTool } from "../bridge-tool.ts";
import { toListRow } from "./session-row.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 50;

const row = z.object({
  sessionId: z.string(),
  source: z.enum(["openclaw", "native-only"]),
  agent: z.string().optional(),
  /** Who started it: this-agent, other-agent, cli, vscode, desktop, sdk, github-action, other. */
  origin: z.string(),
  label: z.string().optional(),
  title: z.string().optional(),
  branch: z.string(),
  firstMessage: z.string(),
  lastModified: z.string(),
  messageCount: z.number(),
  cost: z.number().optional(),
  turns: z.number(),
  lastTask: z.string().optional(),
  isRunning: z.boolean(),
});

export const sessionList = defineTool({
  name: "openclaw_session_list",
  title: "List sessions",
  description:
    "All Claude Code sessions of this repo, running ones first, then the newest, whoever started them: this agent, " +
    "other agents, people on the command line or in an editor. Use it to know about earlier and parallel work.",
  flag: "sessionListEnabled",
  input: z.strictObject({
    include_native: z.boolean().default(true).describe("Also sessions that no agent started (default true)"),
    limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe(`How many (default ${DEFAULT_LIMIT})`),
  }),
  output: z.object({ sessions: z.array(row), total: z.number(), activeCount: z.number() }),
  run: async ({ include_native: includeNative, limit }, bridge) => {
    const { sessions, total, activeCount } = await listed(bridge, includeNative, limit);
    return { sessions: sessions.slice(0, limit).map(toListRow), total, activeCount };
  },
});

async function listed({ claude, repoPath }: Bridge, includeNative: boolean, limit: number) {
  if (includeNative) return await claude.discover(repoPath, { limit });
  const sessions = (await claude.discover(repoPath)).sessions.filter(({ source }) => source === "openclaw");
  return { sessions, total: sessions.length, activeCount: sessions.filter(({ isRunning }) => isRunning).length };
}
