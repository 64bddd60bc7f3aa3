/**
 * A scan as the index keeps it, in two texts: what lists show, in the words of `shown-facts.ts`, and
 * everything else that is needed to go on. Nothing is in both.
 */
import { isRecord } from "../../base/json-record.ts";
import { parseJson } from "../native/parse-json.ts";
import {
  SCAN_FORMAT,
  type ScanState,
  type SessionFacts,
  type SessionScan,
  createSessionScan,
  sessionTitle,
} from "../native/session-scan.ts";
import { type ShownFacts, type TranscriptFacts, shownFacts } from "./shown-facts.ts";

export interface StoredScan {
  shown: string;
  state: string;
}

/** Of the facts, what `ShownFacts` lacks. */
type OtherFacts = Pick<
  SessionFacts,
  | "aiTitle"
  | "compactions"
  | "customTitle"
  | "damaged"
  | "entrypoints"
  | "lastAt"
  | "lastBranch"
  | "lines"
  | "summary"
  | "unknownLines"
  | "versions"
>;

/** Lists that are empty are left out. `prompts` only where those that are shown are not all of it. */
type StoredState = {
  [Name in Exclude<keyof ScanState, "lineTypes"> | keyof OtherFacts]?: SessionScan[Name] | undefined;
} & {
  format: number;
  lineTypes?: [string, number][] | undefined;
  prompts?: string[] | undefined;
};

export function serializeScan(scan: SessionScan): StoredScan & { facts: ShownFacts } {
  const facts = shownFacts(transcriptFacts(scan));
  const isShownAsIs = facts.originMarker === undefined && !scan.prompts.includes("");
  // Member by member: leaving some out of a copy takes several times as long, and an index stores thousands.
  const state: StoredState = {
    format: SCAN_FORMAT,
    offset: scan.offset,
    lineOpen: scan.lineOpen,
    lineTypes: [...scan.lineTypes],
    sidechainLines: scan.sidechainLines,
    sessionId: scan.sessionId,
    rootUuid: scan.rootUuid,
    firstMessageId: scan.firstMessageId,
    openedAt: scan.openedAt,
    notedPrompt: scan.notedPrompt,
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
  } satisfies Record<keyof StoredState, unknown>;
  return { facts, shown: JSON.stringify(facts), state: JSON.stringify(state) };
}

function unlessEmpty<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Undefined when the texts were written by another version: then the file is scanned from its start. */
export function restoreScan(stored: StoredScan): SessionScan | undefined {
  const parsed = parseJson(stored.state);
  if (!isRecord(parsed) || parsed["format"] !== SCAN_FORMAT) return undefined;
  const { format: _, lineTypes, prompts, ...state } = parsed as unknown as StoredState;
  const shown = JSON.parse(stored.shown) as Omit<ShownFacts, "createdAt"> & { createdAt?: string };
  return {
    ...createSessionScan(),
    ...(state as Partial<SessionScan>),
    lineTypes: new Map(lineTypes),
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

/** A scan in the words of the index. */
export function transcriptFacts(scan: SessionFacts): TranscriptFacts {
  const { prompts, versions, entrypoints, firstAt, lastBranch, permissionMode, slug } = scan;
  const title = sessionTitle(scan);
  const facts: TranscriptFacts = {
    branches: scan.branches,
    compactionCount: scan.compactionCount,
    contextTokens: scan.contextTokens,
    cwds: scan.cwds,
    damagedLines: scan.damagedLines,
    files: Array.from(scan.files, ([path, edited]) => ({ path, edited })),
    messageCount: scan.messages,
    models: scan.models,
    prompts: prompts.includes("") ? prompts.filter((prompt) => prompt !== "") : prompts,
    userTurns: scan.userTurns,
  };
  const [firstPrompt, latestPrompt] = [prompts[0], prompts.at(-1)];
  const [entrypoint, version] = [entrypoints[0], versions.at(-1)];
  if (firstAt !== undefined) facts.createdAt = firstAt;
  if (title !== undefined) facts.title = title;
  if (firstPrompt !== undefined) facts.firstPrompt = firstPrompt;
  if (latestPrompt !== undefined) facts.latestPrompt = latestPrompt;
  if (slug !== undefined) facts.slug = slug;
  if (permissionMode !== undefined) facts.permissionMode = permissionMode;
  if (version !== undefined) facts.version = version;
  if (entrypoint !== undefined) facts.entrypoint = entrypoint;
  if (lastBranch !== undefined) facts.lastBranch = lastBranch;
  return facts;
}
