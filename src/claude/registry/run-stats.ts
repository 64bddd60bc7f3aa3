/**
 * Counts the cost of each run once. `total_cost_usd` belongs to the process, not to the session: every
 * result repeats it, it continues after `/clear` (newer CLIs restart it), and in newer CLIs it includes
 * the earlier cost of a resumed or forked session. So a run is counted by difference:
 *
 * - to the last report of the same process, whichever session that was about;
 * - for the first report, to the highest known figure of the session (or of its original) that is not above
 *   the report, unless this CLI version starts from zero.
 *
 * Repeating an update adds nothing. When in doubt, too little is counted rather than the same cost twice.
 */
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type JsonRecord, isRecord, recordOf } from "../../base/json-record.ts";
import { type RegistryPlace, registryPath } from "./registry.ts";
import {
  type OwnPart,
  type RegistryDocument,
  amount,
  changeRegistryFile,
  keepNewest,
  ownPart,
  readRegistryFile,
  roundSum,
} from "./registry-file.ts";

export interface RunStats {
  sessionId: string;
  /** Unique per process. */
  runId: string;
  /** `total_cost_usd` of its latest result. */
  cumulativeCostUsd: number;
  /** All turns of the process, over all its sessions. */
  turns: number;
  cliVersion?: string | undefined;
  /** The original of a forked session. */
  forkedFrom?: string | undefined;
  /** Cost that other registries have counted; a CLI that carries costs over includes it. Default: 0. */
  elsewhereUsd?: number | undefined;
}

const MAX_RUNS = 200;

/** Adds the new part of a run's figures to its session. The session must have been saved. */
export async function updateSessionStats(place: RegistryPlace, stats: RunStats): Promise<void> {
  const { sessionId, runId } = stats;
  const at = (place.clock ?? systemClock).now();
  await changeRegistryFile(registryPath(place), place, (document) => {
    const records = findRecords(document, sessionId);
    if (records.length === 0) {
      const message = `The registry has no session ${sessionId}`;
      const hint = "Save the session before you record its costs.";
      throw new HoldfastError("not-found", "session-not-registered", message, { hint, data: { sessionId } });
    }
    const own = ownPart(document);
    const run = runOf(own, runId);
    // A late report: the process has moved to another session since.
    if (run !== undefined && Object.hasOwn(run.left, sessionId)) return;
    const counted = run === undefined ? carriedOver(document, own, stats) : countedOf(run, stats);
    const costUsd = Math.max(amount(stats.cumulativeCostUsd) ?? 0, counted.costUsd);
    const turns = Math.max(amount(stats.turns) ?? 0, counted.turns);
    for (const record of records) {
      record["totalCostUsd"] = roundSum((amount(record["totalCostUsd"]) ?? 0) + costUsd - counted.costUsd);
      record["totalTurns"] = roundSum((amount(record["totalTurns"]) ?? 0) + turns - counted.turns);
      record["lastResumedAt"] = new Date(at).toISOString();
    }
    // Deleted first, so that the newest run is always the last key.
    delete own.runs[runId];
    own.runs[runId] = { sessionId, costUsd, turns, at, left: run && leftSessions(run, sessionId) };
    keepNewest(own.runs, MAX_RUNS);
  });
}

export interface SessionCosts {
  totalUsd: number;
  /** As Claude Code last reported it; the figure of a fork may include the original. Undefined: unknown. */
  reportedUsd: number | undefined;
}

export async function readSessionCosts(place: RegistryPlace, sessionId: string): Promise<SessionCosts | undefined> {
  const document = await readRegistryFile(registryPath(place));
  const [record] = document === undefined ? [] : findRecords(document, sessionId);
  if (document === undefined || record === undefined) return undefined;
  const totalUsd = amount(record["totalCostUsd"]) ?? 0;
  return { totalUsd, reportedUsd: reportedFigures(document, ownPart(document), sessionId).at(-1) ?? totalUsd };
}

type CountedRun = ReturnType<typeof toRun>;

function runOf(own: OwnPart, runId: string): CountedRun | undefined {
  const run = Object.hasOwn(own.runs, runId) ? own.runs[runId] : undefined;
  return isRecord(run) ? toRun(run) : undefined;
}

function toRun(run: JsonRecord) {
  return {
    sessionId: typeof run["sessionId"] === "string" ? run["sessionId"] : "",
    costUsd: amount(run["costUsd"]) ?? 0,
    turns: amount(run["turns"]) ?? 0,
    /** The reported cost when the process left a session, by session id. */
    left: Object.fromEntries(Object.entries(recordOf(run["left"])).map(([id, cost]) => [id, amount(cost) ?? 0])),
  };
}

function leftSessions({ sessionId, costUsd, left }: CountedRun, current: string): CountedRun["left"] {
  return sessionId === current ? left : { ...left, [sessionId]: costUsd };
}

type Counted = Pick<CountedRun, "costUsd" | "turns">;

function countedOf({ sessionId, costUsd, turns }: CountedRun, stats: RunStats): Counted {
  const hasRestarted = sessionId !== stats.sessionId && stats.cumulativeCostUsd < costUsd;
  return { costUsd: hasRestarted ? 0 : costUsd, turns };
}

/** The part of a first report that was already counted. */
function carriedOver(document: RegistryDocument, own: OwnPart, stats: RunStats): Counted {
  if (stats.cliVersion !== undefined && carriesCostOver(stats.cliVersion) === false) return { costUsd: 0, turns: 0 };
  const known = reportedFigures(document, own, stats.forkedFrom ?? stats.sessionId);
  const elsewhere = amount(stats.elsewhereUsd) ?? 0;
  const figures = [...known, elsewhere, elsewhere + (known.at(-1) ?? 0)];
  return { costUsd: Math.max(0, ...figures.filter((figure) => figure <= stats.cumulativeCostUsd)), turns: 0 };
}

/** The last report of each process of a session, newest last; the total of an entry without reports. */
function reportedFigures(document: RegistryDocument, own: OwnPart, sessionId: string): number[] {
  const figures = Object.values(own.runs)
    .filter(isRecord)
    .map(toRun)
    .flatMap((run) => (run.sessionId === sessionId ? run.costUsd : (run.left[sessionId] ?? [])))
    // A process that ended without a result reported nothing.
    .filter((figure) => figure > 0);
  return figures.length > 0 ? figures : [amount(findRecords(document, sessionId)[0]?.["totalCostUsd"]) ?? 0];
}

/** Several when a session has several labels. */
function findRecords(document: RegistryDocument, sessionId: string): JsonRecord[] {
  const records = [...Object.values(document.sessions), ...Object.values(ownPart(document).former)];
  return records.filter(isRecord).filter((record) => record["sessionId"] === sessionId);
}

const CARRIES_FROM = [2, 1, 325];
const CARRIES_NOT_UP_TO = [2, 1, 197];

/**
 * Whether a `claude` of this version that resumes or forks a session includes the session's earlier cost in
 * `total_cost_usd`. Measured for two versions; undefined between them and for an unreadable version.
 */
export function carriesCostOver(cliVersion: string): boolean | undefined {
  const parts = cliVersion.split(".").map((part) => Number.parseInt(part, 10));
  if (parts.length < 3 || parts.some(Number.isNaN)) return undefined;
  if (compare(parts, CARRIES_FROM) >= 0) return true;
  return compare(parts, CARRIES_NOT_UP_TO) <= 0 ? false : undefined;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = [0, 1, 2].find((index) => a[index] !== b[index]) ?? 0;
  return (a[at] ?? 0) - (b[at] ?? 0);
}
