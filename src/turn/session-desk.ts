/**
 * What the tools over sessions do. A conversation reaches itself, its earlier windows, and the subagents and tasks that
 * it started; the main session reaches all sessions of its agent. To everybody else a session does not exist: the
 * answer is the same for one that is missing and for one of other people.
 */
import { TOO_LATE, raceAbort, within } from "../base/async.ts";
import { HoldfastError } from "../base/errors.ts";
import { redactText } from "../base/redact.ts";
import { printableLine } from "../base/text.ts";
import type { HistoryQuery, SessionDesk, SessionMessage } from "../engine/tools/session-tools.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { buildAgentMainSessionKey, isSubagentSessionKey } from "../keys/session-key.ts";
import { type AgentHandle, type FoundSession, locateTranscript } from "../session/agent-handle.ts";
import { assertMayAccessSession, findSession } from "../session/find-session.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { ListedSession } from "../store/store.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { isFlushEntry, messageText, saidText } from "../transcript/messages.ts";
import { readNewest } from "../transcript/walk.ts";
import { contextWindowOf, modelOf } from "./run/turn-record.ts";
import { type SpawnOptions, spawnSubagent } from "./subagents.ts";

export interface SessionDeskOptions extends SpawnOptions {
  /** False in a process that ends with its command. */
  canSpawn: boolean;
  describeProject(conversation: string, repo: string | undefined): Promise<string>;
}

export function createSessionDesk(options: SessionDeskOptions): SessionDesk {
  const { agent } = options;
  return {
    list: async (requester, { limit, activeMinutes }) => {
      const since = activeMinutes === undefined ? 0 : agent.clock.now() - activeMinutes * 60_000;
      const { sessions, total } = await listVisible(agent, requester, limit, since);
      return { sessions: sessions.map(rowOf), total };
    },
    history: async (requester, query) => {
      const found = await findVisible(agent, requester, query.session);
      return { session: found.key, ...(await readMessages(agent, found, query)) };
    },
    send: async (requester, message) => await send(options, requester, message),
    status: async (requester, session) => await describeSession(options, await findVisible(agent, requester, session)),
    projectStatus: async (requester, repo) => await options.describeProject(requester, repo),
    spawn: options.canSpawn
      ? async (requester, request) => await spawnSubagent(options, requester, request)
      : undefined,
  };
}

const FIELDS = [
  "label",
  "displayName",
  "subject",
  "channel",
  "lastChannel",
  "chatType",
  "model",
  "totalTokens",
  "spawnedBy",
  "task",
] as const satisfies readonly (keyof SessionEntry)[];

/** Lineages are followed among this many subagents and tasks, newest first. */
const MAX_SPAWNED = 1000;

async function listVisible(agent: AgentHandle, requester: string, limit: number, activeSince: number) {
  const { store } = agent;
  const own = canonicalSessionKey(requester, agent);
  if (own === buildAgentMainSessionKey(agent)) return await store.list({ limit, activeSince, fields: FIELDS });
  const entry = await store.get(own);
  const spawned = (await store.list({ text: "subagent:", limit: MAX_SPAWNED, fields: FIELDS })).sessions;
  const parents = new Map(
    spawned.map(({ key, entry: { spawnedBy = "" } }) => [key, canonicalSessionKey(spawnedBy, agent)]),
  );
  const self: ListedSession[] = entry === undefined ? [] : [{ key: own, kind: "direct", entry }];
  const sessions = [...self, ...spawned.filter(({ key }) => key !== own && isBelow(key, own, parents))].filter(
    (session) => session.entry.updatedAt >= activeSince,
  );
  return { sessions: sessions.slice(0, limit), total: sessions.length };
}

function isBelow(key: string, ancestor: string, parents: ReadonlyMap<string, string>): boolean {
  let current = parents.get(key);
  for (let depth = 0; current !== undefined && depth < parents.size; depth++) {
    if (current === ancestor) return true;
    current = parents.get(current);
  }
  return false;
}

function rowOf({ key, entry }: Pick<ListedSession, "key" | "entry">) {
  const { model, totalTokens, spawnedBy, task } = entry;
  return {
    key,
    title: titleOf(entry),
    channel: entry.channel ?? entry.lastChannel,
    chatType: entry.chatType,
    updatedAt: new Date(entry.updatedAt).toISOString(),
    model,
    totalTokens,
    spawnedBy,
    task: task?.state,
  };
}

const MAX_TITLE = 120;

function titleOf({ label, displayName, subject }: SessionEntry): string | undefined {
  const title = label ?? displayName ?? subject;
  return title === undefined ? undefined : printableLine(title, MAX_TITLE);
}

