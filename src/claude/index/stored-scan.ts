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
import type { TranscriptFacts } from "./native-index.ts";

export interface StoredScan {
  shown: string;
  state: string;
}

export function serializeScan(scan: SessionScan): StoredScan & { facts: ShownFacts } {
  const facts = shownFacts(transcriptFacts(scan));
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
  const shown = JSON.parse(stored.shown) as Omit<ShownFacts, "createdAt"> & { createdAt?: string | undefined };
  return {
    ...createSessionScan(),
    ...state,
    firstAt: shown.createdAt === undefined ? undefined : Date.parse(shown.createdAt),
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

export function transcriptFacts(scan: SessionFacts): TranscriptFacts {
  const { prompts, entrypoints } = scan;
  return {
    branches: scan.branches,
    compactionCount: scan.compactionCount,
    contextTokens: scan.contextTokens,
    createdAt: scan.firstAt,
    cwds: scan.cwds,
    damagedLines: scan.damagedLines,
    // How the session was started; but once a chat has used it, it belongs to the chat.
    entrypoint: entrypoints.find(isChatEntrypoint) ?? entrypoints[0],
    files: Array.from(scan.files, ([path, edited]) => ({ path, edited })),
    firstPrompt: prompts[0],
    lastBranch: scan.lastBranch,
    latestPrompt: prompts.at(-1),
    messageCount: scan.messages,
    models: scan.models,
    permissionMode: scan.permissionMode,
    prompts: prompts.includes("") ? prompts.filter((prompt) => prompt !== "") : prompts,
    slug: scan.slug,
    title: sessionTitle(scan),
    userTurns: scan.userTurns,
    version: scan.versions.at(-1),
  };
}

/** Removes the agent's marker, which only the first message can have. */
export function shownFacts(native: TranscriptFacts): ShownFacts {
  const first = native.firstPrompt ?? "";
  const { agentId: originMarker, text: firstMessage } = readMarker(first);
  const unmarked = <T extends string | undefined>(text: T): T | string => (text === first ? firstMessage : text);
  const [oldest, ...others] = native.prompts;
  const title = unmarked(native.title);
  return {
    branch: native.lastBranch ?? native.branches.at(-1) ?? "",
    branches: native.branches,
    cwds: native.cwds,
    firstMessage,
    prompts: oldest === undefined ? [] : [unmarked(oldest), ...others],
    messageCount: native.messageCount,
    userTurns: native.userTurns,
    contextTokens: native.contextTokens,
    compactionCount: native.compactionCount,
    models: native.models,
    filesTouched: native.files,
    damagedLines: native.damagedLines,
    title: title?.trim() === "" ? undefined : title,
    lastPrompt: unmarked(native.latestPrompt),
    createdAt: native.createdAt === undefined ? undefined : new Date(native.createdAt),
    ccVersion: native.version,
    entrypoint: native.entrypoint,
    permissionMode: native.permissionMode,
    slug: native.slug,
    originMarker,
  };
}

/** For a session without a transcript. */
export function noFacts(): TranscriptFacts {
  return transcriptFacts(createSessionScan());
}
