/**
 * Reads labelled cases for `holdfast cc eval`: one JSON object per line, or one JSON array
 * (docs/selection-cases.md). People write these files by hand, so common spellings are accepted and
 * missing facts get typical values. An error names the line that cannot be understood.
 */
import { readFile } from "node:fs/promises";
import { HoldfastError, errorMessage, fileError } from "../../base/errors.ts";
import { type JsonRecord, isRecord, listOf } from "../../base/json-record.ts";
import type { DiscoveredSession, TouchedFile } from "../discovered-session.ts";
import type { SelectionAction } from "./selection.ts";

export type SelectionCase = ReturnType<typeof toCase>;

export interface ExpectedDecision {
  action: SelectionAction;
  /** Undefined for `fresh`. */
  sessionId?: string | undefined;
}

const ACTIONS: readonly SelectionAction[] = ["resume", "fresh", "continue", "queue", "fork"];
/** The time of cases that give only ages. */
const DEFAULT_NOW = Date.UTC(2026, 0, 15, 12);
const HOUR = 3_600_000;
const TYPICAL = { ageHours: 2, messageCount: 40, bytesPerMessage: 2_000 };

export async function readCases(path: string): Promise<SelectionCase[]> {
  const content = await readFile(path, "utf8").catch((error: unknown) => {
    throw fileError(error, "read", path);
  });
  return parseCases(content, path);
}

/** `source` names the file in errors. */
export function parseCases(content: string, source: string): SelectionCase[] {
  const cases = parseRows(content, source).map(({ value, place }, index) => toCase(value, place, index));
  if (cases.length > 0) return cases;
  throw caseError(source, "contains no case", "Write one JSON object per line: docs/selection-cases.md.");
}

function parseRows(content: string, source: string): { value: unknown; place: string }[] {
  const text = content.replace(/^\uFEFF/, "");
  if (/^\s*\[/.test(text)) {
    const list = parseRow(text, source);
    return listOf(list).map((value, index) => ({ value, place: `${source}, case ${index + 1}` }));
  }
  return text.split("\n").flatMap((line, index) => {
    if (/^\s*(?:$|#|\/\/)/.test(line)) return [];
    const place = `${source}, line ${index + 1}`;
    return [{ value: parseRow(line, place), place }];
  });
}

function parseRow(json: string, place: string): unknown {
  try {
    return toCamelCase(JSON.parse(json));
  } catch (error) {
    throw caseError(place, `is not JSON: ${errorMessage(error)}`, "Each line must be one complete JSON object.");
  }
}

/** `first_message` and `firstMessage` are the same member. */
function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camelName(name), toCamelCase(member)]));
}

function camelName(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toCase(value: unknown, place: string, index: number) {
  if (!isRecord(value)) {
    const hint = 'A case looks like {"task": …, "sessions": […], "expected": "fresh"}.';
    throw caseError(place, "is not a JSON object", hint);
  }
  const task = text(value, "task", "prompt", "newTask", "input");
  if (task === undefined) throw caseError(place, 'has no "task"', 'Add "task": what the agent is asked to do.');
  const written = first(value, "sessions", "candidates") ?? [];
  if (!Array.isArray(written) || !written.every(isRecord)) {
    const hint = 'Write "sessions": [{"id": …, "firstMessage": …}].';
    throw caseError(place, 'has "sessions" that are not a list of objects', hint);
  }
  const context = contextOf(value, written);
  const sessions = written.map((session, position) => toSession(session, context, position));
  return {
    id: text(value, "id", "name", "case") ?? `case-${index + 1}`,
    /** What makes it hard: `paraphrase`, `look-alike` … */
    kind: text(value, "kind", "type", "category", "group") ?? kindInReason(value),
    task,
    ...context,
    sessions,
    /** The correct relevance by session id. Undefined unless every session is labelled. */
    relevance: labelledRelevance(written, value["relevance"]),
    expected: expectedDecision(value, sessions, place),
  };
}

type CaseContext = ReturnType<typeof contextOf>;

function contextOf(value: JsonRecord, sessions: readonly JsonRecord[]) {
  const repo = repoOf(value);
  const dates = sessions.flatMap((session) => writtenDate(session) ?? []);
  const commits = ["commits", "recentCommits", "commitSubjects", "log"];
  const subjects = texts(repo, ...commits);
  return {
    agentId: text(value, "agentId", "agent") ?? "main",
    repoPath: text(repo, "path", "repoPath") ?? text(value, "repoPath", "repo") ?? "/repo",
    /** Undefined in a folder without git. */
    currentBranch: text(repo, "currentBranch", "branch") ?? text(value, "currentBranch", "branch"),
    commitSubjects: subjects.length > 0 ? subjects : texts(value, ...commits),
    /** In ms. */
    now: toTime(value["now"]) ?? (dates.length === 0 ? DEFAULT_NOW : Math.max(...dates)),
  };
}

/** The state of the repo, wherever it is written: `repo`, `repoState`, `git` or `projectStatus.git`. */
function repoOf(value: JsonRecord): JsonRecord {
  const places = [first(value, "projectStatus", "status"), first(value, "repo", "repoState", "project", "git")];
  const records = places.flatMap((entry) => (isRecord(entry) ? [entry["git"], entry] : [])).filter(isRecord);
  return Object.assign({}, ...records.toReversed()) as JsonRecord;
}

/** `"why": "[paraphrase] …"` names the kind. */
function kindInReason(value: JsonRecord): string {
  return /^\[([^\]]+)\]/.exec(text(value, "why", "reason") ?? "")?.[1] ?? "other";
}

