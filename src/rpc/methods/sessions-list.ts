/** `sessions.list`: the sessions of one agent or of all, newest first. */
import { deriveSessionTitle } from "../../session/title.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { type AgentHandle, transcriptPath } from "../../session/agent-handle.ts";
import type { SessionEntry } from "../../store/session-entry.ts";
import type { ListQuery, ListedSession } from "../../store/store.ts";
import type { CheckedParamsOf, ResultOf } from "../contract.ts";
import type { RpcCall } from "../handler.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { firstUserText, lastMessagePreview } from "./transcript-peek.ts";

type Params = CheckedParamsOf<"sessions.list">;
type Result = ResultOf<"sessions.list">;
type Row = Result["sessions"][number];

interface Found extends ListedSession {
  agent: AgentHandle;
}

/** Transcripts that are looked into at the same time. */
const PEEKS = 8;

export async function listSessions(params: Params, { parts }: RpcCall): Promise<Result> {
  const ids = params.agentId === undefined ? await parts.agents.list() : [normalizeAgentId(params.agentId)];
  const query = toQuery(params, parts.clock.now());
  const found: Found[] = [];
  const paths: string[] = [];
  let total = 0;
  for (const id of ids) {
    const { agent } = await parts.agents.open(id);
    const page = await agent.store.list(query);
    total += page.total;
    paths.push(agent.store.path);
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
    sessions: await inGroups(shown, PEEKS, async (session) => await toRow(session, params)),
  };
}

/** Each agent may hold the whole page. */
function toQuery(params: Params, now: number): ListQuery {
  const { activeMinutes, kind, channel, label, search } = params;
  return {
    limit: params.offset + params.limit,
    fields: ROW_FIELDS,
    ...(activeMinutes === undefined ? {} : { activeSince: now - activeMinutes * 60_000 }),
    ...(kind === undefined ? {} : { kind }),
    ...(channel === undefined ? {} : { channel }),
    ...(label === undefined ? {} : { label }),
    ...(search === undefined ? {} : { text: search }),
  };
}

const SHOWN_FIELDS = [
  "label",
  "displayName",
  "subject",
  "channel",
  "chatType",
  "origin",
  "updatedAt",
  "sessionId",
  "systemSent",
  "abortedLastRun",
  "thinkingLevel",
  "sendPolicy",
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "modelProvider",
  "model",
  "contextTokens",
  "deliveryContext",
  "lastChannel",
] as const satisfies readonly (keyof SessionEntry)[];

const ROW_FIELDS = [...SHOWN_FIELDS, "sessionFile"] as const satisfies readonly (keyof SessionEntry)[];

async function toRow({ agent, key, kind, entry }: Found, params: Params): Promise<Row> {
  const shown = Object.fromEntries(
    SHOWN_FIELDS.flatMap((field) => (entry[field] == null ? [] : [[field, entry[field]]])),
  ) as Pick<SessionEntry, (typeof SHOWN_FIELDS)[number]>;
  const path = transcriptPath(agent, entry);
  const title = params.includeDerivedTitles ? deriveSessionTitle(entry, await firstUserText(path)) : undefined;
  const last = params.includeLastMessage ? await lastMessagePreview(path) : undefined;
  return {
    key,
    agentId: agent.agentId,
    kind,
    ...shown,
    ...(title === undefined ? {} : { derivedTitle: title }),
    ...(last === undefined ? {} : { lastMessagePreview: last }),
  };
}

function modelDefaults({ config }: RpcParts, agentId = config.defaultAgent): Result["defaults"] {
  const named = config.agents[agentId]?.model;
  if (named === undefined) return {};
  const slash = named.indexOf("/");
  const contextTokens = config.models[named]?.contextWindow;
  return {
    ...(slash > 0 ? { modelProvider: named.slice(0, slash) } : {}),
    model: named.slice(slash + 1),
    ...(contextTokens === undefined ? {} : { contextTokens }),
  };
}

async function inGroups<T, R>(items: readonly T[], size: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += size) {
    results.push(...(await Promise.all(items.slice(start, start + size).map(work))));
  }
  return results;
}
