/**
 * Labelled cases for measuring selection: one JSON object a line, or one JSON array
 * (docs/selection-cases.md). People bring files of their own, so obvious spellings are understood and
 * missing facts get usual values; what cannot be understood is an error that names its line.
 */
import { readFile } from "node:fs/promises";
import { errorMessage, fileError, HoldfastError } from "../../base/errors.ts";
import { isRecord, type JsonRecord } from "../../base/json-record.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { caseSession, caseSessionId, first, moment, text, texts, writtenDate } from "./case-session.ts";
import type { SelectionAction } from "./selection.ts";

export interface SelectionCase {
  id: string;
  /** What makes it hard: `paraphrase`, `look-alike` … */
  kind: string;
  task: string;
  repoPath: string;
  agentId: string;
  /** Missing in a folder without git. */
  currentBranch?: string;
  commitSubjects: string[];
  /** In ms. */
  now: number;
  sessions: DiscoveredSession[];
  /** What a model that judges rightly would say, by session id; only when every session is labelled. */
  relevance?: ReadonlyMap<string, number>;
  expected: ExpectedDecision;
}

export interface ExpectedDecision {
  action: SelectionAction;
  /** Missing for `fresh`. */
  sessionId?: string;
}

/** A moment for cases that speak of ages only. */
const ANY_NOON = Date.UTC(2026, 0, 15, 12);
const ACTIONS: readonly SelectionAction[] = ["resume", "fresh", "continue", "queue", "fork"];

export async function readCases(path: string): Promise<SelectionCase[]> {
  const content = await readFile(path, "utf8").catch((error: unknown) => {
    throw fileError(error, "read", path);
  });
  return parseCases(content, path);
}

/** `source` names the file in errors. */
export function parseCases(content: string, source: string): SelectionCase[] {
  const cases = rows(content, source).map(({ value, place }, index) => toCase(value, place, index));
  if (cases.length === 0)
    throw caseError(source, "holds no case", "Write one JSON object a line: docs/selection-cases.md.");
  return cases;
}

