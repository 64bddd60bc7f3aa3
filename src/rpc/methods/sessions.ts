/** Lists, shows and changes sessions. Each change emits `session.changed`. */
import { inParallel } from "../../base/async.ts";
import { HoldfastError, undefinedOn } from "../../base/errors.ts";
import { canonicalSessionKey } from "../../keys/canonical-key.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { buildAgentMainSessionKey } from "../../keys/session-key.ts";
import {
  locateWindowTranscript,
  transcriptPath,
  type AgentHandle,
  expectedTranscript,
} from "../../session/agent-handle.ts";
import { deleteSession } from "../../session/archive.ts";
import { findSessionOrArchived } from "../../session/find-session.ts";
import { withSessionLease } from "../../session/lease.ts";
import { chooseModel } from "../../session/model-choice.ts";
import { type SessionPatch, patchNotes, patchSession } from "../../session/patch.ts";
import { deriveSessionTitle } from "../../session/title.ts";
import { sessionNotFound } from "../../session/window.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { Window, ListQuery, ListedSession } from "../../store/store.ts";
import { findDamage } from "../../transcript/damage.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import { type sessionMethods, shownFields } from "../contract/sessions.ts";
import type { RpcParts, HandlersOf, RpcCall } from "../rpc-parts.ts";
import { pickPresent } from "./status.ts";
import { type TargetSession, findTarget, openTarget } from "./target.ts";
import { compactSession } from "../../session/transcript-changes.ts";
import { firstUserText, lastMessages, lastMessagePreview } from "../../transcript/reader.ts";

/** Older windows are listed without a title. */
const TITLED_WINDOWS = 50;

