/** Builds the row of a session from all its sources. Texts are passed on unchanged: each view has to make them safe. */
import type { ArchivedSession } from "../archive/catalogue.ts";
import { isChatEntrypoint, sessionOrigin } from "../attribution.ts";
import { type DiscoveredSession, type ShownFacts, budgetUsed } from "../discovered-session.ts";
import type { IndexedSession } from "../index/native-index.ts";
import type { RunningSession } from "../native/layout.ts";
import { noFacts, parseFacts } from "../native/session-scan.ts";
import type { RegisteredFacts } from "../registry/registry.ts";

export interface SessionSources {
  sessionId: string;
  native?: IndexedSession | undefined;
  /** Set when Claude Code's file is gone. Its facts are loaded only for the result. */
  archive?: ArchivedSession | undefined;
  registered?: RegisteredFacts | undefined;
  running?: RunningSession | undefined;
}

export interface RowOptions {
  /** The calling agent: its sessions are `this-agent`. */
  agentId?: string | undefined;
  maxBudgetUsd?: number | undefined;
  /** The repo of a session, from its working folders and the repo in a registry. */
  repoPathOf(cwds: readonly string[], registered: string | undefined): string;
  conversationOf: (sessionId: string) => string | undefined;
}

export function toRow(sources: SessionSources, options: RowOptions): DiscoveredSession {
  const archived = sources.archive?.load();
  const { registered, running, native = archived } = sources;
  const facts = native === undefined ? noFacts() : parseFacts(native.shown);
  const createdAt = registered?.createdAt ?? running?.startedAt;
  const known = { ...sources, native };
  return {
    ...facts,
    ...rowMembers(known, options),
    cwds: cwdsOf(known),
    entrypoint: entrypointOf(known),
    createdAt: facts.createdAt ?? (createdAt === undefined ? undefined : new Date(createdAt)),
    title: facts.title ?? running?.name,
    ccVersion: facts.ccVersion ?? running?.version,
    archived: archived === undefined ? undefined : true,
  };
}

/** The row as JSON. For most sessions only the transcript is known, and most of the row is in the index as text. */
export function toRowText(sources: SessionSources, options: RowOptions): string {
  const { native, registered, running } = sources;
  if (native === undefined || registered !== undefined || running !== undefined) {
    return JSON.stringify(toRow(sources, options));
  }
  // Joins two objects: a comma replaces the end of one and the start of the other.
  return `${JSON.stringify(rowMembers(sources, options)).slice(0, -1)},${native.shown.slice(1)}`;
}

/** The members that do not come from the transcript alone. */
function rowMembers(known: SessionSources, options: RowOptions): Omit<DiscoveredSession, keyof ShownFacts> {
  const { sessionId, native, registered, running } = known;
  const agentIds = agentsOfSources(known);
  const agentId = agentIds.find((id) => id === options.agentId) ?? agentIds[0];
  const labels = registered?.labels ?? [];
  const costs = { totalCostUsd: registered?.totalCostUsd, estimatedCostUsd: native?.costUsd };
  return {
    sessionId,
    source: agentId === undefined ? "native-only" : "openclaw",
    origin: sessionOrigin({ agentId, askingAgent: options.agentId, entrypoint: entrypointOf(known) }),
    repoPath: options.repoPathOf(cwdsOf(known), registered?.repoPaths[0]),
    lastModified: new Date(lastModifiedOf(known)),
    fileSizeBytes: native?.sizeBytes ?? 0,
    totalInputTokens: native?.tokens.input ?? 0,
    totalOutputTokens: native?.tokens.output ?? 0,
    cacheReadTokens: native?.tokens.cacheRead ?? 0,
    cacheWriteTokens: native?.tokens.cacheWrite ?? 0,
    subagentCount: native?.subagentCount ?? 0,
    isRunning: running !== undefined,
    running: running && { pid: running.pid, status: running.status, waitingFor: running.waitingFor },
    agentId,
    agentIds: agentIds.length > 1 ? agentIds : undefined,
    conversation: conversationOf(known, options),
    lastTask: registered?.lastTask,
    label: labels[0],
    labels: labels.length > 1 ? labels : undefined,
    ...costs,
    totalTurns: registered?.totalTurns,
    budgetUsedPct: budgetUsed(costs, options.maxBudgetUsd),
    forkedFrom: native?.forkedFrom,
    transcriptPath: native?.path,
  };
}

function cwdsOf({ native, running }: SessionSources): string[] {
  return native?.cwds ?? (running?.cwd === undefined ? [] : [running.cwd]);
}

function entrypointOf({ native, running }: SessionSources): string | undefined {
  return native?.entrypoint ?? running?.entrypoint;
}

/** The time of the file; without a file, the time in the registry or of the process. */
export function lastModifiedOf({ native, archive, registered, running }: SessionSources): number {
  return native?.modifiedAt ?? archive?.modifiedAt ?? registered?.lastResumedAt ?? running?.startedAt ?? 0;
}

/** From registries and marker. Registries first: the latest user of a session matters more than its starter. */
export function agentsOfSources({ native, archive, registered }: SessionSources): string[] {
  const marked = native?.originMarker ?? archive?.originMarker;
  return [...new Set([...(registered?.agentIds ?? []), ...(marked === undefined ? [] : [marked])])];
}

/** A fork of a chat's session counts as the chat's too, because it contains the chat. */
function conversationOf(known: SessionSources, { conversationOf: find }: RowOptions): string | undefined {
  const { sessionId, native } = known;
  const original = native?.forkedFrom === undefined ? undefined : find(native.forkedFrom);
  return find(sessionId) ?? original ?? (isChatEntrypoint(entrypointOf(known)) ? UNKNOWN_CONVERSATION : undefined);
}

const UNKNOWN_CONVERSATION = "unknown";

/** Returns session keys by Claude Code session id. */
export type ReadConversations = () => Promise<ReadonlyMap<string, string>>;

/**
 * Sets `conversation` from the session stores. Chats of earlier versions whose registry was lost, and OpenClaw's, are
 * known only there. The stores are read only if a session may be a chat's.
 */
export async function addConversations(sessions: readonly DiscoveredSession[], read: ReadConversations): Promise<void> {
  const unclear = sessions.filter(mayBeChat);
  if (unclear.length === 0) return;
  // Without the stores each of these may be a chat's and is treated as one.
  const conversations = await read().catch(() => undefined);
  for (const session of unclear) {
    const key = conversations?.get(session.sessionId) ?? conversations?.get(session.forkedFrom ?? "");
    if (conversations === undefined) session.conversation = UNKNOWN_CONVERSATION;
    else if (key !== undefined) session.conversation = key;
  }
}

/** Entrypoints of people. A chat is started by a program, and the first entrypoint is recorded. */
const OF_PEOPLE = new Set(["cli", "claude-vscode", "claude-desktop", "claude-code-github-action"]);

function mayBeChat({ conversation, entrypoint }: DiscoveredSession): boolean {
  return conversation === undefined && !OF_PEOPLE.has(entrypoint ?? "");
}
