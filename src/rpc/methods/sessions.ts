/** The session verbs. Each change is told as `session.changed`, whoever made it. */
import { HoldfastError } from "../../base/errors.ts";
import { buildAgentMainSessionKey } from "../../keys/session-key.ts";
import { locateWindowTranscript, transcriptPath } from "../../session/agent-handle.ts";
import { deleteSession } from "../../session/archive.ts";
import { compactSession } from "../../session/compaction.ts";
import { withSessionLease } from "../../session/lease.ts";
import { patchSession } from "../../session/patch.ts";
import { deriveSessionTitle } from "../../session/title.ts";
import { sessionNotFound } from "../../session/window.ts";
import type { Window } from "../../store/store.ts";
import type { ResultOf } from "../contract.ts";
import type { HandlersOf } from "../handler.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { listSessions } from "./sessions-list.ts";
import { type TargetSession, findTarget, openTarget } from "./target-session.ts";
import { firstUserText, lastMessages } from "./transcript-peek.ts";

type SessionMethod =
  | "sessions.list"
  | "sessions.preview"
  | "sessions.resolve"
  | "sessions.windows"
  | "sessions.patch"
  | "sessions.reset"
  | "sessions.delete"
  | "sessions.compact";

/** Titles are read from this many windows; the older ones are listed without. */
const TITLED_WINDOWS = 50;

export const sessionHandlers: HandlersOf<SessionMethod> = {
  "sessions.list": listSessions,

  "sessions.preview": async ({ keys, limit, maxChars }, { parts }) => ({
    ts: parts.clock.now(),
    previews: await Promise.all(keys.map(async (key) => await preview(parts, key, { limit, maxChars }))),
  }),

  "sessions.resolve": async ({ key, label, sessionId, agentId }, { parts }) => {
    const [reference, ...others] = [key, label, sessionId].filter((given) => given !== undefined);
    if (reference === undefined || others.length > 0) throw oneReference();
    const owner = key === undefined ? agentId : (agentId ?? (await openTarget(parts, { key })).agent.agentId);
    const found = await findTarget(parts, reference, owner);
    const { agent, key: resolved, isCurrent } = found;
    return { ok: true, key: resolved, agentId: agent.agentId, sessionId: found.sessionId, isCurrent };
  },

  "sessions.windows": async (params, { parts }) => {
    const target = await openTarget(parts, params);
    const windows = (await target.agent.store.windows(target.key)).toReversed();
    if (windows.length === 0) throw sessionNotFound(target.key);
    return {
      key: target.key,
      windows: await Promise.all(
        windows.map(async (window, index) => await describeWindow(target, window, index < TITLED_WINDOWS)),
      ),
    };
  },

  "sessions.patch": async ({ key: named, agentId, expectedSessionId, ...patch }, { parts }) => {
    const { agent, key } = await openTarget(parts, { key: named, ...(agentId === undefined ? {} : { agentId }) });
    const options = expectedSessionId === undefined ? {} : { expectedSessionId };
    const entry = await patchSession(agent, key, patch, options);
    tellChange(parts, agent.agentId, key);
    return { ok: true, path: agent.store.path, key, entry };
  },

  "sessions.reset": async (params, { parts }) => {
    const { agent, key } = await openTarget(parts, params);
    const options = params.expectedSessionId === undefined ? {} : { expectedSessionId: params.expectedSessionId };
    const { previous, entry } = await parts.resetSession(agent.agentId, key, options);
    tellChange(parts, agent.agentId, key);
    return { ok: true, key, previousSessionId: previous.sessionId, entry };
  },

  "sessions.delete": async (params, { parts }) => {
    const target = await openTarget(parts, params);
    const archived = await deleteTarget(target, params.expectedSessionId);
    if (archived !== undefined) tellChange(parts, target.agent.agentId, target.key);
    return {
      ok: true,
      key: target.key,
      deleted: archived !== undefined,
      archived: archived === undefined ? [] : [archived],
    };
  },

  "sessions.compact": async (params, { parts }) => {
    const { agent, key } = await openTarget(parts, params);
    const { handoff } = await parts.agents.open(agent.agentId);
    const result = await compactSession(agent, key, { maxLines: params.maxLines, around: handoff?.keepThrough });
    if (result.compacted) tellChange(parts, agent.agentId, key);
    return { ok: true, ...result };
  },
};

async function preview(
  parts: RpcParts,
  named: string,
  options: { limit: number; maxChars: number },
): Promise<ResultOf<"sessions.preview">["previews"][number]> {
  try {
    const { agent, key } = await openTarget(parts, { key: named });
    const entry = await agent.store.get(key);
    if (entry === undefined) return { key, status: "missing", items: [] };
    const items = await lastMessages(transcriptPath(agent, entry), options);
    return { key, status: items.length === 0 ? "empty" : "ok", items };
  } catch (error) {
    // One session that cannot be read hides no other.
    const isMissing = error instanceof HoldfastError && error.kind === "not-found";
    if (!isMissing) parts.logger.warn("a session cannot be previewed", { key: named, error });
    return { key: named, status: isMissing ? "missing" : "error", items: [] };
  }
}

async function describeWindow(
  { agent }: TargetSession,
  window: Window,
  withTitle: boolean,
): Promise<ResultOf<"sessions.windows">["windows"][number]> {
  const { sessionId, openedAt, closedAt, reason } = window;
  const said = withTitle ? await firstUserText(await locateWindowTranscript(agent, window)) : undefined;
  const title = said === undefined ? undefined : deriveSessionTitle({ sessionId }, said);
  return {
    sessionId,
    openedAt,
    ...(closedAt === undefined ? {} : { closedAt }),
    reason,
    isCurrent: closedAt === undefined,
    isArchived: window.archive !== undefined,
    ...(title === undefined ? {} : { derivedTitle: title }),
  };
}

/** The name of the archive; undefined when there was no such session. */
async function deleteTarget(target: TargetSession, expectedSessionId: string | undefined): Promise<string | undefined> {
  const { agent, key } = target;
  const isMain = key === buildAgentMainSessionKey(agent);
  if (!isMain && (await agent.store.get(key)) === undefined) return undefined;
  const expected = expectedSessionId === undefined ? {} : { expectedSessionId };
  // The main session is refused before anybody waits for its lease.
  const { id, windows } = isMain
    ? await deleteSession(agent, key, expected)
    : await withSessionLease(agent, key, {}, async (held) => {
        return await deleteSession(agent, key, { ...expected, lease: held.lease });
      });
  await Promise.all([
    target.systemEvents.forgetSystemEvents(key),
    target.history.forget(key),
    target.forgetDeleted?.(windows),
  ]);
  return id;
}

function tellChange(parts: RpcParts, agentId: string, sessionKey: string): void {
  parts.pipeline.events.emit({ type: "session.changed", agentId, sessionKey });
}

function oneReference(): HoldfastError {
  return new HoldfastError("usage", "invalid-params", "Exactly one of key, label and sessionId is needed", {
    hint: "Give the one that you know.",
  });
}
