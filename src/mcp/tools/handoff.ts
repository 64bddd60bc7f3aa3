/**
 * `openclaw_handoff`: the state that an earlier session of this repo left. Covers sessions of the agent
 * and of people, never of other agents.
 */
import { z } from "zod";
import { HoldfastError, undefinedOn } from "../../base/errors.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { peekSessionHistory } from "../../claude/history-peek.ts";
import { type HandoffPlace, handoffOfNative } from "../../handoff/find-handoff.ts";
import { handoffView } from "../../handoff/handoff-view.ts";
import { isLine } from "../../handoff/items.ts";
import type { Remarks } from "../../handoff/render.ts";
import type { SessionState } from "../../handoff/state.ts";
import { type Bridge, defineTool, NO_CONTROL } from "../bridge-tool.ts";
import { UNTRUSTED, excerpt, fenced, shortText, taskOf } from "../model-text.ts";

/** Approximate. Must stay below MAX_CHARS: the newest part is at the end and must not be cut. */
const PEEK_CHARS = 4000;
const MAX_CHARS = 16_000;
const MAX_LISTED = 30;

const line = z.object({
  kind: z.string(),
  text: z.string(),
  entry: z.string(),
  /** The earlier session of that entry, if it is another one. */
  session: z.string().optional(),
  at: z.string(),
  /** What the repo says about it now. */
  now: z.string().optional(),
  resolvedBy: z.string().optional(),
});

const handoffShape = z.object({
  project: z.string(),
  status: z.string(),
  ending: z.string(),
  lastMessageAt: z.string(),
  capturedAt: z.string(),
  expiresAt: z.string(),
  branch: z.string().optional(),
  lines: z.array(line),
});

const listShape = handoffShape.omit({ lines: true }).extend({
  sessionId: z.string(),
  inProgress: z.array(z.string()),
  nextStep: z.string().optional(),
});

