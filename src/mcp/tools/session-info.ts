/** `openclaw_session_info`: the session that asks. */
import { z } from "zod";
import { HoldfastError } from "../../base/errors.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { type Bridge, defineTool } from "../bridge-tool.ts";
import { costOf, shortText } from "./session-texts.ts";

const count = z.number().optional();
const text = z.string().optional();

export const sessionInfo = defineTool({
  name: "openclaw_session_info",
  title: "This session",
  description:
    "This session: agent, repo, session id, branch, turns, tokens, compactions, cost and what is left of the budget. " +
    "Call it to see how much room there is before you begin something large.",
  input: z.strictObject({}),
  output: z.object({
    agent: z.string(),
    repo: z.string(),
    /** Missing when the client is not Claude Code. */
    sessionId: text,
    label: text,
    title: text,
    branch: text,
    model: text,
    startedAt: text,
    turns: count,
    messages: count,
    tokens: z
      .object({
        input: z.number(),
        output: z.number(),
        cacheRead: z.number(),
        cacheWrite: z.number(),
        /** What the last call sent. */
        context: z.number(),
      })
      .optional(),
    compactions: count,
    costUsd: count,
    budgetUsd: z.number(),
    budgetLeftUsd: count,
    note: text,
  }),
  run: async (_, bridge) => {
    const { agentId: agent, repoPath: repo, claudeSessionId: sessionId, claude } = bridge;
    const known = { agent, repo, sessionId, budgetUsd: claude.config.maxBudgetUsd };
    if (sessionId === undefined) return { ...known, note: "The client did not say which session this is." };
    const session = await findOwn(sessionId, bridge);
    if (session === undefined) return { ...known, note: "The session has written nothing yet; ask again later." };
    const cost = costOf(session);
    return {
      ...known,
      ...describe(session),
      costUsd: cost,
      budgetLeftUsd: cost === undefined ? undefined : Math.max(0, Number((known.budgetUsd - cost).toFixed(4))),
    };
  },
});

function describe(session: DiscoveredSession) {
  const { label, title, branch, models, createdAt, userTurns, messageCount, compactionCount } = session;
  return {
    label: label === undefined ? undefined : shortText(label),
    title: title === undefined ? undefined : shortText(title),
    branch: shortText(branch),
    model: models.at(-1),
    startedAt: createdAt?.toISOString(),
    turns: userTurns,
    messages: messageCount,
    tokens: {
      input: session.totalInputTokens,
      output: session.totalOutputTokens,
      cacheRead: session.cacheReadTokens,
      cacheWrite: session.cacheWriteTokens,
      context: session.contextTokens,
    },
    compactions: compactionCount,
  };
}

/** Undefined when nobody knows it yet: Claude Code writes its transcript a moment after it has started us. */
async function findOwn(sessionId: string, { claude }: Bridge): Promise<DiscoveredSession | undefined> {
  try {
    const session = await claude.find(sessionId);
    return session.sessionId.toLowerCase() === sessionId.toLowerCase() ? session : undefined;
  } catch (error) {
    if (error instanceof HoldfastError && (error.kind === "not-found" || error.kind === "usage")) return undefined;
    throw error;
  }
}
