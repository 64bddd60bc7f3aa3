/**
 * The format of an agent's `claude-code-sessions.json`: OpenClaw's members, Holdfast's own part, and the
 * sessions in both. Unknown members are kept. Holdfast's part has the agent's latest decisions about sessions.
 *
 * - A change is read, made and written under one lock, and the file is replaced atomically.
 * - A damaged file never counts as empty: readers get an error, and a writer sets it aside first.
 */
import { dirname } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { ensurePrivateFolder, readFileIfPresent, setAside, writeFileDurable } from "../../base/files.ts";
import { type JsonRecord, isRecord, listOf, recordOf } from "../../base/json-record.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { parseAgentSessionKey } from "../../keys/session-key.ts";
import type { SessionSelection } from "../selection/selection.ts";

export interface RegistryDocument extends JsonRecord {
  /** By `<repoPath>` or `<repoPath>::<label>`. */
  sessions: Record<string, unknown>;
}

export interface RegistryFileOptions {
  clock?: Clock | undefined;
  /** Receives a warning when a damaged file is set aside. */
  logger?: Logger | undefined;
}

export async function readRegistryFile(path: string): Promise<RegistryDocument | undefined> {
  const content = await readFileIfPresent(path);
  return content === undefined ? undefined : parseRegistry(path, content);
}

/** `change` modifies the document in place. */
export async function changeRegistryFile(
  path: string,
  { clock = systemClock, logger = silentLogger }: RegistryFileOptions,
  change: (document: RegistryDocument) => void,
): Promise<void> {
  await ensurePrivateFolder(dirname(path));
  await withFileLock(`${path}.lock`, { clock }, async () => {
    const document = (await readOrSetAside(path, clock, logger)) ?? { sessions: {} };
    change(document);
    await writeFileDurable(path, `${JSON.stringify(document, undefined, 2)}\n`);
  });
}

async function readOrSetAside(path: string, clock: Clock, logger: Logger): Promise<RegistryDocument | undefined> {
  try {
    return await readRegistryFile(path);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.kind !== "corrupt") throw error;
    const kept = await setAside(path, "corrupt", clock.now());
    logger.warn("A registry of Claude Code sessions could not be read and was set aside", { path, kept, error });
    return undefined;
  }
}

function parseRegistry(path: string, content: Buffer): RegistryDocument {
  let value: unknown;
  let reason = 'it is not a JSON object with a "sessions" object';
  try {
    value = JSON.parse(content.toString("utf8"));
  } catch (error) {
    reason = errorMessage(error);
  }
  if (isRecord(value) && isRecord(value["sessions"])) return value as RegistryDocument;
  throw new HoldfastError("corrupt", "registry-unreadable", `The session registry ${path} cannot be read: ${reason}`, {
    hint: "Repair or move the file. The sessions themselves are in Claude Code's own folder and are not affected.",
    data: { path },
  });
}

export interface OwnPart extends JsonRecord {
  /** Figures that were already counted, by process. */
  runs: Record<string, unknown>;
  /** Sessions that were replaced by a newer one, by session id. */
  former: Record<string, unknown>;
}

const OWN_PART = "holdfast";

export function ownPart(document: RegistryDocument): OwnPart {
  const own = recordOf(document[OWN_PART]);
  const part: OwnPart = { ...own, runs: recordOf(own["runs"]), former: recordOf(own["former"]) };
  document[OWN_PART] = part;
  return part;
}

export type RegisteredSession = NonNullable<ReturnType<typeof toRegisteredSession>>;

const LABEL_MARK = "::";

export function registryKey(repoPath: string, label?: string): string {
  return label === undefined ? repoPath : `${repoPath}${LABEL_MARK}${label}`;
}

/** Skips records without a session id. */
export function registeredSessions(agentId: string, document: RegistryDocument): RegisteredSession[] {
  const former = recordOf(recordOf(document[OWN_PART])["former"]);
  return [
    ...Object.entries(document.sessions).map(([key, record]) => toRegisteredSession(agentId, key, record, true)),
    ...Object.values(former).map((record) => toRegisteredSession(agentId, "", record, false)),
  ].filter((session) => session !== undefined);
}

function toRegisteredSession(agentId: string, key: string, record: unknown, current: boolean) {
  if (!isRecord(record)) return undefined;
  const { sessionId } = record;
  if (typeof sessionId !== "string" || sessionId === "") return undefined;
  const { repoPath, label } = placeOf(key, record);
  const createdAt = toTime(record["createdAt"]);
  return {
    sessionId,
    agentId,
    repoPath,
    label,
    /** The session key of the chat that uses it: no task and no other chat may resume it. */
    // Earlier versions stored only the label of a chat's lane.
    conversation: nonEmpty(record["conversation"]) ?? (label !== undefined && isChatLabel(label) ? label : undefined),
    /** In ms, like all times here. */
    createdAt,
    lastResumedAt: toTime(record["lastResumedAt"]) ?? createdAt,
    totalCostUsd: amount(record["totalCostUsd"]),
    totalTurns: amount(record["totalTurns"]),
    /** Oldest first. */
    tasks: taskTexts(record),
    /** Figures of this record that come from another registry, and its path. */
    imported: isRecord(record["imported"]) ? record["imported"] : undefined,
    /** False: another session has replaced it for this repo and label. */
    current,
  };
}