export const handoff = defineTool({
  name: "openclaw_handoff",
  title: "Hand-off",
  description:
    "The state of the previous session of this work: what was in progress, blockers, decisions, the next step, each " +
    "with its transcript entry, and the end of the transcript (`show`, the default). Picks the best match (same fork, " +
    "label or branch, then the newest), or the session of this repo given as `session_id`. `status` says when the " +
    "hand-off was captured and whether it was offered, `list` shows the hand-offs of this repo, `capture` saves one for " +
    "this session: call it before you stop in the middle.",
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
      .describe("A session id of this repo, or its prefix"),
  }),
  output: z.object({
    found: z.boolean(),
    sessionId: z.string().optional(),
    agent: z.string().optional(),
    branch: z.string().optional(),
    task: z.string().optional(),
    lastModified: z.string().optional(),
    /** Absent if the session left nothing. */
    handoff: handoffShape.optional(),
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
  const { transcriptPath: path } = session;
  const history = path === undefined ? undefined : await peekSessionHistory(path, { maxChars: PEEK_CHARS });
  const kept = await bridge.openHandoff("claude-code");
  const state = kept === undefined ? undefined : await stateOf(kept, session);
  const remarks = state === undefined ? undefined : await kept?.handoff.verify(state);
  return {
    ...aboutSession(session),
    found: history !== undefined || state !== undefined,
    handoff: state === undefined ? undefined : toHandoff(state, bridge.clock.now(), remarks),
    history: history === undefined ? undefined : fenced("session record", excerpt(history, MAX_CHARS)),
    note:
      history === undefined && state === undefined
        ? "Its transcript is gone; `openclaw_session_search` may still find it."
        : UNTRUSTED,
  };
}

async function tellStatus(session: DiscoveredSession, bridge: Bridge) {
  const kept = await bridge.openHandoff("claude-code");
  const state = kept === undefined ? undefined : await stateOf(kept, session);
  if (state === undefined) return { ...aboutSession(session), found: false, note: "It left no hand-off." };
  return {
    ...aboutSession(session),
    found: true,
    handoff: { ...toHandoff(state, bridge.clock.now()), lines: [] },
    note: "Use `show` to see the lines.",
  };
}

async function list(sessions: readonly DiscoveredSession[], bridge: Bridge) {
  const place = await bridge.openHandoff("claude-code");
  const inScope = new Set(sessions.filter((one) => isInScope(one, bridge)).map(({ sessionId }) => sessionId));
  const states = ((await place?.handoff.list()) ?? []).filter(({ previousSessionId }) =>
    inScope.has(previousSessionId),
  );
  const handoffs = states.slice(0, MAX_LISTED).map((state) => toListed(state, bridge.clock.now()));
  return { found: handoffs.length > 0, handoffs, note: handoffs.length > 0 ? UNTRUSTED : "No hand-offs yet." };
}

/** Captures this session. If it runs for a chat, captures the chat's own hand-off, which only its people see. */
async function capture(sessions: readonly DiscoveredSession[], wanted: string | undefined, bridge: Bridge) {
  const id = wanted ?? bridge.claudeSessionId;
  if (wanted === undefined && bridge.sessionKey !== undefined) return await captureChat(bridge.sessionKey, bridge);
  const session = id === undefined ? undefined : named(id, sessions, bridge);
  const place = await bridge.openHandoff("claude-code");
  if (session === undefined) {
    throw new HoldfastError("usage", "session-unknown", "The client did not identify its session", {
      hint: "Pass `session_id`; use `openclaw_session_list` to see the sessions of this repo.",
    });
  }
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
  if (state === undefined) return { found: false, note: "Nothing to hand over yet." };
  return { found: true, handoff: toHandoff(state, bridge.clock.now()), note: UNTRUSTED };
}

/** The stored state, captured now if missing. Undefined for a person's chat with an agent. */
async function stateOf(place: HandoffPlace, session: DiscoveredSession): Promise<SessionState | undefined> {
  const found = await undefinedOn(handoffOfNative(place, session), "forbidden", "not-found");
  if (found === undefined) return undefined;
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
  if (session === undefined && fitting.length > 0) {
    throw new HoldfastError("forbidden", "session-of-another-agent", `"${wanted}" belongs to another agent`, {
      hint: "Only sessions of this agent, and those that no agent started, are available.",
    });
  }
  if (session === undefined) {
    throw new HoldfastError("not-found", "native-session-not-found", `No session of this repo matches "${wanted}"`, {
      hint: "Use `openclaw_session_list` to see the sessions of this repo.",
    });
  }
  if (second === undefined) return session;
  throw new HoldfastError("usage", "ambiguous-prefix", `"${wanted}" matches several sessions`, {
    hint: "Use a longer prefix.",
  });
}

function turnedOff(): HoldfastError {
  return new HoldfastError("conflict", "handoff-off", "Hand-offs are turned off", {
    hint: "The person has set handoff.enabled to false.",
  });
}

function toHandoff(state: SessionState, now: number, remarks?: Remarks): z.input<typeof handoffShape> {
  const { project, status, ending, branch, items } = handoffView(state, now, remarks);
  return {
    project,
    status,
    ending,
    lastMessageAt: state.lastMessageAt,
    capturedAt: state.updatedAt,
    expiresAt: state.expiresAt,
    branch,
    lines: items.filter(isLine).map(({ kind, text, entryId, sessionId, at, remark, resolvedBy }) => ({
      kind,
      text,
      entry: entryId,
      session: sessionId,
      at: new Date(at).toISOString(),
      now: remark,
      resolvedBy,
    })),
  };
}

function toListed(state: SessionState, now: number): z.input<typeof listShape> {
  const { lines: _, ...head } = toHandoff(state, now);
  const { inProgress, nextStep } = state.summary;
  return {
    ...head,
    sessionId: state.previousSessionId,
    inProgress,
    nextStep: nextStep === "" ? undefined : nextStep,
  };
}