async function findVisible(agent: AgentHandle, requester: string, reference = requester): Promise<FoundSession> {
  try {
    const found = await findSession(agent, reference);
    await assertMayAccessSession(agent, requester, found.key);
    return found;
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    // Suggestions and reasons of the original would tell which sessions exist.
    const shown = printableLine(reference, 100);
    throw new HoldfastError("not-found", "session-not-found", `This conversation has no session "${shown}".`, {
      hint: "sessions_list shows what it can reach.",
      cause: error,
    });
  }
}

const MESSAGE_CHARS = 4000;
const TOTAL_CHARS = 40_000;

async function readMessages(agent: AgentHandle, found: FoundSession, { limit, includeTools }: HistoryQuery) {
  const { path } = await locateTranscript(agent, found);
  const limits = { limit, maxChars: TOTAL_CHARS };
  const { found: messages, isComplete } = await readNewest(path, limits, (entry) => messageOf(entry, includeTools));
  return { messages, isComplete };
}

function messageOf(entry: TranscriptEntry, includeTools: boolean) {
  if (entry.type !== "message" || isFlushEntry(entry)) return undefined;
  const { role } = entry.message;
  const isTool = role === "toolResult";
  if (role !== "user" && role !== "assistant" && !(isTool && includeTools)) return undefined;
  const text = redactText((isTool ? messageText(entry.message) : saidText(entry)).trim());
  if (text === "") return undefined;
  const isCut = text.length > MESSAGE_CHARS;
  return {
    role,
    tool: entry.message.role === "toolResult" ? entry.message.toolName : undefined,
    at: entry.timestamp,
    text: isCut ? `${text.slice(0, MESSAGE_CHARS).toWellFormed()}…` : text,
  };
}

async function send({ agent, admit }: SessionDeskOptions, requester: string, message: SessionMessage) {
  const { agentId, clock } = agent;
  const { key, entry } = await findVisible(agent, requester, message.session);
  const own = canonicalSessionKey(requester, agent);
  if (key === own || entry.task !== undefined) throw cannotSend(key === own);
  const Body = `Message from your session ${own}:\n${message.text}`;
  const { ended, item } = await admit({
    agentId,
    address: { channel: "session", accountId: agentId, chatId: key, messageId: `${own} ${message.callId}` },
    ctx: { SessionKey: key, Body, RawBody: message.text, BodyForCommands: Body, Timestamp: clock.now() },
    receivedAt: clock.now(),
    // Nobody reads a subagent's session but the session that asks.
    deliver: !isSubagentSessionKey(key),
    awaited: true,
  });
  const common = { session: key, runId: String(item.id) };
  if (message.waitSeconds === 0) return { ...common, status: "accepted" };
  const end = await raceAbort(within(message.waitSeconds * 1000, ended), message.signal);
  if (end === TOO_LATE) return { ...common, status: "timeout", note: "sessions_history shows the answer later." };
  return { ...common, status: end.outcome, reply: end.text ?? end.error?.message };
}

function cannotSend(isSelf: boolean): HoldfastError {
  return isSelf
    ? new HoldfastError("usage", "session-is-own", "A session cannot send a message to itself.", {
        hint: "Answer here instead.",
      })
    : new HoldfastError("usage", "session-is-task", "That session is a task of Claude Code.", {
        hint: "The person continues it with /cc send, or with a reply to one of its messages.",
      });
}

const SHOWN_WINDOWS = 10;

async function describeSession({ agent, config }: SessionDeskOptions, { key, entry }: FoundSession) {
  const [pending, windows] = await Promise.all([agent.store.inbox.pending(key), agent.store.windows(key)]);
  const { thinkingLevel, verboseLevel, reasoningLevel, responseUsage, queueMode, compactionCount, sendPolicy } = entry;
  return {
    ...rowOf({ key, entry }),
    sessionId: entry.sessionId,
    model: modelOf(entry, config, agent.agentId) ?? entry.model,
    contextWindow: contextWindowOf(entry, config, agent.agentId),
    compactionCount,
    settings: { thinkingLevel, verboseLevel, reasoningLevel, responseUsage, queueMode, sendPolicy },
    waiting: pending.length,
    windows: windows.slice(-SHOWN_WINDOWS).map(({ sessionId, openedAt, closedAt, reason }) => ({
      sessionId,
      reason,
      openedAt: new Date(openedAt).toISOString(),
      closedAt: closedAt === undefined ? undefined : new Date(closedAt).toISOString(),
    })),
  };
}
