/**
 * What a run has cost, counted once. `total_cost_usd` grows with the process, not with the session: it
 * is reported again with every result, goes on over `/clear` into another session (newer CLIs begin anew
 * there), and in newer CLIs starts with what the resumed or forked session had cost before. So a run is
 * counted by difference:
 * - to what the same process had reported last, whichever session it was about, or
 * - for a process that reports first, to the most that the session (or the one it was forked from) had
 *   reached and that is not above its figure, unless its CLI is known to start from zero.
 * Repeating an update adds nothing. In doubt too little is counted, never the same money twice.
 */
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { carriesCostOver } from "../cost-carry-over.ts";
import { type RegistryPlace, registryPath } from "./registry.ts";
import { type OwnPart, amount, ownPart } from "./registry-entry.ts";
import { type RegistryDocument, changeRegistryFile, readRegistryFile } from "./registry-file.ts";

export interface RunStats {
  sessionId: string;
  /** Names one process for good: its pid and when it started. */
  runId: string;
  /** `total_cost_usd` of its latest result. */
  cumulativeCostUsd: number;
  /** Turns since the process began, of all its sessions. */
  turns: number;
  /** The version of Claude Code, when it is known. */
  cliVersion?: string | undefined;
  /** The session that this one was forked from, when it was. */
  forkedFrom?: string | undefined;
}

const MAX_RUNS = 200;

/** Adds what is new in the figures of a run to its session, which must have been saved. */
export async function updateSessionStats(place: RegistryPlace, stats: RunStats): Promise<void> {
  const at = (place.clock ?? systemClock).now();
  await changeRegistryFile(registryPath(place), place, (document) => {
    const records = findRecords(document, stats.sessionId);
    if (records.length === 0) throw notRegistered(stats.sessionId);
    const own = ownPart(document);
    const run = runOf(own, stats.runId);
    // Old news: the process has gone on to another session.
    if (run !== undefined && Object.hasOwn(run.left, stats.sessionId)) return;
    const counted = run === undefined ? carriedOver(document, own, stats) : countedOf(run, stats);
    const costUsd = Math.max(amount(stats.cumulativeCostUsd) ?? 0, counted.costUsd);
    const turns = Math.max(amount(stats.turns) ?? 0, counted.turns);
    for (const record of records) {
      record["totalCostUsd"] = sum(record["totalCostUsd"], costUsd - counted.costUsd);
      record["totalTurns"] = sum(record["totalTurns"], turns - counted.turns);
      record["lastResumedAt"] = new Date(at).toISOString();
    }
    delete own.runs[stats.runId];
    const left = run === undefined || run.sessionId === stats.sessionId ? run?.left : leave(run);
    own.runs[stats.runId] = { sessionId: stats.sessionId, costUsd, turns, at, ...(left === undefined ? {} : { left }) };
    const ids = Object.keys(own.runs);
    for (const id of ids.slice(0, Math.max(0, ids.length - MAX_RUNS))) delete own.runs[id];
  });
}

export interface SessionCosts {
  /** Over all its runs. */
  totalUsd: number;
  /** As Claude Code reported it last: that of a fork may hold what the original had cost. */
  reportedUsd: number;
}

/** Undefined when the agent's registry does not have the session. */
export async function readSessionCosts(place: RegistryPlace, sessionId: string): Promise<SessionCosts | undefined> {
  const document = await readRegistryFile(registryPath(place));
  const [record] = document === undefined ? [] : findRecords(document, sessionId);
  if (document === undefined || record === undefined) return undefined;
  const totalUsd = amount(record["totalCostUsd"]) ?? 0;
  return { totalUsd, reportedUsd: reportedFigures(document, ownPart(document), sessionId).at(-1) ?? totalUsd };
}

interface CountedRun {
  sessionId: string;
  costUsd: number;
  turns: number;
  /** What it had reported when it went on to another session, by the session that it left. */
  left: Record<string, number>;
}

function runOf(own: OwnPart, runId: string): CountedRun | undefined {
  const run = Object.hasOwn(own.runs, runId) ? own.runs[runId] : undefined;
  return isRecord(run) ? toRun(run) : undefined;
}

function toRun(run: JsonRecord): CountedRun {
  const left = isRecord(run["left"]) ? run["left"] : {};
  return {
    sessionId: typeof run["sessionId"] === "string" ? run["sessionId"] : "",
    costUsd: amount(run["costUsd"]) ?? 0,
    turns: amount(run["turns"]) ?? 0,
    left: Object.fromEntries(Object.entries(left).map(([id, cost]) => [id, amount(cost) ?? 0])),
  };
}

function leave({ sessionId, costUsd, left }: CountedRun): CountedRun["left"] {
  return { ...left, [sessionId]: costUsd };
}

type Counted = Pick<CountedRun, "costUsd" | "turns">;

function countedOf({ sessionId, costUsd, turns }: CountedRun, stats: RunStats): Counted {
  const hasBegunAnew = sessionId !== stats.sessionId && stats.cumulativeCostUsd < costUsd;
  return { costUsd: hasBegunAnew ? 0 : costUsd, turns };
}

/** Of what the session had reached, the most that can be in the figure. */
function carriedOver(document: RegistryDocument, own: OwnPart, stats: RunStats): Counted {
  if (stats.cliVersion !== undefined && carriesCostOver(stats.cliVersion) === false) return { costUsd: 0, turns: 0 };
  const figures = reportedFigures(document, own, stats.forkedFrom ?? stats.sessionId);
  return { costUsd: Math.max(0, ...figures.filter((figure) => figure <= stats.cumulativeCostUsd)), turns: 0 };
}

/** What each process of a session ended with, the last one last; of an entry without such, its total. */
function reportedFigures(document: RegistryDocument, own: OwnPart, sessionId: string): number[] {
  const figures = Object.values(own.runs)
    .filter(isRecord)
    .map(toRun)
    .flatMap((run) => (run.sessionId === sessionId ? run.costUsd : (run.left[sessionId] ?? [])))
    // A process that ended without a result has reported nothing.
    .filter((figure) => figure > 0);
  return figures.length > 0 ? figures : [amount(findRecords(document, sessionId)[0]?.["totalCostUsd"]) ?? 0];
}

/** More than one when a session has several labels. */
function findRecords(document: RegistryDocument, sessionId: string): JsonRecord[] {
  const records = [...Object.values(document.sessions), ...Object.values(ownPart(document).former)];
  return records.filter(isRecord).filter((record) => record["sessionId"] === sessionId);
}

/** To a billionth of a dollar: sums of decimal fractions else end in noise. */
function sum(before: unknown, more: number): number {
  return Math.round(((amount(before) ?? 0) + more) * 1e9) / 1e9;
}

function notRegistered(sessionId: string): HoldfastError {
  return new HoldfastError("not-found", "session-not-registered", `No registry entry has the session ${sessionId}`, {
    hint: "Save the session before its figures.",
    data: { sessionId },
  });
}
