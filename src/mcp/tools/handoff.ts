/**
 * `openclaw_handoff`: where an earlier session of this line of work stood. It stays within the repo, and with the
 * agent's own sessions and those of people; what another agent was told stays with that agent.
 */
import { z } from "zod";
import { HoldfastError } from "../../base/errors.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { peekSessionHistory } from "../../claude/history-peek.ts";
import { type FoundHandoff, type HandoffPlace, handoffOfNative } from "../../handoff/find-handoff.ts";
import type { SessionState } from "../../handoff/state.ts";
import { type Bridge, defineTool } from "../bridge-tool.ts";
import { UNTRUSTED, excerpt, fenced } from "../model-text.ts";
import { NO_CONTROL } from "./arguments.ts";
import { handoffShape, listShape, toHandoff, toListed } from "./handoff-shape.ts";
import { shortText, taskOf } from "./session-texts.ts";

/** About; the newest part of the record is at its end, so the limit behind it must never cut. */
const PEEK_CHARS = 4000;
const MAX_CHARS = 16_000;
const MOST_LISTED = 30;

export const handoff = defineTool({
  name: "openclaw_handoff",
  title: "Hand-off",
  description:
    "Where the previous session of this line of work stood: what was in progress, what blocks, what was decided, the " +
    "next step, each with the entry it came from, and the end of its record (`show`, the default). It takes the " +
    "session that fits best (same fork, label or branch, then the newest); `session_id` asks for a certain one of " +
    "this repo. `status` tells when it was captured and whether it was told to anybody, `list` what the sessions of " +
    "this repo have left, `capture` keeps what this session leaves, now: call it before you stop in the middle.",
  flag: "sessionListEnabled",
  writes: "records",
  input: z.strictObject({
    action: z.enum(["show", "status", "list", "capture"]).default("show"),
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
    /** Missing when the session left nothing to go on with. */
    handoff: handoffShape.optional(),
    /** Of `list`, newest first. */
    handoffs: z.array(listShape).optional(),
    /** Between two marks. */
    history: z.string().optional(),
    note: z.string(),
  }),
  run: async ({ action, session_id: wanted }, bridge) => {
    const { sessions } = await bridge.claude.discover(bridge.repoPath);
    if (action === "list") return await list(sessions, bridge);
    if (action === "capture") return await capture(sessions, wanted, bridge);
    const session = wanted === undefined ? fittest(sessions, bridge) : named(wanted, sessions, bridge);
    if (session === undefined)
      return { found: false, note: "There is no earlier session on this repo: this is the first." };
    return action === "status" ? await tellStatus(session, bridge) : await show(session, bridge);
  },
});

async function show(session: DiscoveredSession, bridge: Bridge) {
  const history = await readHistory(session);
  const kept = await bridge.openHandoff("claude-code");
  const state = kept === undefined ? undefined : await stateOf(kept, session);
  const remarks = state === undefined ? undefined : await kept?.handoff.verify(state);
  return {
    ...aboutSession(session),
    found: history !== undefined || state !== undefined,
    ...(state === undefined ? {} : { handoff: toHandoff(state, bridge.clock.now(), remarks) }),
    history: history === undefined ? undefined : fenced("session record", excerpt(history, MAX_CHARS)),
    note:
      history === undefined && state === undefined
        ? "Nothing is left of its transcript; `openclaw_session_search` may still find it."
        : UNTRUSTED,
  };
}

async function tellStatus(session: DiscoveredSession, bridge: Bridge) {
  const kept = await bridge.openHandoff("claude-code");
  const state = kept === undefined ? undefined : await stateOf(kept, session);
  if (state === undefined) return { ...aboutSession(session), found: false, note: "It has left nothing." };
  return {
    ...aboutSession(session),
    found: true,
    handoff: { ...toHandoff(state, bridge.clock.now()), lines: [] },
    note: "`show` has its lines.",
  };
}

async function list(sessions: readonly DiscoveredSession[], bridge: Bridge) {
  const place = await bridge.openHandoff("claude-code");
  const inScope = new Set(sessions.filter((one) => isInScope(one, bridge)).map(({ sessionId }) => sessionId));
  const states = ((await place?.handoff.list()) ?? []).filter(({ previousSessionId }) =>
    inScope.has(previousSessionId),
  );
  const handoffs = states.slice(0, MOST_LISTED).map((state) => toListed(state, bridge.clock.now()));
  return { found: handoffs.length > 0, handoffs, note: handoffs.length > 0 ? UNTRUSTED : "Nothing is kept yet." };
}

/** What this session leaves; of one that runs for a chat, the chat's own hand-off, which is for its people alone. */
async function capture(sessions: readonly DiscoveredSession[], wanted: string | undefined, bridge: Bridge) {
  const id = wanted ?? bridge.claudeSessionId;
  if (wanted === undefined && bridge.sessionKey !== undefined) return await captureChat(bridge.sessionKey, bridge);
  const session = id === undefined ? undefined : named(id, sessions, bridge);
  const place = await bridge.openHandoff("claude-code");
  if (session === undefined) throw whichSession();
  if (place === undefined) throw turnedOff();
  const { target } = await handoffOfNative(place, session);
  const state = target === undefined ? undefined : await place.handoff.capture(target, "asked");
  return { ...aboutSession(session), ...captured(state, bridge) };
}

async function captureChat(sessionKey: string, bridge: Bridge) {
  const place = await bridge.openHandoff("agent");
  if (place === undefined) throw turnedOff();
  return captured(await place.handoff.capture({ kind: "session", sessionKey }, "asked"), bridge);
}

function captured(state: SessionState | undefined, bridge: Bridge) {
  if (state === undefined) return { found: false, note: "Nothing was said yet that could be handed over." };
  return { found: true, handoff: toHandoff(state, bridge.clock.now()), note: UNTRUSTED };
}

/** As it is kept; captured now if nobody has. Undefined for what is a person's chat with an agent. */
async function stateOf(place: HandoffPlace, session: DiscoveredSession): Promise<SessionState | undefined> {
  let found: FoundHandoff;
  try {
    found = await handoffOfNative(place, session);
  } catch (error) {
    if (error instanceof HoldfastError && (error.kind === "forbidden" || error.kind === "not-found")) return undefined;
    throw error;
  }
  const { key, target } = found;
  const state = target === undefined ? undefined : await place.handoff.capture(target, "found");
  return state ?? (await place.handoff.get(key));
}

function aboutSession(session: DiscoveredSession) {
  return {
    sessionId: session.sessionId,
    agent: session.agentId,
    branch: shortText(session.branch),
    task: taskOf(session),
    lastModified: session.lastModified.toISOString(),
  };
}

/** Its own sessions and those of people. */
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

function whichSession(): HoldfastError {
  return new HoldfastError("usage", "session-unknown", "The client did not say which session this is", {
    hint: "Give `session_id`; `openclaw_session_list` shows the sessions of this repo.",
  });
}

function turnedOff(): HoldfastError {
  return new HoldfastError("conflict", "handoff-off", "Nothing is handed over here", {
    hint: "The person has turned it off (handoff.enabled).",
  });
}
