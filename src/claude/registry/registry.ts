/**
 * Which native session an agent uses for which repo, and what it has cost. OpenClaw's format: a
 * session per repo, and per label beside it. A session that is replaced stays known as a former one,
 * so that its work still counts as the agent's own.
 */
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { readFolderIfPresent } from "../../base/files.ts";
import { type JsonRecord, isRecord } from "../../base/json-record.ts";
import { CLAUDE_REGISTRY_NAME, agentLayout, agentsFolder } from "../../config/layout.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { checkAgentId } from "../attribution.ts";
import { type RegisteredSession, ownPart, registeredSessions, registryKey } from "./registry-entry.ts";
import {
  type RegistryDocument,
  type RegistryFileOptions,
  changeRegistryFile,
  readRegistryFile,
} from "./registry-file.ts";

/** Whose registry. */
export interface RegistryPlace extends RegistryFileOptions {
  home: string;
  agentId: string;
}

export interface SaveSessionOptions {
  /** The worktree that it works in. */
  repoPath: string;
  label?: string;
  sessionId: string;
  /** What it was asked to do this time. */
  task?: string;
}

const MAX_TASKS = 50;
const MAX_TASK_LENGTH = 500;
const MAX_FORMER = 1000;
const MAX_LABEL_LENGTH = 100;

/** The session for this repo and label, if the agent has one. */
export async function resolveSession(
  place: RegistryPlace,
  repoPath: string,
  label?: string,
): Promise<string | undefined> {
  const document = await readRegistryFile(registryPath(place));
  if (document === undefined) return undefined;
  const wanted = label === undefined ? undefined : checkLabel(label);
  const path = realPath(repoPath);
  const fits = registeredSessions(place.agentId, document)
    .filter((session) => session.current && session.label === wanted && realPath(session.repoPath) === path)
    .toSorted((a, b) => (b.lastResumedAt ?? 0) - (a.lastResumedAt ?? 0));
  return fits[0]?.sessionId;
}

/** Notes that a session was started or resumed. A session that had the same repo and label becomes a former one. */
export async function saveSession(place: RegistryPlace, options: SaveSessionOptions): Promise<void> {
  checkSessionId(options.sessionId);
  const label = options.label === undefined ? undefined : checkLabel(options.label);
  const repoPath = realPath(options.repoPath);
  const at = new Date((place.clock ?? systemClock).now()).toISOString();
  await changeRegistryFile(registryPath(place), place, (document) => {
    const key = keyOf(document, repoPath, label) ?? registryKey(repoPath, label);
    const before = document.sessions[key];
    const returning = takeFormer(document, options.sessionId);
    let record: JsonRecord | undefined;
    if (isRecord(before) && before["sessionId"] === options.sessionId) record = before;
    else if (isRecord(before)) keepAsFormer(document, before, repoPath, label);
    record ??= returning ??
      underAnotherKey(document, options.sessionId) ?? {
        sessionId: options.sessionId,
        createdAt: at,
        totalCostUsd: 0,
        totalTurns: 0,
      };
    const tasks = Array.isArray(record["taskHistory"]) ? (record["taskHistory"] as unknown[]) : [];
    const task = options.task === undefined ? [] : [{ task: cut(options.task), at }];
    document.sessions[key] = {
      ...record,
      repoPath,
      lastResumedAt: at,
      taskHistory: [...tasks, ...task].slice(-MAX_TASKS),
      ...(label === undefined ? {} : { label }),
    };
  });
}

export interface RegistryProblem {
  path: string;
  error: unknown;
}

/** The sessions in the registries of all agents, Holdfast's and OpenClaw's; what cannot be read is told. */
export async function listAllSessions(places: {
  home: string;
  openClawHome?: string | undefined;
}): Promise<{ sessions: RegisteredSession[]; problems: RegistryProblem[] }> {
  const homes = [places.home, ...(places.openClawHome === undefined ? [] : [places.openClawHome])];
  const found = await Promise.all(homes.map(readHome));
  return { sessions: found.flatMap((one) => one.sessions), problems: found.flatMap((one) => one.problems) };
}