export const sessionHandlers: HandlersOf<keyof typeof sessionMethods> = {
  "sessions.list": listSessions,

  "sessions.preview": async ({ keys, limit, maxChars }, { parts }) => ({
    ts: parts.clock.now(),
    previews: await Promise.all(keys.map(async (key) => await preview(parts, key, { limit, maxChars }))),
  }),

  "sessions.resolve": async ({ key, label, sessionId, agentId, spawnedBy }, { parts }) => {
    const [reference, ...others] = [key, label, sessionId].filter((given) => given !== undefined);
    if (reference === undefined || others.length > 0) {
      throw new HoldfastError("usage", "invalid-params", "Exactly one of key, label and sessionId is needed", {
        hint: "Use the one you know.",
      });
    }
    const owner = key === undefined ? agentId : (agentId ?? (await openTarget(parts, { key })).agent.agentId);
    const found = await findTarget(parts, reference, owner).catch(async (error: unknown) => {
      if (sessionId !== undefined && spawnedBy === undefined) await refuseArchived(parts, sessionId, owner);
      throw error;
    });
    const { agent, key: resolved, isCurrent } = found;
    if (spawnedBy !== undefined) await requireSpawnedBy(found, spawnedBy);
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

  "sessions.patch": async ({ key: named, agentId, expectedSessionId, model, ...patch }, { parts }) => {
    const target = await openTarget(parts, { key: named, agentId });
    const { agent, key } = target;
    const changes = { ...patch, ...(model === undefined ? {} : modelOverrides(target, model)) };
    const entry = await patchSession(agent, key, changes, { expectedSessionId });
    emitChange(parts, agent.agentId, key);
    const notes = patchNotes(patch);
    return { ok: true, path: agent.store.location, key, entry, notes: notes.length === 0 ? undefined : notes };
  },

  "sessions.reset": async (params, { parts }) => {
    const { agent, key } = await openTarget(parts, params);
    const { expectedSessionId } = params;
    const { previous, entry } = await parts.resetSession(agent.agentId, key, { expectedSessionId });
    emitChange(parts, agent.agentId, key);
    return { ok: true, key, previousSessionId: previous.sessionId, entry };
  },

  "sessions.delete": async (params, { parts }) => {
    const target = await openTarget(parts, params);
    const archived = await deleteTarget(target, params.expectedSessionId);
    if (archived === undefined) return { ok: true, key: target.key, deleted: false, archived: [] };
    emitChange(parts, target.agent.agentId, target.key);
    return { ok: true, key: target.key, deleted: true, archived: [archived] };
  },

  "sessions.compact": async (params, { parts }) => {
    const { agent, key } = await openTarget(parts, params);
    const { handoff } = await parts.agents.open(agent.agentId);
    const result = await compactSession(agent, key, { maxLines: params.maxLines, around: handoff?.keepThrough });
    if (result.compacted) emitChange(parts, agent.agentId, key);
    return { ok: true, ...result };
  },
};

/** Search also finds archived sessions. */
async function refuseArchived(parts: RpcParts, sessionId: string, agentId = parts.config.defaultAgent): Promise<void> {
  const { agent } = await parts.agents.open(normalizeAgentId(agentId));
  const found = await undefinedOn(findSessionOrArchived(agent, sessionId), "not-found");
  if (found?.archive === undefined) return;
  const { key, archive } = found;
  const message = `${key} is archived; \`holdfast sessions restore ${archive}\` brings it back`;
  throw new HoldfastError("not-found", "session-archived", message, { data: { key, sessionId, archive } });
}

async function requireSpawnedBy({ agent, key }: TargetSession, parent: string): Promise<void> {
  const spawnedBy = (await agent.store.get(key))?.spawnedBy;
  const isChild =
    spawnedBy !== undefined && canonicalSessionKey(spawnedBy, agent) === canonicalSessionKey(parent, agent);
  if (!isChild) throw sessionNotFound(key);
}

/** The default model is stored as no override, like `/model` does. */
function modelOverrides({ agent, config, engine }: TargetSession, wanted: string | null): SessionPatch {
  const none = { providerOverride: null, modelOverride: null };
  if (wanted === null) return none;
  const { provider, model, isDefault } = chooseModel(wanted, {
    models: config.models,
    providers: config.providers,
    defaultModel: config.agents[agent.agentId]?.model,
    bareNamesOf: engine.name === "claude-code" ? "anthropic" : undefined,
  });
  return isDefault ? none : { providerOverride: provider, modelOverride: model };
}

async function preview(
  parts: RpcParts,
  named: string,
  options: { limit: number; maxChars: number },
): Promise<ResultOf<"sessions.preview">["previews"][number]> {
  try {
    const { agent, key } = await openTarget(parts, { key: named });
    const entry = await agent.store.get(key);
    if (entry === undefined) return { key, status: "missing", items: [] };
    const path = await transcriptPath(agent, entry);
    const items = await lastMessages(path, options);
    const damage = await findDamage(path, expectedTranscript(entry));
    if (damage !== undefined) return { key, status: "error", items, problem: damage.reason };
    return { key, status: items.length === 0 ? "empty" : "ok", items };
  } catch (error) {
    // An unreadable session must not hide the others.
    const isMissing = error instanceof HoldfastError && error.kind === "not-found";
    if (!isMissing) parts.logger.warn("cannot preview a session", { key: named, error });
    return { key: named, status: isMissing ? "missing" : "error", items: [] };
  }
}

async function describeWindow({ agent }: TargetSession, window: Window, withTitle: boolean) {
  const { sessionId, openedAt, closedAt, reason, archive } = window;
  const said = withTitle ? await firstUserText(await locateWindowTranscript(agent, window)) : undefined;
  const derivedTitle = said === undefined ? undefined : deriveSessionTitle({ sessionId }, said);
  const state = { isCurrent: closedAt === undefined, isArchived: archive !== undefined };
  return { sessionId, openedAt, closedAt, reason, ...state, derivedTitle };
}

async function deleteTarget(target: TargetSession, expectedSessionId: string | undefined): Promise<string | undefined> {
  const { agent, key } = target;
  const isMain = key === buildAgentMainSessionKey(agent);
  if (!isMain && (await agent.store.get(key)) === undefined) return undefined;
  // The main session is refused without waiting for its lease.
  const { id, windows } = isMain
    ? await deleteSession(agent, key, { expectedSessionId })
    : await withSessionLease(agent, key, {}, async (held) => {
        return await deleteSession(agent, key, { expectedSessionId, lease: held.lease });
      });
  await Promise.all([
    target.agent.store.systemEvents.forgetSystemEvents(key),
    target.agent.store.history.forget(key),
    target.forgetDeleted?.(windows),
  ]);
  return id;
}

function emitChange(parts: RpcParts, agentId: string, sessionKey: string): void {
  parts.pipeline.events.emit({ type: "session.changed", agentId, sessionKey });
}

type Params = CheckedParamsOf<"sessions.list">;
type Result = ResultOf<"sessions.list">;
type Row = Result["sessions"][number];

interface Found extends ListedSession {
  agent: AgentHandle;
}

async function listSessions(params: Params, { parts }: RpcCall): Promise<Result> {
  const ids = params.agentId === undefined ? await parts.agents.list() : [normalizeAgentId(params.agentId)];
  const spawnedBy = params.spawnedBy && (await openTarget(parts, { key: params.spawnedBy })).key;
  const query = { ...toQuery(params, parts.clock.now()), spawnedBy };
  const found: Found[] = [];
  const paths: string[] = [];
  let total = 0;
  for (const id of ids) {
    const { agent } = await parts.agents.open(id);
    const page = await agent.store.list(query);
    total += page.total;
    paths.push(agent.store.location);
    for (const session of page.sessions) found.push({ ...session, agent });
  }
  const shown = found
    .toSorted((a, b) => b.entry.updatedAt - a.entry.updatedAt)
    .slice(params.offset, params.offset + params.limit);
  return {
    ts: parts.clock.now(),
    path: paths.length === 1 ? String(paths[0]) : "(multiple)",
    count: shown.length,
    total,
    defaults: modelDefaults(parts, params.agentId),
    sessions: await inParallel(shown, async (session) => await toRow(session, params)),
  };
}

/** The whole page may come from one agent. */
function toQuery(params: Params, now: number): ListQuery {
  const { activeMinutes, kind, channel, label, search, includeGlobal, includeUnknown } = params;
  return {
    limit: params.offset + params.limit,
    fields: ROW_FIELDS,
    activeSince: activeMinutes === undefined ? undefined : now - activeMinutes * 60_000,
    kind,
    exceptKinds: [...(includeGlobal ? [] : ["global" as const]), ...(includeUnknown ? [] : ["unknown" as const])],
    channel,
    label,
    text: search,
  };
}

const SHOWN_FIELDS = Object.keys(shownFields) as (keyof typeof shownFields)[];
const ROW_FIELDS = [...SHOWN_FIELDS, "sessionFile"] as const satisfies readonly (keyof SessionEntry)[];

async function toRow({ agent, key, kind, entry }: Found, params: Params): Promise<Row> {
  const { includeDerivedTitles, includeLastMessage } = params;
  const path = includeDerivedTitles || includeLastMessage ? await transcriptPath(agent, entry) : "";
  return {
    key,
    agentId: agent.agentId,
    kind,
    ...pickPresent(entry, SHOWN_FIELDS),
    derivedTitle: includeDerivedTitles ? deriveSessionTitle(entry, await firstUserText(path)) : undefined,
    lastMessagePreview: includeLastMessage ? await lastMessagePreview(path) : undefined,
  };
}

function modelDefaults({ config }: RpcParts, agentId = config.defaultAgent): Result["defaults"] {
  const named = config.agents[agentId]?.model;
  if (named === undefined) return {};
  const slash = named.indexOf("/");
  return {
    modelProvider: slash > 0 ? named.slice(0, slash) : undefined,
    model: named.slice(slash + 1),
    contextTokens: config.models[named]?.contextWindow,
  };
}