/** Written in each session, or in one object of the case by session id. */
function labelledRelevance(sessions: readonly JsonRecord[], ofCase: unknown): Map<string, number> | undefined {
  const labels = new Map<string, number>();
  for (const [position, session] of sessions.entries()) {
    const sessionId = sessionIdOf(session, position);
    const label = session["relevance"] ?? (isRecord(ofCase) ? ofCase[camelName(sessionId)] : undefined);
    if (typeof label !== "number") return undefined;
    labels.set(sessionId, label);
  }
  return labels.size === 0 ? undefined : labels;
}

function expectedDecision(value: JsonRecord, sessions: readonly DiscoveredSession[], place: string): ExpectedDecision {
  const written = first(value, "expected", "expect", "decision", "answer", "label", "right", "want") ?? value;
  const fromObject = isRecord(written) ? fromRecord(written) : undefined;
  const decision = typeof written === "string" ? fromWord(written, sessions) : fromObject;
  const hint = 'Write "expected": "fresh", or "expected": {"resume": "<session id>"}.';
  if (decision === undefined) throw caseError(place, "does not say which decision is right", hint);
  const { action, sessionId } = decision;
  if (action === "fresh") return { action };
  if (sessions.some((session) => session.sessionId === sessionId)) return decision;
  const problem = `expects ${action} of a session that is not in its list: ${sessionId ?? "none is named"}`;
  throw caseError(place, problem, hint);
}

/** `fresh`, `resume:s1`, `resume s1`, or the id alone. */
function fromWord(word: string, sessions: readonly DiscoveredSession[]): ExpectedDecision | undefined {
  const known = sessions.find((session) => session.sessionId === word.trim());
  if (known !== undefined) return { action: "resume", sessionId: known.sessionId };
  const [, name = "", sessionId = ""] = /^\s*([a-z]+)(?:[\s:=(]+(.*?)\)?\s*)?$/i.exec(word) ?? [];
  const action = toAction(name);
  if (action === undefined) return undefined;
  if (sessionId !== "") return { action, sessionId };
  return { action, sessionId: sessions.length === 1 ? sessions[0]?.sessionId : undefined };
}

function fromRecord(record: JsonRecord): ExpectedDecision | undefined {
  const named = ACTIONS.find((action) => typeof record[action] === "string" || record[action] === true);
  const action = named ?? toAction(text(record, "action", "decision", "kind") ?? "");
  if (action === undefined) return undefined;
  const target = named === undefined ? undefined : record[named];
  return { action, sessionId: typeof target === "string" ? target : text(record, "sessionId", "session", "id") };
}

function toAction(word: string): SelectionAction | undefined {
  const lower = word.toLowerCase();
  return lower === "new" || lower === "none" ? "fresh" : ACTIONS.find((action) => action === lower);
}

function toSession(written: JsonRecord, context: CaseContext, position: number): DiscoveredSession {
  const sessionId = sessionIdOf(written, position);
  const prompts = texts(written, "prompts", "messages", "userPrompts", "history");
  const title = text(written, "title", "name", "summary");
  const lastTask = text(written, "lastTask", "task");
  const firstMessage = text(written, "firstMessage", "firstPrompt", "first", "prompt", "description");
  const branch = text(written, "branch", "gitBranch", "lastBranch") ?? context.currentBranch ?? "";
  const messageCount = count(written, "messageCount", "messages", "msgs") ?? TYPICAL.messageCount;
  const agentId = text(written, "agentId", "agent") ?? context.agentId;
  const fileSizeBytes = count(written, "fileSizeBytes", "sizeBytes", "size", "bytes");
  return {
    sessionId,
    source: "openclaw",
    origin: agentId === context.agentId ? "this-agent" : "other-agent",
    agentId,
    repoPath: text(written, "repoPath", "repo") ?? context.repoPath,
    branch,
    branches: [...new Set([...texts(written, "branches"), branch])],
    cwds: texts(written, "cwds"),
    firstMessage: firstMessage ?? prompts[0] ?? lastTask ?? title ?? "",
    prompts,
    lastModified: new Date(lastModified(written, context.now)),
    messageCount,
    userTurns: count(written, "userTurns", "turns") ?? Math.max(1, prompts.length),
    fileSizeBytes: fileSizeBytes ?? messageCount * TYPICAL.bytesPerMessage,
    totalInputTokens: count(written, "totalInputTokens", "inputTokens", "tokens", "totalTokens") ?? 0,
    totalOutputTokens: count(written, "totalOutputTokens", "outputTokens") ?? 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    contextTokens: count(written, "contextTokens") ?? 0,
    compactionCount: count(written, "compactionCount", "compactions") ?? 0,
    models: [],
    subagentCount: 0,
    filesTouched: touchedFiles(written),
    isRunning: written["isRunning"] === true || written["running"] === true,
    damagedLines: 0,
    transcriptPath: `${sessionId}.jsonl`,
    title,
    lastTask,
    lastPrompt: text(written, "lastPrompt", "lastMessage", "last"),
    label: text(written, "label"),
    totalCostUsd: count(written, "totalCostUsd", "costUsd", "cost"),
    budgetUsedPct: toShare(count(written, "budgetUsedPct", "budgetUsed", "budget")),
  };
}