async function readHome(home: string): Promise<{ sessions: RegisteredSession[]; problems: RegistryProblem[] }> {
  const sessions: RegisteredSession[] = [];
  const problems: RegistryProblem[] = [];
  const folder = agentsFolder(home);
  const read = async (name: string): Promise<void> => {
    const path = join(folder, name, CLAUDE_REGISTRY_NAME);
    try {
      const document = await readRegistryFile(path);
      if (document !== undefined) sessions.push(...registeredSessions(normalizeAgentId(name), document));
    } catch (error) {
      problems.push({ path, error });
    }
  };
  const agents = (await readFolderIfPresent(folder)).filter((entry) => entry.isDirectory() || entry.isSymbolicLink());
  await Promise.all(agents.map(async ({ name }) => await read(name)));
  return { sessions, problems };
}

export function registryPath({ home, agentId }: RegistryPlace): string {
  checkAgentId(agentId);
  return agentLayout(home, agentId).claudeRegistry;
}

/** The key under which an entry for this place stands already, perhaps written through another path to it. */
function keyOf(document: RegistryDocument, repoPath: string, label: string | undefined): string | undefined {
  const exact = registryKey(repoPath, label);
  if (isRecord(document.sessions[exact])) return exact;
  return Object.keys(document.sessions).find((key) => {
    const [session] = registeredSessions("", { sessions: { [key]: document.sessions[key] } });
    return session !== undefined && session.label === label && realPath(session.repoPath) === repoPath;
  });
}

function keepAsFormer(document: RegistryDocument, record: JsonRecord, repoPath: string, label?: string): void {
  const { sessionId } = record;
  if (typeof sessionId !== "string") return;
  const own = ownPart(document);
  own.former[sessionId] = { ...record, repoPath, ...(label === undefined ? {} : { label }) };
  const ids = Object.keys(own.former);
  for (const id of ids.slice(0, Math.max(0, ids.length - MAX_FORMER))) delete own.former[id];
}

/** What is known of a session that has another label: it is the same session, with the same costs. */
function underAnotherKey(document: RegistryDocument, sessionId: string): JsonRecord | undefined {
  const record = Object.values(document.sessions).find((one) => isRecord(one) && one["sessionId"] === sessionId);
  return isRecord(record) ? withoutLabel(record) : undefined;
}

function takeFormer(document: RegistryDocument, sessionId: string): JsonRecord | undefined {
  const own = ownPart(document);
  const record = Object.hasOwn(own.former, sessionId) ? own.former[sessionId] : undefined;
  if (!isRecord(record)) return undefined;
  delete own.former[sessionId];
  return withoutLabel(record);
}

function withoutLabel(record: JsonRecord): JsonRecord {
  const { label: _, ...rest } = record;
  return rest;
}

/** It becomes a key of the document. */
function checkSessionId(sessionId: string): void {
  if (/^[A-Za-z0-9][\w-]{0,127}$/.test(sessionId)) return;
  throw new HoldfastError("usage", "invalid-session-id", `${JSON.stringify(sessionId)} cannot be a session id`, {
    hint: "Give the id as Claude Code reports it.",
  });
}

/** The label as it is kept; one that cannot be kept is refused. */
export function checkLabel(label: string): string {
  const name = label.trim();
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what this refuses
  if (name !== "" && name.length <= MAX_LABEL_LENGTH && !/[\u0000-\u001f\u007f]/.test(name)) return name;
  throw new HoldfastError("usage", "invalid-label", `${JSON.stringify(label)} cannot be a label`, {
    hint: `A label is one line of at most ${MAX_LABEL_LENGTH} characters.`,
  });
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
}

function cut(task: string): string {
  return task.length <= MAX_TASK_LENGTH ? task : `${task.slice(0, MAX_TASK_LENGTH - 1).toWellFormed()}…`;
}