/** A path may contain `::` too, so path and label of the record itself come first. */
function placeOf(key: string, record: JsonRecord): { repoPath: string; label?: string | undefined } {
  const label = nonEmpty(record["label"]);
  const repoPath = nonEmpty(record["repoPath"]);
  if (repoPath !== undefined) return { repoPath, label };
  if (label !== undefined && key.endsWith(`${LABEL_MARK}${label}`)) {
    return { repoPath: key.slice(0, -label.length - LABEL_MARK.length), label };
  }
  const mark = key.indexOf(LABEL_MARK);
  if (mark <= 0) return { repoPath: key, label };
  return { repoPath: key.slice(0, mark), label: key.slice(mark + LABEL_MARK.length) };
}

/** The label of a chat is its session key, or a hash of it. */
export function isChatLabel(label: string): boolean {
  return /^chat-[0-9a-f]{32}$/.test(label) || parseAgentSessionKey(label) !== null;
}

function taskTexts(record: JsonRecord): string[] {
  return listOf(record["taskHistory"]).flatMap((item) => {
    const task = isRecord(item) ? item["task"] : item;
    return typeof task === "string" ? [task] : [];
  });
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** ISO text, or milliseconds as some versions write. */
function toTime(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : value;
  return typeof at === "number" && Number.isFinite(at) ? at : undefined;
}

export function amount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Removes the oldest members beyond `max`. */
export function keepNewest(members: JsonRecord, max: number): void {
  const names = Object.keys(members);
  for (const name of names.slice(0, Math.max(0, names.length - max))) delete members[name];
}

/** Rounds a sum to 1e-9: sums of decimal fractions are not exact. */
export function roundSum(sum: number): number {
  return Math.round(sum * 1e9) / 1e9;
}

export interface KeptDecision {
  /** ISO. */
  at: string;
  /** The session that the task ran in. */
  sessionId: string;
  repoPath: string;
  task: string;
  selection: KeptSelection;
  /** What the selection would have chosen, if the caller named a session or a fresh one. */
  suggested?: KeptSelection | undefined;
}

export type KeptSelection = ReturnType<typeof shortened>;

const MAX_DECISIONS = 100;
const MAX_CANDIDATES = 5;

export function keepDecision(
  document: RegistryDocument,
  run: Pick<KeptDecision, "at" | "sessionId" | "repoPath" | "task">,
  { suggested, ...selection }: SessionSelection,
): void {
  const own = ownPart(document);
  const kept: KeptDecision = {
    ...run,
    selection: shortened(selection),
    suggested: suggested === undefined ? undefined : shortened(suggested),
  };
  own["decisions"] = [...listOf(own["decisions"]), kept].slice(-MAX_DECISIONS);
}

/** `candidates` are the best ones, of all that were considered. */
function shortened({ scores, ...selection }: Omit<SessionSelection, "suggested">) {
  const candidates = scores.slice(0, MAX_CANDIDATES).map(({ relevance, evidence, score, ...rest }) => ({
    sessionId: rest.sessionId,
    score,
    factors: rest.factors,
    relevance: relevance.relevance,
    reason: rest.reason,
    evidence: evidence.map(({ text }) => text),
  }));
  return { ...selection, candidates, considered: scores.length };
}

/** Oldest first. Skips entries that cannot be read. */
export function keptDecisions(document: RegistryDocument): KeptDecision[] {
  return listOf(ownPart(document)["decisions"]).filter(isKeptDecision);
}

function isKeptDecision(value: unknown): value is KeptDecision {
  if (!isRecord(value) || !isKeptSelection(value["selection"])) return false;
  if (value["suggested"] !== undefined && !isKeptSelection(value["suggested"])) return false;
  return [value["at"], value["sessionId"], value["task"]].every((text) => typeof text === "string");
}

function isKeptSelection(value: unknown): value is KeptSelection {
  if (!isRecord(value) || typeof value["action"] !== "string" || typeof value["reason"] !== "string") return false;
  const { candidates } = value;
  return (
    Array.isArray(candidates) &&
    candidates.every((one) => isRecord(one) && typeof one["score"] === "number" && typeof one["relevance"] === "number")
  );
}

/** Whether the selection, had it decided alone, would have used the same session. */
export function isAsSuggested({ selection, suggested }: KeptDecision): boolean {
  if (suggested === undefined) return true;
  return (
    suggested.sessionId === selection.sessionId && (suggested.action === "fresh") === (selection.action === "fresh")
  );
}
