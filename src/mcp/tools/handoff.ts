/** `openclaw_handoff`: where an earlier session of this line of work stood. */
import { z } from "zod";
import { HoldfastError } from "../../base/errors.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { peekSessionHistory } from "../../claude/history-peek.ts";
import { type Bridge, defineTool } from "../bridge-tool.ts";
import { UNTRUSTED, excerpt, fenced } from "../model-text.ts";
import { NO_CONTROL } from "./arguments.ts";
import { shortText, taskOf } from "./session-texts.ts";

/** About; the newest part of the record is at its end, so the limit behind it must never cut. */
const PEEK_CHARS = 4000;
const MAX_CHARS = 16_000;

export const handoff = defineTool({
  name: "openclaw_handoff",
  title: "Hand-off",
  description:
    "Where the previous session of this line of work stood: what was asked, what was answered, which files were " +
    "touched. Without an argument it takes the session that fits best (same fork, label or branch, then the newest); " +
    "`session_id` asks for a certain one of this repo.",
  flag: "sessionListEnabled",
  input: z.strictObject({
    session_id: z
      .string()
      .min(4)
      .max(100)
      .regex(NO_CONTROL, "no control characters")
      .optional()
      .describe("A session id of this repo, or the start of one"),
  }),
  output: z.object({
    found: z.boolean(),
    sessionId: z.string().optional(),
    agent: z.string().optional(),
    branch: z.string().optional(),
    task: z.string().optional(),
    lastModified: z.string().optional(),
    /** Between two marks. */
    history: z.string().optional(),
    note: z.string(),
  }),
  run: async ({ session_id: wanted }, bridge) => {
    const { sessions } = await bridge.claude.discover(bridge.repoPath);
    const session = wanted === undefined ? fittest(sessions, bridge) : named(wanted, sessions, bridge);
    if (session === undefined)
      return { found: false, note: "There is no earlier session on this repo: this is the first." };
    const history = await readHistory(session);
    return {
      found: history !== undefined,
      sessionId: session.sessionId,
      agent: session.agentId,
      branch: shortText(session.branch),
      task: taskOf(session),
      lastModified: session.lastModified.toISOString(),
      history: history === undefined ? undefined : fenced("session record", excerpt(history, MAX_CHARS)),
      note:
        history === undefined
          ? "Nothing is left of its transcript; `openclaw_session_search` may still find it."
          : UNTRUSTED,
    };
  },
});

/** Its own sessions and those of people; what another agent was told stays with that agent. */
function isInScope({ agentId }: DiscoveredSession, bridge: Bridge): boolean {
  return agentId === undefined || agentId === bridge.agentId;
}

function fittest(sessions: readonly DiscoveredSession[], bridge: Bridge): DiscoveredSession | undefined {
  const current = sessions.find(({ sessionId }) => sessionId === bridge.claudeSessionId);
  const rank = (session: DiscoveredSession): number => {
    if (session.sessionId === current?.forkedFrom) return 4;
    const isOwn = session.agentId === bridge.agentId;
    if (isOwn && current?.label !== undefined && session.label === current.label) return 3;
    const isSameBranch = current !== undefined && current.branch !== "" && session.branch === current.branch;
    return (isOwn ? 1 : 0) + (isSameBranch ? 0.5 : 0);
  };
  return sessions
    .filter((session) => session !== current && session.sessionId !== bridge.claudeSessionId)
    .filter((session) => isInScope(session, bridge) && session.transcriptPath !== undefined)
    .toSorted((a, b) => rank(b) - rank(a) || b.lastModified.getTime() - a.lastModified.getTime())[0];
}

function named(wanted: string, sessions: readonly DiscoveredSession[], bridge: Bridge): DiscoveredSession {
  const prefix = wanted.trim().toLowerCase();
  const starting = sessions.filter(({ sessionId }) => sessionId.toLowerCase().startsWith(prefix));
  const exact = starting.filter(({ sessionId }) => sessionId.toLowerCase() === prefix);
  const fitting = exact.length > 0 ? exact : starting;
  const [session, second] = fitting.filter((one) => isInScope(one, bridge));
  if (session === undefined) throw fitting.length > 0 ? foreign(wanted) : unknown(wanted);
  if (second !== undefined) throw ambiguous(wanted);
  return session;
}

async function readHistory({ transcriptPath }: DiscoveredSession): Promise<string | undefined> {
  return transcriptPath === undefined ? undefined : await peekSessionHistory(transcriptPath, { maxChars: PEEK_CHARS });
}

function unknown(wanted: string): HoldfastError {
  return new HoldfastError("not-found", "native-session-not-found", `No session of this repo fits "${wanted}"`, {
    hint: "`openclaw_session_list` shows the sessions of this repo.",
  });
}

function foreign(wanted: string): HoldfastError {
  return new HoldfastError("forbidden", "session-of-another-agent", `"${wanted}" belongs to another agent`, {
    hint: "Only sessions of this agent, and those that no agent started, can be handed over.",
  });
}

function ambiguous(wanted: string): HoldfastError {
  return new HoldfastError("usage", "ambiguous-prefix", `"${wanted}" fits several sessions`, {
    hint: "Give more of the id.",
  });
}