function rows(content: string, source: string): { value: unknown; place: string }[] {
  const trimmed = content.replace(/^\uFEFF/, "");
  if (/^\s*\[/.test(trimmed)) {
    const list = parseJson(trimmed, source);
    return (Array.isArray(list) ? list : []).map((value: unknown, index) => ({
      value,
      place: `${source}, case ${index + 1}`,
    }));
  }
  return trimmed.split("\n").flatMap((line, index) => {
    if (/^\s*(?:$|#|\/\/)/.test(line)) return [];
    const place = `${source}, line ${index + 1}`;
    return [{ value: parseJson(line, place), place }];
  });
}

function parseJson(json: string, place: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (error) {
    throw caseError(place, `is not JSON: ${errorMessage(error)}`, "Each line must be one whole JSON object.");
  }
}

function toCase(value: unknown, place: string, index: number): SelectionCase {
  if (!isRecord(value))
    throw caseError(
      place,
      "is not a JSON object",
      'A case looks like {"task": …, "sessions": […], "expected": "fresh"}.',
    );
  const task = text(value, "task", "prompt", "newTask", "input");
  if (task === undefined) throw caseError(place, 'has no "task"', 'Add "task": what the agent is asked to do.');
  const written = first(value, "sessions", "candidates") ?? [];
  if (!Array.isArray(written) || !written.every(isRecord)) {
    throw caseError(
      place,
      'has "sessions" that are no list of objects',
      'Write "sessions": [{"id": …, "firstMessage": …}].',
    );
  }
  const around = surroundings(value, written);
  const sessions = written.map((session, position) => caseSession(session, around, position));
  const relevance = rightRelevance(written);
  const { currentBranch, ...rest } = around;
  return {
    id: text(value, "id", "name", "case") ?? `case-${index + 1}`,
    kind: text(value, "kind", "type", "category", "group") ?? "other",
    task,
    ...rest,
    ...(currentBranch === undefined ? {} : { currentBranch }),
    commitSubjects: commitSubjects(value),
    sessions,
    ...(relevance === undefined ? {} : { relevance }),
    expected: expectedDecision(value, sessions, place),
  };
}

function surroundings(value: JsonRecord, sessions: readonly JsonRecord[]) {
  const repo = repoOf(value);
  const dates = sessions.flatMap((session) => writtenDate(session) ?? []);
  const branch =
    text(repo, "currentBranch", "current_branch", "branch") ?? text(value, "currentBranch", "current_branch", "branch");
  return {
    agentId: text(value, "agentId", "agent_id", "agent") ?? "main",
    repoPath: text(repo, "path", "repoPath") ?? text(value, "repoPath", "repo_path", "repo") ?? "/repo",
    currentBranch: branch,
    now: moment(value["now"]) ?? (dates.length === 0 ? ANY_NOON : Math.max(...dates)),
  };
}

/** Where the state of the repo is written: `repo`, `repoState`, `git`, `projectStatus.git`, or the case itself. */
function repoOf(value: JsonRecord): JsonRecord {
  const status = [
    first(value, "projectStatus", "project_status", "status"),
    first(value, "repo", "repoState", "repo_state", "project", "git"),
  ];
  const candidates = status.flatMap((entry) => (isRecord(entry) ? [entry["git"], entry] : [])).filter(isRecord);
  return Object.assign({}, ...candidates.toReversed()) as JsonRecord;
}

function commitSubjects(value: JsonRecord): string[] {
  const names = ["commits", "recentCommits", "recent_commits", "commitSubjects", "log"];
  const own = texts(repoOf(value), ...names);
  return own.length > 0 ? own : texts(value, ...names);
}

function rightRelevance(sessions: readonly JsonRecord[]): Map<string, number> | undefined {
  const labelled = sessions.flatMap((session, position) =>
    typeof session["relevance"] === "number" ? [[caseSessionId(session, position), session["relevance"]] as const] : [],
  );
  return labelled.length < sessions.length || sessions.length === 0 ? undefined : new Map(labelled);
}

function expectedDecision(value: JsonRecord, sessions: readonly DiscoveredSession[], place: string): ExpectedDecision {
  const written = first(value, "expected", "expect", "decision", "answer", "label", "right", "want") ?? value;
  const decision =
    typeof written === "string" ? fromWord(written, sessions) : isRecord(written) ? fromRecord(written) : undefined;
  const hint = 'Write "expected": "fresh", or "expected": {"resume": "<session id>"}.';
  if (decision === undefined) throw caseError(place, "does not say what is right", hint);
  const { action, sessionId } = decision;
  if (action === "fresh") return { action };
  if (sessionId === undefined || !sessions.some((session) => session.sessionId === sessionId)) {
    throw caseError(
      place,
      `expects ${action} of a session that is not among its sessions: ${sessionId ?? "none is named"}`,
      hint,
    );
  }
  return decision;
}

/** `fresh`, `resume:s1`, `resume s1`, or the id alone. */
function fromWord(word: string, sessions: readonly DiscoveredSession[]): ExpectedDecision | undefined {
  const known = sessions.find((session) => session.sessionId === word.trim());
  if (known !== undefined) return { action: "resume", sessionId: known.sessionId };
  const [, name = "", sessionId] = /^\s*([a-z]+)(?:[\s:=(]+(.*?)\)?\s*)?$/i.exec(word) ?? [];
  const action = toAction(name);
  if (action === undefined) return undefined;
  if (sessionId !== undefined && sessionId !== "") return { action, sessionId };
  const [only, ...others] = sessions;
  return only !== undefined && others.length === 0 && action !== "fresh"
    ? { action, sessionId: only.sessionId }
    : { action };
}

function fromRecord(record: JsonRecord): ExpectedDecision | undefined {
  const named = ACTIONS.find((action) => typeof record[action] === "string" || record[action] === true);
  const action = named ?? toAction(text(record, "action", "decision", "kind") ?? "");
  if (action === undefined) return undefined;
  const target = named === undefined ? undefined : record[named];
  const sessionId = typeof target === "string" ? target : text(record, "sessionId", "session_id", "session", "id");
  return action === "fresh" || sessionId === undefined ? { action } : { action, sessionId };
}

function toAction(word: string): SelectionAction | undefined {
  const lower = word.toLowerCase();
  return lower === "new" || lower === "none" ? "fresh" : ACTIONS.find((action) => action === lower);
}

function caseError(place: string, message: string, hint: string): HoldfastError {
  return new HoldfastError("usage", "selection-case-invalid", `${place} ${message}.`, { hint, data: { place } });
}
