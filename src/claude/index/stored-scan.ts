/**
 * A scan as the index stores it, in two JSON texts: `shown` has the facts that lists show, under the names of
 * `DiscoveredSession`, so that a list in JSON can pass them on unchanged; `state` has everything else.
 */
import { isRecord, parseJson } from "../../base/json-record.ts";
import { isChatEntrypoint, readMarker } from "../attribution.ts";
import type { ShownFacts } from "../discovered-session.ts";
import {
  SCAN_FORMAT,
  type ScanState,
  type SessionFacts,
  type SessionScan,
  createSessionScan,
  sessionTitle,
} from "../native/session-scan.ts";

export interface StoredScan {
  shown: string;
  state: string;
}

export function serializeScan(scan: SessionScan): StoredScan & { facts: ShownFacts } {
  const facts = shownFacts(scan);
  const isShownAsIs = facts.originMarker === undefined && !scan.prompts.includes("");
  // Member by member, which is several times faster than a copy without some members.
  const state = {
    format: SCAN_FORMAT,
    offset: scan.offset,
    lineOpen: scan.lineOpen,
    rootUuid: scan.rootUuid,
    firstMessageId: scan.firstMessageId,
    openedAt: scan.openedAt,
    usage: scan.usage,
    recent: scan.recent,
    settledAt: scan.settledAt,
    lines: scan.lines,
    unknownLines: scan.unknownLines,
    damaged: unlessEmpty(scan.damaged),
    lastAt: scan.lastAt,
    customTitle: scan.customTitle,
    aiTitle: scan.aiTitle,
    summary: scan.summary,
    compactions: unlessEmpty(scan.compactions),
    entrypoints: scan.entrypoints,
    versions: scan.versions,
    lastBranch: scan.lastBranch,
    prompts: isShownAsIs ? undefined : scan.prompts,
  } satisfies Record<keyof ScanState, unknown> & Record<string, unknown>;
  return { facts, shown: JSON.stringify(facts), state: JSON.stringify(state) };
}

function unlessEmpty<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Undefined when another version wrote the texts: then the file has to be scanned from its start. */
export function restoreScan(stored: StoredScan): SessionScan | undefined {
  const parsed = parseJson(stored.state);
  if (!isRecord(parsed) || parsed["format"] !== SCAN_FORMAT) return undefined;
  const { format: _, prompts, ...state } = parsed as Partial<SessionScan> & { format: number };
  const shown = parseFacts(stored.shown);
  return {
    ...createSessionScan(),
    ...state,
    firstAt: shown.createdAt?.getTime(),
    damagedLines: shown.damagedLines,
    messages: shown.messageCount,
    userTurns: shown.userTurns,
    prompts: prompts ?? shown.prompts,
    slug: shown.slug,
    permissionMode: shown.permissionMode,
    compactionCount: shown.compactionCount,
    contextTokens: shown.contextTokens,
    branches: shown.branches,
    cwds: shown.cwds,
    models: shown.models,
    files: new Map(shown.filesTouched.map(({ path, edited }) => [path, edited])),
  };
}

/** Removes the agent's marker, which only the first message can have. */
function shownFacts(scan: SessionFacts): ShownFacts {
  const { prompts, branches, entrypoints } = scan;
  const [first = ""] = prompts;
  const { agentId: originMarker, text: firstMessage } = readMarker(first);
  const unmarked = <T extends string | undefined>(text: T): T | string => (text === first ? firstMessage : text);
  const [oldest, ...others] = prompts.filter((prompt) => prompt !== "");
  const title = unmarked(sessionTitle(scan));
  return {
    branch: scan.lastBranch ?? branches.at(-1) ?? "",
    branches,
    cwds: scan.cwds,
    firstMessage,
    prompts: oldest === undefined ? [] : [unmarked(oldest), ...others],
    messageCount: scan.messages,
    userTurns: scan.userTurns,
    contextTokens: scan.contextTokens,
    compactionCount: scan.compactionCount,
    models: scan.models,
    filesTouched: Array.from(scan.files, ([path, edited]) => ({ path, edited })),
    damagedLines: scan.damagedLines,
    title: title?.trim() === "" ? undefined : title,
    lastPrompt: unmarked(prompts.at(-1)),
    createdAt: scan.firstAt === undefined ? undefined : new Date(scan.firstAt),
    ccVersion: scan.versions.at(-1),
    // How the session was started; but once a chat has used it, it belongs to the chat.
    entrypoint: entrypoints.find(isChatEntrypoint) ?? entrypoints[0],
    permissionMode: scan.permissionMode,
    slug: scan.slug,
    originMarker,
  };
}

export function parseFacts(shown: string): ShownFacts {
  const facts = JSON.parse(shown) as Omit<ShownFacts, "createdAt"> & { createdAt?: string | undefined };
  return { ...facts, createdAt: facts.createdAt === undefined ? undefined : new Date(facts.createdAt) };
}

/** For a session without a transcript. */
export function noFacts(): ShownFacts {
  return shownFacts(createSessionScan());
}
