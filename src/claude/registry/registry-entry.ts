/** One session in a registry: the members that are known, read from a record of any version. */
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import type { RegistryDocument } from "./registry-file.ts";

export interface RegisteredSession {
  sessionId: string;
  agentId: string;
  repoPath: string;
  label?: string;
  /** In ms, like every instant here. */
  createdAt?: number;
  lastResumedAt?: number;
  totalCostUsd?: number;
  totalTurns?: number;
  /** Oldest first. */
  tasks: string[];
  /** False: another session has taken its place for this repo and label since. */
  current: boolean;
}

const LABEL_MARK = "::";

export function registryKey(repoPath: string, label?: string): string {
  return label === undefined ? repoPath : `${repoPath}${LABEL_MARK}${label}`;
}

/** What Holdfast keeps in the document beside OpenClaw's members. */
export interface OwnPart extends JsonRecord {
  /** Figures that were counted already, by process. */
  runs: Record<string, unknown>;
  /** Sessions that lost their key to a newer one, by session id. */
  former: Record<string, unknown>;
}

const OWN_PART = "holdfast";

export function ownPart(document: RegistryDocument): OwnPart {
  const own = document[OWN_PART];
  const known = isRecord(own) ? own : {};
  const part: OwnPart = { ...known, runs: recordOf(known["runs"]), former: recordOf(known["former"]) };
  document[OWN_PART] = part;
  return part;
}

/** Every session of the document; records without a session id are passed over. */
export function registeredSessions(agentId: string, document: RegistryDocument): RegisteredSession[] {
  const sessions: RegisteredSession[] = [];
  for (const [key, record] of Object.entries(document.sessions)) {
    const session = toRegisteredSession(agentId, key, record, true);
    if (session !== undefined) sessions.push(session);
  }
  const own = document[OWN_PART];
  for (const record of Object.values(recordOf(isRecord(own) ? own["former"] : undefined))) {
    const session = toRegisteredSession(agentId, "", record, false);
    if (session !== undefined) sessions.push(session);
  }
  return sessions;
}

function toRegisteredSession(
  agentId: string,
  key: string,
  record: unknown,
  current: boolean,
): RegisteredSession | undefined {
  if (!isRecord(record)) return undefined;
  const { sessionId } = record;
  if (typeof sessionId !== "string" || sessionId === "") return undefined;
  const { repoPath, label } = placeOf(key, record);
  const session: RegisteredSession = { sessionId, agentId, repoPath, tasks: taskTexts(record), current };
  if (label !== undefined) session.label = label;
  const createdAt = instant(record["createdAt"]);
  if (createdAt !== undefined) session.createdAt = createdAt;
  const lastResumedAt = instant(record["lastResumedAt"]) ?? createdAt;
  if (lastResumedAt !== undefined) session.lastResumedAt = lastResumedAt;
  const totalCostUsd = amount(record["totalCostUsd"]);
  if (totalCostUsd !== undefined) session.totalCostUsd = totalCostUsd;
  const totalTurns = amount(record["totalTurns"]);
  if (totalTurns !== undefined) session.totalTurns = totalTurns;
  return session;
}

/** A path may hold the mark too; where the record itself says what is path and label, that counts. */
function placeOf(key: string, record: JsonRecord): { repoPath: string; label?: string } {
  const label = typeof record["label"] === "string" && record["label"] !== "" ? record["label"] : undefined;
  const written = record["repoPath"];
  const withLabel = label === undefined ? {} : { label };
  if (typeof written === "string" && written !== "") return { repoPath: written, ...withLabel };
  if (label !== undefined && key.endsWith(`${LABEL_MARK}${label}`)) {
    return { repoPath: key.slice(0, -label.length - LABEL_MARK.length), label };
  }
  const mark = key.indexOf(LABEL_MARK);
  if (mark <= 0) return { repoPath: key, ...withLabel };
  return { repoPath: key.slice(0, mark), label: key.slice(mark + LABEL_MARK.length) };
}

function taskTexts(record: JsonRecord): string[] {
  const history = record["taskHistory"];
  if (!Array.isArray(history)) return [];
  return history.flatMap((item: unknown) => {
    const task = isRecord(item) ? item["task"] : item;
    return typeof task === "string" ? [task] : [];
  });
}

/** ISO text, or milliseconds as some versions write. */
function instant(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : value;
  return typeof at === "number" && Number.isFinite(at) ? at : undefined;
}

export function amount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}
