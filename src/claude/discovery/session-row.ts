/**
 * One row out of everything that is known of a session. Text is passed on as it was written: whoever
 * shows it makes it safe for where it is shown.
 */
import type { ArchivedSession } from "../archive/catalogue.ts";
import { readMarker, sessionOrigin } from "../attribution.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { IndexedFile, IndexedSession, IndexedText } from "../index/native-index.ts";
import { NO_FACTS, type ShownFacts, shownFacts } from "../index/shown-facts.ts";
import type { RunningSession } from "../native/running.ts";
import type { RegisteredSession } from "../registry/registry-entry.ts";

export interface SessionSources {
  sessionId: string;
  native?: IndexedSession | undefined;
  /** When Claude Code's own file is gone. Its facts are loaded for those that are shown. */
  archive?: ArchivedSession | undefined;
  registered?: RegisteredSession | undefined;
  running?: RunningSession | undefined;
}

export interface RowOptions {
  /** Who asks: its sessions are `this-agent`. */
  agentId?: string | undefined;
  maxBudgetUsd?: number | undefined;
  /** From the folders of a session, or the one that a registry names, to its repo. */
  repoPathOf(cwds: readonly string[], registered: string | undefined): string;
}

export function toRow(sources: SessionSources, options: RowOptions): DiscoveredSession {
  const { registered, running, archive } = sources;
  const archived = archive?.load();
  const native = sources.native ?? archived;
  const facts = shownFacts(native ?? NO_FACTS);
  const cwds = native?.cwds ?? (running?.cwd === undefined ? [] : [running.cwd]);
  const entrypoint = native?.entrypoint ?? running?.entrypoint;
  const createdAt = native?.createdAt ?? registered?.createdAt ?? running?.startedAt;
  const known = { ...sources, native, cwds, entrypoint, originMarker: facts.originMarker };
  const row: DiscoveredSession = { ...facts, cwds, ...rowMembers(known, options) };
  if (archived !== undefined) row.archived = true;
  if (createdAt !== undefined) row.createdAt = new Date(createdAt);
  return addPresent(row, {
    title: facts.title ?? running?.name,
    ccVersion: facts.ccVersion ?? running?.version,
    entrypoint,
  });
}

/** The row of a session that only its transcript tells of, as JSON: most of it is in the index word for word. */
export function toRowText(text: IndexedText, options: RowOptions): string {
  const { sessionId, cwds, entrypoint, originMarker } = text;
  const members = rowMembers({ sessionId, native: text, cwds, entrypoint, originMarker }, options);
  // Both are objects: the end of the one and the start of the other become a comma.
  return `${JSON.stringify(members).slice(0, -1)},${text.shown.slice(1)}`;
}

interface RowFacts extends Omit<SessionSources, "native"> {
  native?: IndexedFile | undefined;
  cwds: readonly string[];
  entrypoint: string | undefined;
  originMarker: string | undefined;
}

/** What others than the transcript decide, or what is counted over several. */
function rowMembers(known: RowFacts, options: RowOptions): Omit<DiscoveredSession, keyof ShownFacts> {
  const { sessionId, native, registered, running, entrypoint } = known;
  const agentId = registered?.agentId ?? known.originMarker;
  const row: Omit<DiscoveredSession, keyof ShownFacts> = {
    sessionId,
    source: agentId === undefined ? "native-only" : "openclaw",
    origin: sessionOrigin({ agentId, askingAgent: options.agentId, entrypoint }),
    repoPath: options.repoPathOf(known.cwds, registered?.repoPath),
    lastModified: new Date(lastModifiedOf(known)),
    fileSizeBytes: native?.sizeBytes ?? 0,
    totalInputTokens: native?.tokens.input ?? 0,
    totalOutputTokens: native?.tokens.output ?? 0,
    cacheReadTokens: native?.tokens.cacheRead ?? 0,
    cacheWriteTokens: native?.tokens.cacheWrite ?? 0,
    subagentCount: native?.subagentCount ?? 0,
    isRunning: running !== undefined,
  };
  if (running !== undefined) row.running = runningState(running);
  return addPresent(row, {
    agentId,
    lastTask: registered?.tasks.at(-1),
    label: registered?.label,
    totalCostUsd: registered?.totalCostUsd,
    totalTurns: registered?.totalTurns,
    estimatedCostUsd: native?.costUsd,
    budgetUsedPct: budgetUsed(native?.costUsd, registered?.totalCostUsd, options.maxBudgetUsd),
    forkedFrom: native?.forkedFrom,
    transcriptPath: native?.path,
  });
}

/** The file's own time; without a file, that of whoever knows the session. */
export function lastModifiedOf({
  native,
  archive,
  registered,
  running,
}: Omit<SessionSources, "native"> & { native?: IndexedFile | undefined }): number {
  return native?.modifiedAt ?? archive?.modifiedAt ?? registered?.lastResumedAt ?? running?.startedAt ?? 0;
}

/** By registry, else by marker. */
export function agentOf({ native, archive, registered }: SessionSources): string | undefined {
  return registered?.agentId ?? archive?.originMarker ?? readMarker(native?.firstPrompt ?? "").agentId;
}

function budgetUsed(estimated: number | undefined, counted: number | undefined, budget: number | undefined) {
  // A registry that has counted nothing yet knows less than the tokens do.
  const cost = counted === undefined || counted === 0 ? (estimated ?? counted) : counted;
  return cost === undefined || budget === undefined || budget <= 0 ? undefined : cost / budget;
}

function runningState({ pid, status, waitingFor }: RunningSession): NonNullable<DiscoveredSession["running"]> {
  return { pid, ...(status === undefined ? {} : { status }), ...(waitingFor === undefined ? {} : { waitingFor }) };
}

type Optional<T> = { [Name in keyof T as undefined extends T[Name] ? Name : never]: T[Name] | undefined };

/** What is not known stays absent: a member that is undefined would be another thing in JSON and in tests. */
function addPresent<T extends object>(row: T, members: Partial<Optional<T>>): T {
  const target = row as Record<string, unknown>;
  for (const name in members) if (members[name] !== undefined) target[name] = members[name];
  return row;
}
