/**
 * A session as somebody wrote it into a case file: short, in their own spelling, with whatever they
 * thought mattered. What they left out becomes what is usual: moderate, healthy, on the current branch.
 */
import { isRecord, type JsonRecord } from "../../base/json-record.ts";
import type { DiscoveredSession, TouchedFile } from "../discovered-session.ts";

interface CaseSurroundings {
  agentId: string;
  repoPath: string;
  currentBranch: string | undefined;
  /** In ms. */
  now: number;
}

const HOUR = 3_600_000;
const USUAL = { ageHours: 2, messageCount: 40, bytesPerMessage: 2_000 };
const HOURS_PER_UNIT: Record<string, number> = { s: 1 / 3600, m: 1 / 60, h: 1, d: 24, w: 168 };

export function caseSession(written: JsonRecord, around: CaseSurroundings, position: number): DiscoveredSession {
  const sessionId = caseSessionId(written, position);
  const prompts = texts(written, "prompts", "messages", "userPrompts", "user_prompts", "history");
  const title = text(written, "title", "name", "summary");
  const lastTask = text(written, "lastTask", "last_task", "task");
  const firstMessage = text(
    written,
    "firstMessage",
    "first_message",
    "firstPrompt",
    "first_prompt",
    "first",
    "prompt",
    "description",
  );
  const lastPrompt = text(written, "lastPrompt", "last_prompt", "lastMessage", "last_message", "last");
  const branch = text(written, "branch", "gitBranch", "git_branch", "lastBranch") ?? around.currentBranch ?? "";
  const messageCount = count(written, "messageCount", "message_count", "messages", "msgs") ?? USUAL.messageCount;
  const cost = count(written, "totalCostUsd", "costUsd", "cost");
  const budgetUsedPct = share(count(written, "budgetUsedPct", "budget_used_pct", "budgetUsed", "budget"));
  const agentId = text(written, "agentId", "agent_id", "agent") ?? around.agentId;
  const label = text(written, "label");
  return {
    sessionId,
    source: "openclaw",
    origin: agentId === around.agentId ? "this-agent" : "other-agent",
    agentId,
    repoPath: text(written, "repoPath", "repo") ?? around.repoPath,
    branch,
    branches: unique([...texts(written, "branches"), branch]),
    cwds: texts(written, "cwds"),
    firstMessage: firstMessage ?? prompts[0] ?? lastTask ?? title ?? "",
    prompts,
    lastModified: new Date(lastModified(written, around.now)),
    messageCount,
    userTurns: count(written, "userTurns", "user_turns", "turns") ?? Math.max(1, prompts.length),
    fileSizeBytes:
      count(written, "fileSizeBytes", "file_size_bytes", "sizeBytes", "size", "bytes") ??
      messageCount * USUAL.bytesPerMessage,
    totalInputTokens: count(written, "totalInputTokens", "inputTokens", "tokens", "totalTokens") ?? 0,
    totalOutputTokens: count(written, "totalOutputTokens", "outputTokens") ?? 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    contextTokens: count(written, "contextTokens") ?? 0,
    compactionCount: count(written, "compactionCount", "compaction_count", "compactions") ?? 0,
    models: [],
    subagentCount: 0,
    filesTouched: touchedFiles(written),
    isRunning: written["isRunning"] === true || written["running"] === true,
    damagedLines: 0,
    transcriptPath: `${sessionId}.jsonl`,
    ...(title === undefined ? {} : { title }),
    ...(lastTask === undefined ? {} : { lastTask }),
    ...(lastPrompt === undefined ? {} : { lastPrompt }),
    ...(label === undefined ? {} : { label }),
    ...(cost === undefined ? {} : { totalCostUsd: cost }),
    ...(budgetUsedPct === undefined ? {} : { budgetUsedPct }),
  };
}

export function caseSessionId(written: JsonRecord, position: number): string {
  return text(written, "sessionId", "session_id", "id", "session", "uuid") ?? `s${position + 1}`;
}

/** When a session was last used, if a point in time is written. In ms. */
export function writtenDate(written: JsonRecord): number | undefined {
  return moment(
    first(
      written,
      "lastModified",
      "last_modified",
      "modifiedAt",
      "updatedAt",
      "lastUsed",
      "lastUsedAt",
      "lastActive",
      "mtime",
    ),
  );
}

/** A point in time as an ISO string or a number of seconds or milliseconds. In ms. */
export function moment(value: unknown): number | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return value < 1e11 ? value * 1_000 : value;
  const parsed = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** The first of several spellings that is there. */
export function first(record: JsonRecord, ...names: string[]): unknown {
  return names.map((name) => record[name]).find((value) => value !== undefined && value !== null);
}

export function text(record: JsonRecord, ...names: string[]): string | undefined {
  const value = names
    .map((name) => record[name])
    .find((candidate) => typeof candidate === "string" || typeof candidate === "number");
  return value === undefined ? undefined : String(value);
}

export function texts(record: JsonRecord, ...names: string[]): string[] {
  const list = names.map((name) => record[name]).find(Array.isArray) ?? [];
  return list.flatMap((entry: unknown) => {
    if (typeof entry === "string") return [entry];
    const inside = isRecord(entry)
      ? text(entry, "text", "message", "subject", "content", "prompt", "title")
      : undefined;
    return inside === undefined ? [] : [inside];
  });
}

function count(record: JsonRecord, ...names: string[]): number | undefined {
  const value = names
    .map((name) => record[name])
    .find((candidate) => typeof candidate === "number" && Number.isFinite(candidate));
  return typeof value === "number" ? value : undefined;
}

/** 0.4 and 40 are both forty per cent. */
function share(value: number | undefined): number | undefined {
  return value !== undefined && value > 1 ? value / 100 : value;
}

function lastModified(written: JsonRecord, now: number): number {
  const hours =
    count(written, "ageHours", "age_hours", "hoursAgo", "hours_ago", "ageH", "age_h", "hours") ??
    scaled(count(written, "ageMinutes", "age_minutes", "minutesAgo", "minutes_ago"), 1 / 60) ??
    scaled(count(written, "ageDays", "age_days", "daysAgo", "days_ago"), 24) ??
    writtenAge(first(written, "age", "lastUsedAgo", "ago"));
  if (hours !== undefined) return now - hours * HOUR;
  return writtenDate(written) ?? now - USUAL.ageHours * HOUR;
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** `3h`, `2 days`, `30 min`, or a number of hours. */
function writtenAge(value: unknown): number | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  const match = typeof value === "string" ? /^\s*([\d.]+)\s*([a-z]?)/i.exec(value) : null;
  if (match === null) return undefined;
  const [, amount = "", unit = ""] = match;
  return Number(amount) * (HOURS_PER_UNIT[unit.toLowerCase()] ?? 1);
}

function touchedFiles(written: JsonRecord): TouchedFile[] {
  return [
    ...filesOf(first(written, "filesRead", "files_read"), false),
    ...filesOf(first(written, "filesTouched", "files_touched", "touchedFiles", "files"), true),
    ...filesOf(first(written, "filesEdited", "files_edited", "edited", "filesChanged"), true),
  ];
}

function filesOf(list: unknown, edited: boolean): TouchedFile[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    if (typeof entry === "string") return [{ path: entry, edited }];
    const path = isRecord(entry) ? text(entry, "path", "file", "name") : undefined;
    if (path === undefined || !isRecord(entry)) return [];
    return [{ path, edited: edited && entry["edited"] !== false && entry["action"] !== "read" }];
  });
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
