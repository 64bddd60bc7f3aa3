/**
 * The facts of a transcript up to a byte offset. A scan can be stored and continued from its offset; the result is the
 * same as that of one scan over the whole file. Every list has a limit, so a scan does not grow with the transcript:
 * it holds sums of the usage and the latest messages only, while a `UsageLedger` holds every message.
 *
 * The index stores a scan as two JSON texts: `shown` has the facts that lists show, under the names of
 * `DiscoveredSession`, so that a list in JSON can pass them on unchanged; `state` has everything else.
 */
import { emptySums } from "./usage.ts";
import { isRecord, parseJson } from "../../base/json-record.ts";
import { isChatEntrypoint, readMarker } from "../attribution.ts";
import type { ShownFacts } from "../discovered-session.ts";

export type SessionScan = SessionFacts & ScanState;
export type SessionFacts = ReturnType<typeof emptyFacts>;
export type ScanState = ReturnType<typeof emptyState>;

export interface DamagedLine {
  offset: number;
  reason: string;
}

export interface Compaction {
  trigger?: string | undefined;
  preTokens?: number | undefined;
  postTokens?: number | undefined;
  /** In ms. */
  at?: number | undefined;
}

export const PROMPT_LENGTH = 200;

export function createSessionScan(): SessionScan {
  return { ...emptyFacts(), ...emptyState() };
}

/** The facts that lists show. */
function emptyFacts() {
  return {
    /** Lines that are not blank, damaged ones included. */
    lines: 0,
    /** Lines of an unknown type. */
    unknownLines: 0,
    damagedLines: 0,
    /** The first damaged lines. */
    damaged: [] as DamagedLine[],
    /** Lines from people, tools and the model. */
    messages: 0,
    /** Earliest and latest timestamp, in ms. */
    firstAt: undefined as number | undefined,
    lastAt: undefined as number | undefined,
    userTurns: 0,
    /** The first and the last prompts, oldest first, each cut; empty for an image. */
    prompts: [] as string[],
    customTitle: undefined as string | undefined,
    aiTitle: undefined as string | undefined,
    summary: undefined as string | undefined,
    slug: undefined as string | undefined,
    permissionMode: undefined as string | undefined,
    compactionCount: 0,
    /** The latest compactions. */
    compactions: [] as Compaction[],
    /** Tokens sent by the last call of the main conversation, or left by the last compaction. */
    contextTokens: 0,
    /** Each in order of first appearance. */
    branches: [] as string[],
    cwds: [] as string[],
    entrypoints: [] as string[],
    versions: [] as string[],
    models: [] as string[],
    lastBranch: undefined as string | undefined,
    /** Files by path, in the order of last use. True: edited. False: only read. */
    files: new Map<string, boolean>(),
  };
}

/** Facts needed to continue the scan, or for single sessions. */
function emptyState() {
  return {
    /** Everything before this offset has been read. A line starts here, unless `lineOpen`. */
    offset: 0,
    /** The last line was complete but had no newline. Only a newline may follow it. */
    lineOpen: false,
    /** The first message and the first answer. Forks of one session share them. */
    rootUuid: undefined as string | undefined,
    firstMessageId: undefined as string | undefined,
    /** The first timestamp in the file. A fork is written later than the lines it copies. */
    openedAt: undefined as number | undefined,
    ...emptySums(),
  };
}

/** Custom title, else generated title, else last summary, else first prompt. Skips blank ones. */
export function sessionTitle(
  facts: Pick<SessionFacts, "customTitle" | "aiTitle" | "summary" | "prompts">,
): string | undefined {
  return [facts.customTitle, facts.aiTitle, facts.summary, facts.prompts[0]].find(
    (title) => title !== undefined && title.trim() !== "",
  );
}

/** Increase it when a scan of the same bytes gives another result. */
export const SCAN_FORMAT = 6;

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