function sessionIdOf(written: JsonRecord, position: number): string {
  return text(written, "sessionId", "id", "session", "uuid") ?? `s${position + 1}`;
}

/** 0.4 and 40 both mean 40 %. */
function toShare(value: number | undefined): number | undefined {
  return value !== undefined && value > 1 ? value / 100 : value;
}

function lastModified(written: JsonRecord, now: number): number {
  const minutes = count(written, "ageMinutes", "minutesAgo");
  const days = count(written, "ageDays", "daysAgo");
  const hours =
    count(written, "ageHours", "hoursAgo", "ageH", "hours") ??
    (minutes === undefined ? undefined : minutes / 60) ??
    (days === undefined ? undefined : days * 24) ??
    writtenAge(first(written, "age", "lastUsedAgo", "ago"));
  if (hours !== undefined) return now - hours * HOUR;
  return writtenDate(written) ?? now - TYPICAL.ageHours * HOUR;
}

const HOURS_PER_UNIT: Record<string, number> = { s: 1 / 3600, m: 1 / 60, h: 1, d: 24, w: 168 };

/** `3h`, `2 days`, `30 min`, or a number of hours. */
function writtenAge(value: unknown): number | undefined {
  if (isNumber(value)) return value;
  const match = typeof value === "string" ? /^\s*([\d.]+)\s*([a-z]?)/i.exec(value) : null;
  if (match === null) return undefined;
  const [, amount = "", unit = ""] = match;
  return Number(amount) * (HOURS_PER_UNIT[unit.toLowerCase()] ?? 1);
}

function writtenDate(written: JsonRecord): number | undefined {
  const names = ["lastModified", "modifiedAt", "updatedAt", "lastUsed", "lastUsedAt", "lastActive", "mtime"];
  return toTime(first(written, ...names));
}

/** An ISO string, or a number of seconds or milliseconds. Returns ms. */
function toTime(value: unknown): number | undefined {
  if (isNumber(value)) return value < 1e11 ? value * 1_000 : value;
  const parsed = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

function touchedFiles(written: JsonRecord): TouchedFile[] {
  return [
    ...filesOf(first(written, "filesRead"), false),
    ...filesOf(first(written, "filesTouched", "touchedFiles", "files"), true),
    ...filesOf(first(written, "filesEdited", "edited", "filesChanged"), true),
  ];
}

function filesOf(list: unknown, edited: boolean): TouchedFile[] {
  return listOf(list).flatMap((entry) => {
    if (typeof entry === "string") return [{ path: entry, edited }];
    const path = isRecord(entry) ? text(entry, "path", "file", "name") : undefined;
    if (path === undefined || !isRecord(entry)) return [];
    return [{ path, edited: edited && entry["edited"] !== false && entry["action"] !== "read" }];
  });
}

/** The first member that is present, of several spellings. */
function first(record: JsonRecord, ...names: string[]): unknown {
  return names.map((name) => record[name]).find((value) => value !== undefined && value !== null);
}

function text(record: JsonRecord, ...names: string[]): string | undefined {
  const value = names.map((name) => record[name]).find(isText);
  return value === undefined ? undefined : String(value);
}

function isText(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function count(record: JsonRecord, ...names: string[]): number | undefined {
  return names.map((name) => record[name]).find(isNumber);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function texts(record: JsonRecord, ...names: string[]): string[] {
  return listOf(names.map((name) => record[name]).find(Array.isArray)).flatMap((entry) => {
    if (typeof entry === "string") return [entry];
    if (!isRecord(entry)) return [];
    return text(entry, "text", "message", "subject", "content", "prompt", "title") ?? [];
  });
}

function caseError(place: string, message: string, hint: string): HoldfastError {
  return new HoldfastError("usage", "selection-case-invalid", `${place} ${message}.`, { hint, data: { place } });
}
